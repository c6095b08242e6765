"""`fdc expand`: the steps of a plan, with those that it reaches (FDC-36)."""

from __future__ import annotations

import json
from pathlib import Path

from tests.support.process import fdc

BEGIN = "set_plan x\nplan_step_complete y\n"
END = "close_task\nsubmit\n"


def test_fdc_36_expand_lists_the_steps(workspace: Path) -> None:
    """A finite list: what a call reaches stands below it, a loop with its bound."""
    (workspace / "b.plan").write_text("read_file b.plan\n")
    body = "call_plan b.plan\nfor_each_file *.plan\n  read_file {file1}\n"
    (workspace / "a.plan").write_text(BEGIN + body + END)
    done = fdc("expand", "a.plan", cwd=workspace)
    assert 0 == done.returncode, done.stdout + done.stderr
    assert [
        "set_plan x", "plan_step_complete y", "call b.plan", "  read_file b.plan", "for each file of *.plan (2 now)",
        "  read_file {file1}", "close_task", "submit",
    ] == done.stdout.splitlines()  # fmt: skip


def test_a_plan_has_one_name_for_expand_certify_and_run(workspace: Path) -> None:
    """`expand` did not find a registered plan, which `certify` and `run` take; its digest is that of the certificate."""
    made = json.loads(fdc("certify", "deep-research", cwd=workspace).stdout)
    done = fdc("expand", "deep-research", "--digest", cwd=workspace)
    assert (0, f"{made['program']}\n") == (done.returncode, done.stdout), done.stderr
    gone = fdc("expand", "gone", cwd=workspace)
    assert 2 == gone.returncode and "neither a file nor a registered name" in gone.stderr
