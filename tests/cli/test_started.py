"""Every command starts as a user starts it, from nothing; and a forked command is what a started one is (`support/forks`)."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from fdc_toolchain.cli.main import commands

from tests.support import forks
from tests.support.background import PATIENCE, wait_for
from tests.support.process import clean_environment, fdc

linux = pytest.mark.skipif(sys.platform != "linux", reason="commands are forked on Linux only")

PROGRAM = """
import atexit, os, sys
assert __name__ == "__main__" and "tests" not in sys.modules
atexit.register(lambda: print("the end", file=sys.stderr))
print(sys.argv[1:], os.getcwd(), sorted(os.environ.items()), sys.stdout.isatty(), sep="\\n")
print(sys.path[0], oct(os.umask(0o77)), sys.stdin.read(), sorted(map(int, os.listdir("/proc/self/fd")))[:3], sep="\\n")
if sys.argv[1] == "killed":
    os.kill(os.getpid(), 9)
if sys.argv[1] == "raises":
    raise ValueError("no")
sys.exit({"three": 3, "words": "some words", "none": None}[sys.argv[1]])
"""


@pytest.mark.long
@pytest.mark.parametrize("name", commands())
def test_every_command_starts_from_nothing_and_says_what_the_forked_one_says(
    name: str, workspace: Path
) -> None:
    started = fdc(name, "--help", cwd=workspace, fresh=True)
    assert 0 == started.returncode and started.stdout.startswith("Usage: fdc "), started
    forked = fdc(name, "--help", cwd=workspace)
    assert (started.returncode, started.stdout, started.stderr) == (
        forked.returncode,
        forked.stdout,
        forked.stderr,
    )


@linux
@pytest.mark.parametrize("how", ["three", "words", "none", "raises", "killed"])
def test_a_forked_command_has_the_arguments_streams_folder_and_end_of_a_started_one(
    how: str, workspace: Path
) -> None:
    (workspace / "program.py").write_text(PROGRAM)
    program, stdin = str(workspace / "program.py"), "żółw\r\n" * 30000
    forked, started = [
        fdc(how, "--x", script=program, cwd=workspace, stdin=stdin, env={"A": "ż"}, fresh=fresh)
        for fresh in (False, True)
    ]
    assert (started.returncode, started.stdout) == (forked.returncode, forked.stdout)
    assert started.stderr.splitlines()[-1:] == forked.stderr.splitlines()[-1:]
    assert {"three": 3, "words": 1, "none": 0, "raises": 1, "killed": -9}[how] == forked.returncode


@linux
def test_nothing_of_one_command_is_left_for_the_next(workspace: Path) -> None:
    text = "import os, sys\nprint(os.environ.get('B'), hasattr(sys, 'b'))\nos.environ['B'] = sys.b = '1'\n"
    (workspace / "program.py").write_text(text)
    program = str(workspace / "program.py")
    assert (
        "None False\n"
        == fdc(script=program, cwd=workspace).stdout
        == fdc(script=program, cwd=workspace).stdout
    )
    assert "2 False\n" == fdc(script=program, cwd=workspace, env={"B": "2"}).stdout


@linux
def test_what_python_starts_with_is_not_forked(workspace: Path) -> None:
    usual = clean_environment()
    assert forks.can_run({**usual, "A": "1"}, usual)
    for name in ("PYTHONHASHSEED", "PYTHONPATH", "LC_ALL", "LD_PRELOAD"):
        assert not forks.can_run({**usual, name: "1"}, usual)
    (workspace / "program.py").write_text(
        "import os, sys\nprint(os.getppid(), sys.flags.hash_randomization)\n"
    )
    program = str(workspace / "program.py")
    assert (
        f"{os.getpid()} 0\n"
        == fdc(script=program, cwd=workspace, env={"PYTHONHASHSEED": "0"}).stdout
    )
    assert f"{os.getpid()} 1\n" == fdc(script=program, cwd=workspace, fresh=True).stdout


@linux
@pytest.mark.parametrize("which", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_any_command_with_its_documented_code(which: signal.Signals) -> None:
    def heard() -> bool:
        line = re.search(r"SigCgt:\s*(\w+)", Path(f"/proc/{process.pid}/status").read_text())
        both = 1 << (signal.SIGTERM - 1) | 1 << (signal.SIGHUP - 1)
        return line is not None and int(line[1], 16) & both == both

    with subprocess.Popen(
        [Path(sys.executable).parent / "fdc", "migrate", "-"], env=clean_environment(), stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        wait_for(heard)
        process.send_signal(which)
        assert process.communicate() == ("", "fdc: interrupted\n")
    assert process.returncode == 130


INTERRUPTED_AT = """
import os, signal, sys, weakref
at, within = sys.argv.pop(1), sys.argv.pop(1)
class Importing:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name != at:
            return
        if within == "callback":  # as importlib has one for each of its locks
            held = {name}
            kept = weakref.ref(held, lambda _: os.kill(os.getpid(), signal.SIGINT))
            del held
        else:
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Importing)
from fdc_toolchain.cli.fast_path import entry
entry()
"""


@pytest.mark.parametrize("within", ["nothing", "callback"])
@pytest.mark.parametrize(
    "module", ["cli.linting.fast_lint", "console.process", "cli.linting.options", "cli.main"]
)
def test_an_interrupt_while_fdc_is_imported_ends_as_one_of_its_commands_does(
    module: str, within: str
) -> None:
    """Python ignores what is raised in a callback of its own, and went on."""
    words = [f"fdc_toolchain.{module}", within, "migrate", "-"]
    with subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED_AT, *words], env=clean_environment(), stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        process.wait(timeout=PATIENCE)  # it waits for its input for ever
        assert process.stdout is not None and process.stderr is not None
        assert ("", "fdc: interrupted") == (process.stdout.read(), process.stderr.read().strip())
    assert process.returncode == 130
