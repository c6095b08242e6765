"""`fdc expand`: the steps of a plan, with those that it reaches (FDC-36)."""

from __future__ import annotations

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
