"""CSDC models A and B: which definitions a plan may make, over the whole tape (FDC-93b to FDC-93d, T-08)."""

from __future__ import annotations

from pathlib import Path

import pytest
from fdc_toolchain.cli.linting.csdc_findings import findings
from fdc_toolchain.cli.plan.csdc import main, validate_plan_for_model
from fdc_toolchain.linking.project.settings import Settings
from fdc_toolchain.rules.csdc import check

from tests.support.linting import lint

NAMES = "define_set_of_names S"
DIAGONAL = "define_diagonalization_function d"
CYCLE = "set_plan x\nplan_step_complete\n{}\nclose_task\nsubmit\n"


def wrong(
    model: str, text: str, complexity: str | None = None, **more: str
) -> list[tuple[str, int, str]]:
    files = {"a.plan": text, **{name.replace("_", "."): body for name, body in more.items()}}
    checked = lint(
        files, "a.plan", settings=Settings(fsm=f"tooling/csdc_{model.lower()}_fsm.json"), whole=True
    )
    return [
        (item.span.path, item.span.line, item.code) for item in findings(checked, model, complexity)
    ]


@pytest.mark.parametrize(
    ("model", "allowed", "refused"), [("A", NAMES, DIAGONAL), ("B", DIAGONAL, NAMES)]
)
def test_each_model_permits_one_definition_and_forbids_the_other(
    model: str, allowed: str, refused: str
):
    """FDC-93b."""
    assert [] == wrong(model, CYCLE.format(allowed))
    assert [("a.plan", 3, "FDC431")] == wrong(model, CYCLE.format(refused))
    assert [] == wrong(model, CYCLE.format("read_file a"))


@pytest.mark.parametrize("model", ["A", "B"])
def test_both_definitions_in_one_plan_are_refused_in_either_model(model: str):
    found = wrong(model, CYCLE.format(f"{NAMES}\n{DIAGONAL}"))
    assert [("a.plan", 3, "FDC431"), ("a.plan", 4, "FDC431")] == sorted(found)


def test_the_whole_tape_is_looked_at_loops_branches_and_sub_plans():
    """FDC-93d."""
    for text in (
        "for_each_file *\n  {}\n", "iterate max 2\n  {}\n", "fork x in {{y}} max 2\n  {}\n",
        "if true\n  set_plan\nelse\n  {}\n", "for_each_file *\n  if true\n    {}\n",
    ):  # fmt: skip
        assert [("a.plan", text.format("@").split("@")[0].count("\n") + 1, "FDC431")] == wrong(
            "A", text.format(DIAGONAL)
        )
    inner = {"b_plan": "call_plan c.plan\n", "c_plan": f"for_each_file *\n  {DIAGONAL}\n"}
    assert [("c.plan", 2, "FDC431")] == wrong("A", "call_plan b.plan\n", **inner)
    assert len(wrong("B", f"{NAMES}\ncall_plan b.plan\n", **inner)) == 2, (
        "one above, one below: both in one tape"
    )


def test_what_counts_is_the_tool_and_not_the_text():
    """FDC-93d, T-08."""
    assert [] == wrong("A", f"message_user {DIAGONAL}\n")
    assert [] == wrong("A", f"create_file_with_block a.md\n  {DIAGONAL}\n")
    assert [] == wrong("A", f"run_in_bash_session echo {DIAGONAL}\n")
    assert [("a.plan", 1, "FDC431")] == wrong("A", "define_diagonalization_function foo\n")
    assert [("a.plan", 1, "FDC431")] == wrong("A", "r <- define_diagonalization_function foo\n")


def test_two_plans_that_only_stand_beside_each_other_are_two_tapes():
    """Linted together, each is judged by what it reaches itself."""
    checked = lint({"a.plan": f"{NAMES}\n", "b.plan": f"{DIAGONAL}\n"})
    found = [(item.span.path, item.message) for item in check(checked.context.order, "A")]
    assert found == [("b.plan", "CSDC model A forbids `define_diagonalization_function`")]


def test_a_class_that_is_not_the_stated_one_is_a_finding():
    """FDC-93c."""
    nested = "for_each_file *\n  for_each_file *\n    read_file {file2}\n"
    assert [] == wrong("A", CYCLE.format(NAMES), "P")
    assert [("a.plan", 1, "FDC432")] == wrong("A", CYCLE.format(NAMES), "EXP")
    assert [("a.plan", 1, "FDC432")] == wrong("A", nested, "P")
    assert [] == wrong("A", nested, "EXP")
    through = wrong(
        "A", "for_each_file *\n  call_plan b.plan\n", "P", b_plan="for_each_file *\n  set_plan\n"
    )
    assert [("a.plan", 1, "FDC432")] == through


def test_the_function_of_the_seeds(workspace: Path):
    """FDC-93b: automaton first, then the model; an unknown model is an answer, not an exception."""
    assert (True, "") == validate_plan_for_model(CYCLE.format(NAMES), "A")
    verdict, why = validate_plan_for_model(CYCLE.format(NAMES), "B")
    assert not verdict
    assert "define_set_of_names" in why
    verdict, why = validate_plan_for_model(f"{NAMES}\n", "A")
    assert not verdict
    assert "line 1" in why
    assert (False, "Unknown model 'X'.") == validate_plan_for_model(CYCLE.format(NAMES), "X")
    assert not validate_plan_for_model("", "A")[0]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [(["--model", "A"], 0), (["--model", "B"], 1), (["--model", "A", "--complexity", "P"], 0),
     (["--model", "A", "--complexity", "EXP"], 1), (["--model", "C"], 2), ([], 2)],
)  # fmt: skip
def test_the_command_of_the_seeds_and_its_exit_codes(
    workspace: Path, arguments: list[str], code: int, capfd
):
    """FDC-93c."""
    (workspace / "a.plan").write_text(CYCLE.format(NAMES))
    assert main(["a.plan", *arguments]) == code
    if code == 1:
        assert "FDC43" in capfd.readouterr().out
