"""`fdc validate`: which steps are reached, and with `--evidence` what they rest on (FDC-67)."""

from __future__ import annotations

from pathlib import Path

from tests.support.process import fdc

PLAN = """# FSM: tooling/fdc_fsm.json
set_plan x
plan_step_complete y
# evidence: notes.md:2
# evidence: https://example.com/page
overwrite_file_with_block a.md
    words
read_file notes.md
# evidence: notes.md:9
# evidence: gone/away.md
run_in_bash_session true
close_task
submit
"""


def test_steps_without_evidence_are_listed_and_false_citations_refused(workspace: Path) -> None:
    (workspace / "notes.md").write_text("one\ntwo\n")
    (workspace / "p.plan").write_text(PLAN)
    done = fdc("validate", "p.plan", "--evidence", cwd=workspace)
    assert (1, "") == (done.returncode, done.stderr)
    assert [
        "Line 8: NO EVIDENCE. Action 'read_file' cites nothing",
        "Line 11: WRONG EVIDENCE. `notes.md:9`: the file has 2 lines",
        "Line 11: WRONG EVIDENCE. `gone/away.md`: the file does not exist",
        "Evidence: 2 steps have citations, 1 steps that can have one do not.",
    ] == [line for line in done.stdout.splitlines() if "vidence" in line or "EVIDENCE" in line]
    (workspace / "p.plan").write_text(
        PLAN.replace("notes.md:9", "notes.md:1").replace("# evidence: gone/away.md\n", "")
    )
    done = fdc("validate", "p.plan", "--evidence", cwd=workspace)
    assert 0 == done.returncode and "NO EVIDENCE" in done.stdout
    assert "EVIDENCE" not in fdc("validate", "p.plan", cwd=workspace).stdout


def test_what_follows_a_refused_step_is_not_reached(workspace: Path) -> None:
    (workspace / "called.plan").write_text("read_file notes.md\n")
    text = "# FSM: tooling/fdc_fsm.json\nset_plan x\nread_file notes.md\nset_plan y\ncall_plan called.plan\nsubmit\n"
    (workspace / "p.plan").write_text(text)
    lines = fdc("validate", "p.plan", cwd=workspace).stdout.splitlines()
    assert [
        "Line 3: REFUSED. Action 'read_file' (read_op) in PLANNING",
        "Line 4: NOT REACHED. Action 'set_plan'",
        "Line 5: call of 'called.plan' is not reached",
        "Line 6: NOT REACHED. Action 'submit'",
    ] == lines[2:6]
