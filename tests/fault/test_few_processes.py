"""A machine that starts no more threads or processes, as with a small `ulimit -u`: it is named, and is no bug of fdc."""

from __future__ import annotations

import errno
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest
from fdc_toolchain.engine.ports import WorldFailed
from fdc_toolchain.workspace.failure import from_os

from tests.support.process import clean_environment

PLAN = "set_plan x\nplan_step_complete x\nmessage_user hello\nclose_task\nsubmit\n"
API = """
from fdc_toolchain import api
try:
    api.drive(api.begin("a.plan", workspace="."), workspace=".")
except (api.WorldTrouble, api.InternalError) as raised:
    print(type(raised).__name__, raised)
"""
SAID = "no more threads can be started: a limit of processes (`ulimit -u`) or of memory is reached"
MOST = 2**30


def without_threads() -> None:
    """Each thread would get a stack that is larger than what the process may have: no thread starts, for root neither."""
    resource.setrlimit(resource.RLIMIT_STACK, (2 * MOST, resource.RLIM_INFINITY))
    resource.setrlimit(resource.RLIMIT_AS, (MOST, MOST))


@pytest.mark.slow
@pytest.mark.parametrize("program", ["command", "api"])
def test_a_machine_without_threads_is_no_bug_of_fdc(tmp_path: Path, program: str) -> None:
    (tmp_path / "a.plan").write_text(PLAN)
    words = ["-m", "fdc_toolchain", "run", "a.plan"] if program == "command" else ["-c", API]
    done = subprocess.run(
        [sys.executable, *words], cwd=tmp_path, env=clean_environment(), capture_output=True, text=True,
        preexec_fn=without_threads,
    )  # fmt: skip
    if program == "command":
        assert (done.returncode, done.stderr) == (3, f"fdc: {SAID}\n"), done
    else:
        assert done.stdout == f"WorldTrouble {SAID}\n", done


def test_a_process_that_cannot_be_started_stops_the_run_as_a_full_disk_does() -> None:
    """It failed the step, and the run said that an assumption about files was false."""
    failed = BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
    assert isinstance(from_os(failed, "run_in_bash_session"), WorldFailed)
