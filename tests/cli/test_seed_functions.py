"""What the seeds name: the public functions of the scripts in tooling/, and the steps that `fdc expand` lists."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.process import fdc
from tests.support.repository import ROOT

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


def test_the_scripts_have_the_functions_that_the_seeds_name(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
):
    """FDC-12, FDC-13, FDC-43, FDC-80: what acts is the command, in the workspace above the current folder."""
    monkeypatch.syspath_prepend(str(ROOT / "tooling"))
    monkeypatch.chdir(workspace)
    import fdc_cli
    import knowledge_compiler
    import plan_manager
    import protocol_updater

    (workspace / "a.plan").write_text(BEGIN + "create_file_with_block made.md\n    x\n" + END)
    found = fdc_cli.analyze_plan("a.plan", return_results=True)
    assert {"complexity_class": "P", "modality": "Construction (Read-Write)"} == found
    assert 0 == fdc_cli.validate_plan("a.plan") and 2 == fdc_cli.validate_plan("absent.plan")
    assert 0 == plan_manager.register_plan("own", "a.plan")
    assert "a.plan" == plan_manager.get_registry()["own"]
    assert 0 == plan_manager.deregister_plan("own") and "own" not in plan_manager.get_registry()
    assert None is protocol_updater.find_protocol_file("absent")
    lesson = {
        "insight": "Look first.",
        "action": {"type": "UPDATE_PROTOCOL", "command": "placeholder"},
    }
    made = knowledge_compiler.format_lesson_entry({"task_id": "t", "date": "2025-01-01"}, lesson)
    assert ("t", "Look first.", "pending") == (made["task_id"], made["insight"], made["status"])
