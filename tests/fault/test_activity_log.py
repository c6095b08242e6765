"""The activity log when the world breaks: many writers, kills, torn lines, a disk that is full."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import uuid
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from fdc_toolchain import durable
from fdc_toolchain.tasks import activity_log
from fdc_toolchain.tasks.activity import LOG, Entry, History, ValidationError, entry

from tests.support.background import PATIENCE
from tests.support.repository import ROOT

NOW = datetime(2026, 2, 3, tzinfo=UTC)

WRITER = """
import os, signal, sys
sys.path.insert(0, {tooling!r})
from datetime import UTC, datetime
from fdc_toolchain.tasks import activity_log
from fdc_toolchain.tasks.activity import entry
def made(number):
    return entry("INFO", {{"text": "x" * 5000}}, task_id=f"{{sys.argv[1]}}-{{number}}", phase=3, session_id="s",
                 log_id="00000000-0000-4000-8000-000000000000", now=datetime(2026, 2, 3, tzinfo=UTC))
"""


def made(task_id: str = "t", **details: Any) -> Entry:
    return entry(
        "INFO", details, task_id=task_id, phase=3, session_id="s", log_id=str(uuid.uuid4()), now=NOW
    )


def writer(program: str, name: str) -> subprocess.Popen[str]:
    argv = [sys.executable, "-c", WRITER.format(tooling=str(ROOT / "tooling")) + program, name]
    return subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def lines(root: Path) -> list[bytes]:
    return (root / LOG).read_bytes().split(b"\n")


@pytest.mark.slow
def test_many_writers_lose_nothing_and_mix_nothing(tmp_path: Path) -> None:
    """FDC-108: 6 processes with 20 entries each, one object a line."""
    program = f"for n in range(20): activity_log.append({str(tmp_path)!r}, made(n))\n"
    children = [writer(program, f"w{number}") for number in range(6)]
    assert [("", "")] * 6 == [child.communicate(timeout=PATIENCE) for child in children]
    *whole, end = lines(tmp_path)
    assert b"" == end
    assert {f"w{w}-{n}" for w in range(6) for n in range(20)} == {
        json.loads(raw)["task"]["id"] for raw in whole
    }
    assert 120 == len(whole)


@pytest.mark.parametrize("end", [b"", b"\n", b"\r\n"], ids=["none", "LF", "CRLF"])
def test_an_entry_never_joins_the_line_before_it(tmp_path: Path, end: bytes) -> None:
    """FDC-108: whatever the file ended with."""
    (tmp_path / "logs").mkdir()
    (tmp_path / LOG).write_bytes(b'{"torn": tr' + end)
    activity_log.append(str(tmp_path), made("a"), made("b"))
    history = activity_log.history(str(tmp_path))
    assert ((1,), ["a", "b"]) == (history.damaged, [item["task"]["id"] for item in history.entries])
    assert (tmp_path / LOG).read_bytes().startswith(b'{"torn": tr')


def test_a_writer_killed_in_the_middle_of_a_line_costs_only_that_line(tmp_path: Path) -> None:
    """The write is cut by the kernel (a limit on the file's size), then the process is killed before it can tidy up."""
    activity_log.append(str(tmp_path), made("before"))
    program = (
        "import resource\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))\n"
        "os.ftruncate = lambda *a: os.kill(os.getpid(), signal.SIGKILL) if a[1] else None\n"
        f"activity_log.append({str(tmp_path)!r}, made(1))\n"
    )
    child = writer(program, "killed")
    child.communicate(timeout=PATIENCE)
    assert -signal.SIGKILL == child.returncode
    assert 3000 == (tmp_path / LOG).stat().st_size, "the line is torn"
    activity_log.append(str(tmp_path), made("after"))
    history = activity_log.history(str(tmp_path))
    assert ((2,), ["before", "after"]) == (
        history.damaged,
        [item["task"]["id"] for item in history.entries],
    )


def test_a_write_that_fails_leaves_the_log_as_it_was(tmp_path: Path) -> None:
    activity_log.append(str(tmp_path), made("before"))
    before = (tmp_path / LOG).read_bytes()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 100, hard))
    try:
        with pytest.raises(OSError, match="File too large"):
            activity_log.append(str(tmp_path), made("after", text="x" * 1000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert before == (tmp_path / LOG).read_bytes()


def test_of_several_entries_one_bad_one_keeps_all_out(tmp_path: Path) -> None:
    """FDC-68."""
    bad = {**made(), "phase": "Phase 4.1"}
    with pytest.raises(ValidationError):
        activity_log.append(str(tmp_path), made(), bad)
    assert not (tmp_path / LOG).exists()


def test_a_decision_sees_every_entry_before_its_own(tmp_path: Path) -> None:
    """The check and the append are one: of many writers that want to be the first, one is."""
    program = f"activity_log.transact({str(tmp_path)!r}, lambda history: [] if history.entries else [made(0)])\n"
    children = [writer(program, f"w{number}") for number in range(4)]
    assert [("", "")] * 4 == [child.communicate(timeout=PATIENCE) for child in children]
    assert 1 == len(activity_log.history(str(tmp_path)).entries)


def test_a_decision_that_fails_writes_nothing_and_frees_the_lock(tmp_path: Path) -> None:
    def refuse(history: History) -> list[Entry]:
        raise KeyError(len(history.entries))

    with pytest.raises(KeyError):
        activity_log.transact(str(tmp_path), refuse)
    with durable.exclusive(str(tmp_path / LOG), timeout=0.1):
        assert not os.path.exists(tmp_path / LOG)
