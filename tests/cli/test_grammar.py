"""`fdc grammar` and `fdc diff OLD NEW` as a user meets them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.process import fdc

TOOLS = "set_plan,plan_step_complete,message_user,read_file,close_task,submit"
PLAN = "set_plan x\nplan_step_complete x\nrun_in_bash_session make tea\nclose_task\nsubmit\n"


def test_a_grammar_is_printed_and_says_what_it_leaves_out(workspace: Path) -> None:
    (workspace / "docs").mkdir(exist_ok=True)
    for number in range(2001):
        (workspace / "docs" / f"page{number:04}.md").write_text("page\n", "utf-8")
    done = fdc("grammar", "--tools", TOOLS, "--files", "docs/*.md", cwd=workspace)
    assert done.returncode == 0 and done.stdout.startswith("start: ")
    assert "2001 files match `docs/*.md`; the grammar has the first 2000" in done.stderr
    assert '"docs/page1999.md"' in done.stdout and '"docs/page2000.md"' not in done.stdout


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--fsm", "nope"), "the automaton `nope` cannot be used"),
        (("--tools", "nope"), "no catalogue declares the tool `nope`"),
        (("--tools", "submit"), "accepts no plan of 20 steps"),
        (("--most-steps", "0"), "--most-steps is 1 to 63"),
        (("--names-of", "nope"), "the plan `nope` does not exist"),
        (
            ("--names-of", "nope", "--fsm", "x"),
            "--names-of uses the automaton and tools of the plan",
        ),
        (("--names-of", "bad.plan"), "is not a plan that links without an error"),
    ],
)
def test_what_cannot_be_is_one_sentence(
    workspace: Path, options: tuple[str, ...], said: str
) -> None:
    (workspace / "bad.plan").write_bytes(b"\xff\x00 nothing\n")
    done = fdc("grammar", *options, cwd=workspace)
    assert (2, "") == (done.returncode, done.stdout)
    assert said in done.stderr and done.stderr.count("\n") == 1


def test_plans_are_compared_and_runs_still_are(workspace: Path) -> None:
    (workspace / "a.plan").write_text(PLAN, "utf-8")
    (workspace / "b.plan").write_text(PLAN.replace("make tea", "make <b>tea</b>"), "utf-8")
    (workspace / "last").write_text(PLAN, "utf-8")
    same = fdc("diff", "a.plan", "a.plan", "--exit-code", "--fail-on", "more-access", cwd=workspace)
    assert (0, "- a.plan\n+ a.plan\nthe same in meaning\n") == (same.returncode, same.stdout)
    assert fdc("diff", "a.plan", "b.plan", cwd=workspace).returncode == 0
    assert fdc("diff", "a.plan", "b.plan", "--exit-code", cwd=workspace).returncode == 1
    found = fdc(
        "diff", "a.plan", "b.plan", "--format", "json", "--fail-on", "more-access", cwd=workspace
    )
    assert found.returncode == 1 and json.loads(found.stdout)["failed"] == ["more-access"]
    page = fdc("diff", "a.plan", "b.plan", "--format", "html", cwd=workspace)
    assert "make &lt;b&gt;tea" in page.stdout and "<b>" not in page.stdout
    for arguments, said in (
        (("a.plan", "nope"), "`a.plan` is a file, but `nope` is not"),
        (("last", "a.plan"), "`last` is a file and also the beginning of a run's name"),
        (("x.plan", "y.plan"), "Could not find file `x.plan`"),
        (("x", "y", "--fail-on", "more-cost"), "need two plans"),
    ):
        done = fdc("diff", *arguments, cwd=workspace)
        assert done.returncode == 2 and said in done.stderr, done


def test_a_plan_that_does_not_hold_is_not_compared(workspace: Path) -> None:
    (workspace / "a.plan").write_text(PLAN, "utf-8")
    (workspace / "b.plan").write_text(PLAN.replace("close_task\n", ""), "utf-8")
    done = fdc("diff", "a.plan", "b.plan", "--fail-on", "weaker-gate", cwd=workspace)
    assert (1, "") == (done.returncode, done.stdout) and "FDC401" in done.stderr
