"""Processes that outlive their controller: real ones."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from fdc_toolchain.agent.host import background

from tests.support.background import wait_for
from tests.support.repository import ROOT


def launch(folder: Path, script: str) -> bool:
    return background.launch(
        str(folder), ["sh", "-c", script], str(folder.parent), dict(os.environ)
    )


def over(folder: Path) -> background.Seen:
    wait_for(lambda: not background.look(str(folder)).running)
    return background.look(str(folder))


def test_its_end_and_its_words_are_on_record(tmp_path: Path) -> None:
    folder = tmp_path / "p"
    assert launch(folder, "pwd; echo bad >&2; exit 3")
    assert (False, 3, f"{tmp_path}\n", "bad\n") == over(folder)


def test_it_is_started_once(tmp_path: Path) -> None:
    folder = tmp_path / "p"
    assert launch(folder, "echo x >> count; sleep 0.3")
    assert not launch(folder, "echo x >> count")
    assert 0 == (over(folder).exit_code or 0)
    assert not launch(folder, "echo x >> count")
    assert "x\n" == (tmp_path / "count").read_text()


def test_one_that_is_killed_has_no_exit_code(tmp_path: Path) -> None:
    folder = tmp_path / "p"
    launch(folder, "echo said; sleep 60")
    wait_for(lambda: (folder / "stdout").exists() and (folder / "stdout").read_text())
    assert background.look(str(folder)).running
    background.end(str(folder))
    assert (False, None, "said\n", "") == over(folder)
    background.end(str(folder))  # no other one's process dies for it


def test_it_outlives_whoever_started_it(tmp_path: Path) -> None:
    folder = tmp_path / "p"
    code = (
        "import os, signal, sys; from fdc_toolchain.agent.host import background;"
        f"background.launch({str(folder)!r}, ['sh', '-c', 'sleep 0.3; echo done'], '.', dict(os.environ));"
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    env = {**os.environ, "PYTHONPATH": str(ROOT / "tooling")}
    assert (
        -signal.SIGKILL
        == subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=env).returncode
    )
    assert (False, 0, "done\n", "") == over(folder)


def test_where_nothing_was_started_nothing_runs(tmp_path: Path) -> None:
    assert (False, None, "", "") == background.look(str(tmp_path / "absent"))
