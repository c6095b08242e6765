"""A new file has two names for a moment: a `kill -9` then leaves no second name behind, which would stop a later step."""

import os
import signal
import subprocess
import sys
from pathlib import Path

from tests.support.process import fdc

PLAN = """set_plan Write, and write again
plan_step_complete ready
create_file_with_block out/new.txt
    one
overwrite_file_with_block out/new.txt
    two
close_task
submit
"""
KILLED = """
import os, signal, sys
from fdc_toolchain.cli.main import main

real = os.unlink
def unlink(name, *rest, **named):
    if str(name).startswith(".fdc-") and os.path.exists("out/new.txt"):
        os.kill(os.getpid(), signal.SIGKILL)
    real(name, *rest, **named)
os.unlink = unlink
sys.exit(main(["run", "p.plan"]))
"""


def test_a_creation_that_was_killed_between_its_two_names_is_completed(workspace: Path) -> None:
    (workspace / "p.plan").write_text(PLAN)
    done = subprocess.run(
        [sys.executable, "-c", KILLED], cwd=workspace, check=False, capture_output=True
    )
    assert -signal.SIGKILL == done.returncode, done.stderr
    assert 2 == (workspace / "out/new.txt").stat().st_nlink
    resumed = fdc("resume", cwd=workspace)
    assert 0 == resumed.returncode, resumed.stdout + resumed.stderr
    assert ["new.txt"] == os.listdir(workspace / "out")
    assert "two\n" == (workspace / "out/new.txt").read_text()
