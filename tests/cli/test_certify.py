"""`fdc certify` as a user meets it, and what `fdc run` does with a program of which no certificate holds."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from fdc_toolchain.check import program_of
from fdc_toolchain.console.compiling import compile_or_refuse
from fdc_toolchain.exits import BUG, FINDINGS, Exit, Refused
from fdc_toolchain.runs.certified import certified
from fdc_toolchain.runs.create_run import begin

from tests.support.linting import lint
from tests.support.process import fdc

PLAN = "set_plan x\nplan_step_complete x\nmessage_user hello\nclose_task\nsubmit\n"


@pytest.fixture
def plan(workspace: Path) -> Path:
    (workspace / "a.plan").write_text(PLAN, "utf-8")
    return workspace


def test_a_certificate_is_written_and_holds_of_its_program_only(plan: Path) -> None:
    done = fdc("certify", "a.plan", "--output", "c.json", cwd=plan)
    assert (0, "a.plan: at most 5 steps, 1 deep\n", "") == (
        done.returncode,
        done.stdout,
        done.stderr,
    )
    done = fdc("certify", "--check", "a.plan", "c.json", cwd=plan)
    assert (0, "c.json: holds of a.plan: at most 5 steps, 1 deep\n") == (
        done.returncode,
        done.stdout,
    )
    printed = fdc("certify", "a.plan", cwd=plan)
    assert json.loads((plan / "c.json").read_text("utf-8")) == json.loads(printed.stdout)
    (plan / "a.plan").write_text(PLAN.replace("hello", "goodbye"), "utf-8")
    done = fdc("certify", "--check", "a.plan", "c.json", cwd=plan)
    assert (1, "") == (done.returncode, done.stdout)
    assert "c.json: does not hold: it is for the program " in done.stderr


def test_the_steps_of_runs_within_a_step_are_not_counted(workspace: Path) -> None:
    (workspace / "inner.txt").write_text("set_plan x\n")
    (workspace / "a.plan").write_text(
        "set_plan x\nplan_step_complete x\ntext <- read_file inner.txt\nrun_plan {text}\nclose_task\nsubmit\n"
    )
    done = fdc("certify", "a.plan", "--output", "a.json", cwd=workspace)
    assert (
        done.stdout == "a.plan: at most 6 steps besides those of the runs of `run_plan`, 1 deep\n"
    )


def test_what_does_not_hold_is_said_with_its_place(plan: Path) -> None:
    fdc("certify", "a.plan", "-o", "c.json", cwd=plan)
    certificate = json.loads((plan / "c.json").read_text("utf-8"))
    certificate["control"]["automata"]["fdc:tooling/fdc_fsm.json"]["a.plan"]["bodies"][""]["IDLE"][
        "ends"
    ] = ["IDLE"]
    (plan / "c.json").write_text(json.dumps(certificate), "utf-8")
    done = fdc("certify", "--check", "a.plan", "c.json", cwd=plan)
    said = "part `control`: plan `a.plan`: a run may end where `fdc:tooling/fdc_fsm.json` does not accept"
    assert (1, f"c.json: does not hold: {said}\n") == (done.returncode, done.stderr)
    for text in ("", "[]", "[" * 100_000, "\udcff"):
        (plan / "c.json").write_bytes(text.encode("utf-8", "surrogateescape"))
        done = fdc("certify", "--check", "a.plan", "c.json", cwd=plan)
        assert (1, "c.json: does not hold: it is not a JSON object\n") == (
            done.returncode,
            done.stderr,
        )


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("nothing.plan",), 2, "the plan `nothing.plan` is neither a file"),
        (("a.plan", "c.json"), 2, "FILE needs `--check`"),
        (("--check", "a.plan"), 2, "`--check` takes PLAN and FILE"),
        (("--check", "a.plan", "c.json", "-o", "d.json"), 2, "exclude each other"),
        (("--check", "a.plan", "nothing.json"), 2, "Could not find file `nothing.json`"),
        (("--check", "a.plan", "knowledge_core"), 3, "not a regular file"),
        (("a.plan", "-o", "no/where/c.json"), 3, "No such file or directory"),
        (("wrong.plan", "-o", "c.json"), 1, "FDC301"),
    ],
)
def test_every_exit_code_has_its_reason(
    plan: Path, arguments: tuple[str, ...], code: int, said: str
) -> None:
    (plan / "wrong.plan").write_text(PLAN.replace("message_user", "mesage_user"), "utf-8")
    done = fdc("certify", *arguments, cwd=plan)
    assert code == done.returncode, done.stderr
    assert said in done.stderr
    assert not (plan / "c.json").exists()


def test_nothing_begins_of_which_no_certificate_holds(workspace: Path) -> None:
    """Lint and the checker disagree: a bug of fdc, said before anything is on record."""
    checked = lint({"a.plan": "read_file x.md\n", "any.json": '{"states": ["S"], "alphabet": ["read_op"], "transitions": '
                    '{"S": {"read_op": "S"}}, "start_state": "S", "accept_states": ["S"]}'}, there=("x.md",))  # fmt: skip
    program = program_of(checked)
    program["automata"]["any.json"]["accept"] = []
    with pytest.raises(
        Exit,
        match=r"does not accept; the run was not started\. This is a bug of fdc, please report it",
    ) as stop:
        begin(str(workspace), program, "a.plan", {}, {})
    assert (BUG, False) == (stop.value.code, (workspace / ".fdc").exists())


def test_nothing_begins_whose_part_data_does_not_hold(workspace: Path) -> None:
    """A program in which text from outside chooses a path; lint would have refused its plan."""
    program = program_of(
        lint({"a.plan": "name <- read_file x.md\nread_file {name}\n"}, there=("x.md",), whole=True)
    )
    program["tools"]["read_file"]["trust"] = "untrusted"
    said = r"part `data`: plan `a\.plan`, line 2: text from outside may choose a path; the run was not started"
    with pytest.raises(Exit, match=said) as stop:
        begin(str(workspace), program, "a.plan", {}, {})
    assert (BUG, False) == (stop.value.code, (workspace / ".fdc").exists())


def test_a_certificate_without_the_part_data_does_not_hold(plan: Path) -> None:
    """Those of an older fdc are the part `control` alone."""
    fdc("certify", "a.plan", "-o", "c.json", cwd=plan)
    certificate = json.loads((plan / "c.json").read_text("utf-8"))
    for older, said in (
        (certificate["control"], "not of the form 3"),
        ({**certificate, "data": None}, "part `data`: "),
    ):
        (plan / "c.json").write_text(json.dumps(older), "utf-8")
        done = fdc("certify", "--check", "a.plan", "c.json", cwd=plan)
        assert (1, "") == (done.returncode, done.stdout)
        assert said in done.stderr


def test_nothing_begins_of_a_plan_whose_files_are_not_as_it_needs_them(plan: Path) -> None:
    """The facts are those of the workspace when the run begins, whatever lint saw."""
    (plan / "x.md").write_text("tea", "utf-8")
    (plan / "a.plan").write_text(PLAN.replace("message_user hello", "read_file x.md"), "utf-8")
    program = compile_or_refuse("a.plan", str(plan))
    assert program is not None
    (plan / "x.md").unlink()
    with pytest.raises(
        Refused, match=r"`x\.md` changed while it was being checked; run the command again"
    ) as stop:
        begin(str(plan), program, "a.plan", {}, {})
    assert (FINDINGS, False) == (stop.value.code, (plan / ".fdc").exists())


def test_a_fact_that_is_no_longer_so_is_said(plan: Path) -> None:
    (plan / "x.md").write_text("tea", "utf-8")
    (plan / "a.plan").write_text(PLAN.replace("message_user hello", "read_file x.md"), "utf-8")
    fdc("certify", "a.plan", "-o", "c.json", cwd=plan)
    certificate = json.loads((plan / "c.json").read_text("utf-8"))
    assert {"x.md": "file"} == certificate["files"]["facts"]
    (plan / "c.json").write_text(
        json.dumps(certificate).replace('"x.md": "file"', '"x.md": "other"'), "utf-8"
    )
    done = fdc("certify", "--check", "a.plan", "c.json", cwd=plan)
    assert 1 == done.returncode and "part `files`" in done.stderr


@pytest.mark.parametrize("change", ["gone", "folder", "plan"])
def test_a_file_that_changes_between_proof_and_certificate_is_named(
    workspace: Path, change: str
) -> None:
    (workspace / "docs").mkdir()
    (workspace / "docs/a.md").write_text("a\n", "utf-8")
    (workspace / "a.plan").write_text(
        PLAN.replace("message_user hello", "read_file docs/a.md"), "utf-8"
    )
    program = compile_or_refuse("a.plan", str(workspace))
    assert program is not None
    (workspace / "docs/a.md").unlink()
    if change == "folder":
        (workspace / "docs/a.md").mkdir()
    if change == "plan":
        (workspace / "a.plan").write_text(PLAN, "utf-8")
    with pytest.raises(Refused) as refused:
        certified(program, "a.plan", str(workspace))
    file = "`a.plan`, or a plan that it calls," if change == "plan" else "`docs/a.md`"
    assert f"{file} changed while it was being checked; run the command again" == str(refused.value)
