"""What `nohup` and a shell's `&` ignore stays ignored: a closed terminal ends neither a run nor a worker."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.background import wait_for
from tests.support.process import clean_environment

PLAN = """set_plan x
plan_step_complete x
run_in_bash_session touch started; while [ ! -e go ]; do sleep 0.05; done
close_task
submit
"""
WORKER = """
import os, signal, sys, threading
from fdc_toolchain.runs.workers.signals import Requests
requests = Requests(20)
requests.serving()
def end():
    print("ends", flush=True)
    os.kill(os.getpid(), signal.SIGTERM)
os.kill(os.getpid(), getattr(signal, sys.argv[1]))
threading.Timer(0.3, end).start()
requests.wait()
print("asked")
"""


def ignoring(name: str, *words: str | Path) -> list[str | Path]:
    """A command that is started as `nohup` starts it."""
    return ["sh", "-c", f"trap '' {name}; exec \"$@\"", "sh", *words]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["HUP", "INT"])
def test_a_run_goes_on_after_a_signal_that_it_was_told_to_ignore(tmp_path: Path, name: str) -> None:
    (tmp_path / "a.plan").write_text(PLAN)
    fdc = Path(sys.executable).parent / "fdc"
    with subprocess.Popen(
        ignoring(name, fdc, "run", "a.plan"), cwd=tmp_path, env=clean_environment(), stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True,
    ) as process:  # fmt: skip
        wait_for((tmp_path / "started").exists)
        process.send_signal(getattr(signal, f"SIG{name}"))
        (tmp_path / "go").touch()
        out = process.communicate()[0]
    assert process.returncode == 0 and "finished: 5 steps" in out, out


@pytest.mark.parametrize("name", ["HUP", "INT"])
def test_a_worker_goes_on_after_a_signal_that_it_was_told_to_ignore(name: str) -> None:
    done = subprocess.run(
        ignoring(name, sys.executable, "-c", WORKER, f"SIG{name}"), env=clean_environment(),
        capture_output=True, text=True,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "ends\nasked\n"), done.stderr


AGAIN = """
import os, signal
from fdc_toolchain.runs.interrupt import interruptible
for number in (1, 2):
    try:
        with interruptible():
            os.kill(os.getpid(), signal.SIGTERM)
            signal.pause()
    except KeyboardInterrupt:
        print(number)
"""


def test_a_program_that_goes_on_after_an_interrupt_can_be_interrupted_again() -> None:
    """fdc itself ignores signals while it ends: that is not what `nohup` does."""
    done = subprocess.run([sys.executable, "-c", AGAIN], env=clean_environment(), capture_output=True, timeout=60)  # fmt: skip
    assert (0, b"1\n2\n", b"") == (done.returncode, done.stdout, done.stderr)
