"""What a terminal is told, and in which order, where several findings or both streams are involved."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from tests.support.process import clean_environment, fdc
from tests.support.repository import ROOT

FDC = [sys.executable, str(ROOT / "tooling" / "fdc_cli.py")]


def test_a_run_that_shows_several_findings_is_printed_once(workspace: Path) -> None:
    (workspace / "a.plan").write_text("set_plan x\nplan_step_complete y\nsubmit\n", "utf-8")
    out = fdc("lint", "a.plan", cwd=workspace).stdout
    assert ["FDC401", "FDC403"] == re.findall(r"error\[(FDC\d+)\]", out)
    assert 1 == out.count("trace: the shortest run that shows it")
    assert "trace: the run of FDC401 above" in out


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


def test_a_stdin_without_an_end_is_refused_in_one_sentence(workspace: Path) -> None:
    """`yes x | fdc lint -` read until the memory was full, and called it a bug of fdc."""
    for words in (["lint", "-"], ["lint", "--fix", "-"], ["fmt", "-"], ["migrate", "-"]):
        with subprocess.Popen(["yes", "x"], stdout=subprocess.PIPE) as endless:
            done = subprocess.run(
                ["bash", "-c", 'ulimit -v 2000000; exec "$@"', "-", *FDC, *words],
                cwd=workspace, env=clean_environment(), text=True, stdin=endless.stdout, capture_output=True,
            )  # fmt: skip
            endless.kill()
        assert done.stderr == "fdc: stdin has more than 33554432 bytes\n", words
        assert (done.returncode, done.stdout) == (3, ""), words
