"""What a terminal is told, and in which order, where several findings or both streams are involved."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

from tests.support.process import clean_environment, fdc
from tests.support.repository import ROOT

FDC = [sys.executable, str(ROOT / "tooling" / "fdc_cli.py")]


def test_a_run_that_shows_several_findings_is_printed_once(workspace: Path) -> None:
    rule = {
        "protocol_id": "p", "description": "P.", "associated_tools": [],
        "rules": [{
            "rule_id": "look", "description": "Look first.", "enforcement": "fdc lint",
            "check": {"template": "precedence", "a": "read_file", "b": "submit_op"},
        }],
    }  # fmt: skip
    (workspace / "protocols").mkdir()
    (workspace / "protocols" / "p.protocol.json").write_text(json.dumps(rule), "utf-8")
    (workspace / "a.plan").write_text("set_plan x\nplan_step_complete y\nsubmit\n", "utf-8")
    out = fdc("lint", "a.plan", cwd=workspace).stdout
    assert ["FDC401", "FDC461"] == re.findall(r"error\[(FDC\d+)\]", out)
    assert 1 == out.count("trace: the shortest run that shows it")
    assert "trace: the run of FDC401 above" in out


def test_a_missing_end_is_one_finding_and_not_two(workspace: Path) -> None:
    """The automaton's finding and the one of the unclosed end, of one place and one run, are one mistake."""
    for lines, codes in (
        ("submit\n", ["FDC401"]),
        ("list_files .\n", ["FDC402"]),
        ("close_task\nlist_files .\nsubmit\n", ["FDC401", "FDC403"]),
    ):
        (workspace / "a.plan").write_text(f"set_plan x\nplan_step_complete y\n{lines}", "utf-8")
        for _ in range(2):  # cold, and from the cache
            done = fdc("lint", "a.plan", cwd=workspace)
            assert codes == re.findall(r"error\[(FDC\d+)\]", done.stdout), done.stdout
            assert 1 == done.returncode


def test_both_streams_in_one_pipe_keep_the_order_of_a_terminal(workspace: Path) -> None:
    """C9: what is said on stderr comes where it was said, not before all of stdout."""
    (workspace / "a.plan").write_text("set_plan x\nraed_file y\n", "utf-8")
    (workspace / "notes.md").write_text("x", "utf-8")
    fdc("lint", "--write-baseline", cwd=workspace)
    orders = {
        ("lint", "a.plan", "notes.md"): ("was not checked", "error[FDC301]"),
        ("lint", "--baseline", "fdc-baseline.json"): ("no new findings", "known finding"),
        ("analyze", "a.plan"): ("Worst case, steps", "these figures may be too low"),
    }
    for words, (first, then) in orders.items():
        done = subprocess.run(
            [*FDC, *words], cwd=workspace, env=clean_environment(), text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        assert 0 <= done.stdout.find(first) < done.stdout.find(then), (words, done.stdout)
