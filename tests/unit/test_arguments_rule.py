"""Arguments with which a step certainly fails, budgets that are missing, rows that are wrong (A8, A11, A27)."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from fdc_toolchain.check import check_paths

from tests.support.linting import ANY, findings, lint, places

HEAD = "use fsm any.json\n"


def found(text: str, *codes: str, **more: str) -> list[tuple[int, str]]:
    checked = lint({"a.plan": HEAD + text, **more}, "a.plan")
    return [(item.span.line, item.code) for item in findings(checked, *codes)]


def block(search: str, new: str = "new") -> str:
    return f"    <<<<<<< SEARCH\n    {search}\n    =======\n    {new}\n    >>>>>>> REPLACE\n"


# ---- patterns and diffs --------------------------------------------------------------------------


WRONG = ("[", "a(", "*")


@pytest.mark.parametrize("pattern", [*WRONG, "[a-z]+", "{{x", "{run}["])
def test_a_pattern_that_is_none_is_refused(pattern: str) -> None:
    assert ([(2, "FDC484")] if pattern in WRONG else []) == found(
        f'grep "{pattern}" docs\n', "FDC484"
    )
    code = "FDC481" if "{run}" in pattern else "FDC484"  # either way it is text, and no object
    assert [(2, code)] == found(f'run_plan "set_plan x" inputs="{pattern}"\n', code)


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("inner.plan", True), ("hello_wrold", True), ('"read_file a\\nelse"', True), ('""', True), ("submit", False),
        ("{run}/a.plan", False), ('"param who\\nif who\\n  message_user {{who}}"', False),
        ('"use pack look\\nlook.turn x"', False),
    ],
)  # fmt: skip
def test_a_path_where_the_text_of_a_plan_is_taken_is_refused(text: str, wrong: bool) -> None:
    assert ([(2, "FDC484")] if wrong else []) == found(f"run_plan {text}\n", "FDC484")
    assert not found(f"_x <- approve_plan {text}\n", "FDC484")  # a person is shown any text


EDIT = "replace_with_git_merge_diff p.md\n"


@pytest.mark.parametrize(
    ("before", "search", "wrong"),
    [
        ("", "old", False), ("", "gone", True), ("read_file p.md\nmessage_user x\n", "gone", True),
        ("overwrite_file_with_block p.md\n    gone\n", "gone", False),
        ("overwrite_file_with_block ./p.md\n    gone\n", "gone", False),
        ("overwrite_file_with_block q.md\n    gone\n", "gone", True), ("run_in_bash_session make\n", "gone", False),
        ("call_plan s.plan\n", "gone", False), ("overwrite_file_with_block {run}/p\n    x\n", "gone", False),
        ("", "{run}", False), ("", "twice", True),
    ],
)  # fmt: skip
def test_a_diff_is_refused_where_it_cannot_fit_the_file_as_it_is(
    before: str, search: str, wrong: bool
) -> None:
    more = {"p.md": "old\ntwice\ntwice\n", "s.plan": "overwrite_file_with_block p.md\n    gone\n"}
    assert wrong == bool(found(before + EDIT + block(search), "FDC484", **more))


def test_after_a_diff_that_does_not_fit_nothing_is_known_of_its_file() -> None:
    """The run has ended there: of two that do not fit, the first is told."""
    assert [(3, "FDC484")] == found((EDIT + block("gone")) * 2, "FDC484", **{"p.md": "old\n"})


def test_in_a_loop_the_first_round_decides_and_in_a_fork_any_branch_may_be_ahead() -> None:
    more = {"p.md": "old\n"}
    text = f"{EDIT}{block('gone')}overwrite_file_with_block p.md\n    gone\n"
    inside = "".join(f"  {line}\n" for line in text.splitlines())
    assert found("for_each_file *.md\n" + inside, "FDC484", **more)
    assert not found("l <- list_files\nfork x in {l} max 3\n" + inside, "FDC484", **more)


def test_a_malformed_diff_is_refused_whatever_the_file_holds() -> None:
    assert [(3, "FDC484")] == found(EDIT + "    <<<<<<< SEARCH\n    a\n", "FDC484")


def test_the_verdict_about_a_diff_is_not_kept_when_the_file_changes(workspace: Path) -> None:
    from tests.support.process import fdc

    (workspace / "any.json").write_text(json.dumps({
        "states": ["S"], "start_state": "S", "accept_states": ["S"], "alphabet": ["write_op", "read_op"],
        "transitions": {"S": {"write_op": "S", "read_op": "S"}}}))  # fmt: skip
    (workspace / "a.plan").write_text(HEAD + EDIT + block("gone") + "read_file p.md\n")
    for text, code in (("old\n", 1), ("gone\n", 0), ("old\n", 1)):
        (workspace / "p.md").write_text(text)
        assert code == fdc("lint", "a.plan", cwd=workspace).returncode


# ---- commands ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("run_in_bash_session python3 no.py\n", True), ("run_in_bash_session ./no.sh a b\n", True),
        ("run_in_bash_session sh no.sh && ls\n", True), ("run_in_bash_session A=1 bash no.sh\n", True),
        ("run_in_bash_session python3 yes.py\n", False), ("run_in_bash_session python3 no.py || true\n", False),
        ("run_in_bash_session python3 no.py | cat\n", False), ("run_in_bash_session python3 no.py; true\n", False),
        ("run_in_bash_session cd x && python3 no.py\n", False), ("run_in_bash_session python3 -m no\n", False),
        ("run_in_bash_session python3 /no.py\n", False), ("run_in_bash_session python3 $X\n", False),
        ("run_in_bash_session python3 ../no.py\n", False), ("run_in_bash_session if true; then python3 no.py; fi\n", False),
        ("w <- run_in_bash_session python3 no.py\nmessage_user {w}\n", False),
        ("run_in_bash_session make\nrun_in_bash_session python3 no.py\n", False),
        ("overwrite_file_with_block no.py\n    x\nrun_in_bash_session python3 no.py\n", False),
        ("message_user x\nrun_in_bash_session python3 no.py\n", True),
    ],
)  # fmt: skip
def test_a_script_that_is_certainly_missing_is_refused(text: str, wrong: bool) -> None:
    assert wrong == bool(found(text, "FDC485", **{"yes.py": ""}))


def test_a_program_that_this_machine_lacks_is_an_assumption(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    (tmp_path / "knowledge_core").mkdir()
    plan = tmp_path / "a.plan"
    head = "# FSM: tooling/fdc_fsm.json\nset_plan x\nplan_step_complete y\n"
    plan.write_text(head + "run_in_bash_session A=1 gizmo --x && echo ok\nclose_task\n")

    def names() -> list[str]:
        assumptions = check_paths([str(plan)], str(tmp_path)).assumptions
        return [item.message.split("`")[1] for item in assumptions if item.code == "FDC707"]

    assert ["gizmo"] == names()
    (tmp_path / "bin" / "gizmo").write_text("#!/bin/sh\n")
    os.chmod(tmp_path / "bin" / "gizmo", 0o755)
    assert [] == names()


# ---- budgets -------------------------------------------------------------------------------------

LONG = "iterate max 999999999999999\n  list_files\n"


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        (LONG, True), ("budget steps 100\n" + LONG, False), ("budget seconds 100\n" + LONG, False),
        ("budget tokens 5\n" + LONG, True),
        ("iterate max 1000000\n  list_files\n", False), ("iterate max 1001\n  message_user x\n", True),
        ("iterate max 1000\n  message_user x\n", False),
        ("iterate max 5 until true\n  iterate max 900\n    message_user x\n", False),
        ("iterate max 5\n  iterate max 900\n    message_user x\n", True), ("iterate max 40\n  call_plan s.plan\n", True),
        ("iterate max 20\n  call_plan s.plan\n", False), ("for_each_file *.md\n  message_user x\n", False),
    ],
)  # fmt: skip
def test_a_plan_that_may_do_very_much_needs_a_budget(text: str, wrong: bool) -> None:
    """A11."""
    sub = "iterate max 30\n  message_user x\n"
    assert wrong == bool(found(text, "FDC422", **{"s.plan": sub}))


# ---- catalogues ----------------------------------------------------------------------------------

ROW = {
    "summary": "x", "action": "read_op", "effect": "read", "trust": "workspace",
    "parameters": [{"name": "page", "kind": "word"}],
}  # fmt: skip


def test_a_wrong_row_costs_that_row_only() -> None:
    """A27: one wrong row dropped the whole catalogue."""
    tools = {"good": ROW, "bad": {**ROW, "effect": "always"}, "odd": {**ROW, "result": "list[txt]"}}
    rows = {"format": 1, "name": "own", "tools": tools, "predicates": {"is_good": {"summary": "x"}}}
    plan = "a <- good x\nb <- bad {a} y=3\n  block {a}\nc <- odd {b.x}\n"
    plan += "if is_good(c, 3)\n  good {c}\nfor i in {b.rows} max 3\n  read_file {i}\ngod x\n"
    checked = lint({"fdc_tools.json": json.dumps(rows), "a.plan": HEAD + plan})
    wrong = [item.message for item in findings(checked, "FDC308")]
    assert ["`bad`" in wrong[0] or "tools.bad" in wrong[0], 3] == [True, len(wrong)], wrong
    assert [("a.plan", 10, "FDC301")] == [
        place for place in places(checked) if place[0] == "a.plan"
    ]
    # No assumption rests on the wrong rows' types; that `{i}` is a file of the workspace is assumed of any value.
    assert [(9, "FDC703")] == [(item.span.line, item.code) for item in checked.assumptions]


@pytest.mark.parametrize(
    ("text", "hides"),
    [
        ("w <- list_files\niterate max 3\n  message_user {w}\n  w <- list_files\n", False),
        ("w <- list_files\nfor_each_file *.md\n  if len(w) > 3\n    submit\n  w <- grep x {file1}\nmessage_user {w}\n", False),
        ("w <- list_files\niterate max 3\n  w <- list_files\n  message_user {w}\n", True),
        ("w <- list_files\nfork x in {w} max 3\n  message_user {w} {x}\n  w <- list_files\n", True),
        ("w <- list_files\nmessage_user {w}\nw <- list_files\nmessage_user {w}\n", True),
        ("w <- list_files\niterate max 3\n  message_user {w}\n  w <- list_files\n  w <- list_files\n", True),
    ],
)  # fmt: skip
def test_a_name_that_a_loop_hands_on_hides_nothing(text: str, hides: bool) -> None:
    """A27: a name bound before a loop, read in it and bound again."""
    assert hides == bool(found(text, "FDC314"))


def indented(text: str) -> str:
    return "".join(f"  {line}\n" for line in text.splitlines())


def assumed(text: str, **more: str) -> list[int]:
    checked = lint({"a.plan": HEAD + text, "p.md": "old\ntwice\ntwice\n", **more}, "a.plan")
    assert not findings(checked, "FDC484")
    return [item.span.line for item in checked.assumptions if item.code == "FDC713"]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (EDIT + block("old"), []),
        (EDIT + block("old", "mid") + EDIT + block("mid"), []),  # what the first leaves is known
        ("overwrite_file_with_block p.md\n    old\n" + EDIT + block("old"), [5]),
        ("run_in_bash_session make\n" + EDIT + block("old"), [4]),
        ("r <- read_file p.md\nreplace_with_git_merge_diff {r}.md\n" + block("old"), [4]),
        ("if true\n  overwrite_file_with_block q.md\n    x\n" + EDIT + block("old"), []),
        ('r <- read_file p.md\nif "x" in r\n  overwrite_file_with_block p.md\n    x\n' + EDIT + block("old"), [7]),
        ("iterate max 2\n" + indented(EDIT + block("old")), [4]),
        ("call_plan s.plan\n" + EDIT + block("old"), [4]),
        ("call_plan t.plan\ncall_plan t.plan\n", [3]),  # the second call meets what the first left
        ('fork x in ["a", "b"] max 2 keep failures\n' + indented(EDIT + block("old")), []),
    ],
)  # fmt: skip
def test_a_diff_of_a_file_that_nobody_knows_is_an_assumption(text: str, lines: list[int]) -> None:
    more = {"s.plan": "overwrite_file_with_block p.md\n    gone\n", "t.plan": EDIT + block("old")}
    assert lines == assumed(text, **more)


def test_a_run_whose_diff_does_not_fit_names_the_assumption(workspace: Path) -> None:
    from tests.support.process import fdc

    (workspace / "any.json").write_text(ANY)
    (workspace / "p.md").write_text("old\n")
    before = HEAD + "overwrite_file_with_block p.md\n    new\n"
    (workspace / "a.plan").write_text(before + EDIT + block("old") + "read_file p.md\n")
    assert 0 == fdc("lint", "a.plan", cwd=workspace).returncode
    done = fdc("run", "a.plan", cwd=workspace)
    assert 1 == done.returncode
    assert (
        "an assumption of the proof was false: the SEARCH lines of this step are in `p.md` exactly once"
        in done.stdout
    )


@pytest.mark.parametrize(("most", "wrong"), [("max 1", True), ("max 2", False), ("max 3", False)])
def test_a_script_that_another_branch_makes_is_no_error(most: str, wrong: bool) -> None:
    text = f"l <- list_files\nfork n in {{l}} {most}\n  run_in_bash_session python3 s.py\n"
    text += "  overwrite_file_with_block s.py\n    pass\n"
    assert bool(found(text, "FDC485")) == wrong
