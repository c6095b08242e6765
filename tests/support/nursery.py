"""Many real `fdc` processes for little: one process imports fdc and forks itself for every command.

Each child is a process of its own, with its own locks, connections and files, and dies of a SIGKILL as any other.
What is saved is Python's start. `Nursery` is used by the tests, from any thread; `_serve` runs in the forking process.
"""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from .background import PATIENCE
from .process import clean_environment
from .repository import ROOT

_PROGRAM = "import sys; sys.path[:0] = sys.argv[1:3]; from tests.support.nursery import _serve; _serve(*sys.argv[3:])"


class Done(NamedTuple):
    """How a command went: its exit code, negative for the signal that ended it, and what it said."""

    code: int
    out: str
    err: str

    @property
    def killed(self) -> bool:
        return self.code < 0


class Command:
    """A command that runs."""

    def __init__(self, nursery: Nursery, number: int) -> None:
        self._nursery, self._number = nursery, number
        self._over = threading.Event()
        self._code = 0

    def kill(self) -> None:
        """SIGKILL, unless it is over."""
        self._nursery._say({"kill": self._number})

    def wait(self, seconds: float = PATIENCE) -> Done | None:
        """How it went; None while it runs after so many seconds."""
        if not self._over.wait(seconds):
            return None
        return Done(self._code, self._said("out"), self._said("err"))

    def _said(self, where: str) -> str:
        path = self._nursery.folder / f"{self._number}.{where}"
        return (
            path.read_text("utf-8") if path.exists() else ""
        )  # it may have died before its first word


class Nursery:
    """Starts commands in the folder `cwd`. All are dead when it is closed. `ready`: modules that are imported before."""

    def __init__(
        self,
        cwd: Path,
        folder: Path,
        env: Mapping[str, str] | None = None,
        *,
        ready: Sequence[str] = (),
    ) -> None:
        folder.mkdir()
        self.folder = folder
        self._lock = threading.Lock()
        self._numbers = itertools.count(1)
        self._commands: dict[int, Command] = {}
        self._process = subprocess.Popen(
            [sys.executable, "-c", _PROGRAM, str(ROOT), str(ROOT / "tooling"), str(folder), *ready],
            cwd=cwd, env=clean_environment(env), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        threading.Thread(target=self._hear, daemon=True).start()

    def __enter__(self) -> Nursery:
        return self

    def __exit__(self, *raised: object) -> None:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()  # it kills its children and ends
        self._process.wait(PATIENCE)
        self._process.stdout.close()

    def start(self, *arguments: str, env: Mapping[str, str] | None = None) -> Command:
        """`fdc ARGUMENTS`, running."""
        with self._lock:
            command = Command(self, next(self._numbers))
            self._commands[command._number] = command
        self._say({"run": command._number, "arguments": arguments, "env": dict(env or {})})
        return command

    def run(
        self, *arguments: str, env: Mapping[str, str] | None = None, kill_after: float | None = None
    ) -> Done:
        """`fdc ARGUMENTS` to its end, which is SIGKILL where it takes longer than `kill_after`."""
        command = self.start(*arguments, env=env)
        if kill_after is not None and command.wait(kill_after) is None:
            command.kill()
        done = command.wait()
        assert done is not None, f"fdc {' '.join(arguments)} does not end"
        return done

    def _say(self, what: dict[str, Any]) -> None:
        with self._lock:
            assert self._process.stdin is not None
            self._process.stdin.write(json.dumps(what) + "\n")
            self._process.stdin.flush()

    def _hear(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            number, code = json.loads(line)
            command = self._commands.pop(number)
            command._code = code
            command._over.set()


def _serve(folder: str, *ready: str) -> None:
    """Forks on demand, and tells who ended how, until no caller asks any more."""
    import importlib
    import selectors
    import signal

    from fdc_toolchain.cli import main
    from fdc_toolchain.engine import drive, replay  # noqa: F401
    from fdc_toolchain.runs import run_driver  # noqa: F401 - imported once, for all children
    from fdc_toolchain.workspace import run_folders  # noqa: F401

    for name in ready:
        importlib.import_module(name)
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.signal(signal.SIGCHLD, lambda number, frame: None)
    signal.set_wakeup_fd(wake)
    living: dict[int, int] = {}
    waiting = selectors.DefaultSelector()
    waiting.register(0, selectors.EVENT_READ)
    waiting.register(woken, selectors.EVENT_READ)
    heard = b""
    while True:
        for key, _ in waiting.select():
            if key.fd == woken:
                os.read(woken, 4096)
                continue
            data = os.read(0, 65536)
            if not data:
                for process in living.values():
                    os.kill(process, signal.SIGKILL)
                os._exit(0)
            *lines, heard = (heard + data).split(b"\n")
            for line in lines:
                asked = json.loads(line)
                if "kill" in asked:
                    if asked["kill"] in living:
                        os.kill(living[asked["kill"]], signal.SIGKILL)
                    continue
                process = os.fork()
                if process == 0:
                    signal.set_wakeup_fd(-1)
                    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                    _be(folder, asked, main.main)
                living[asked["run"]] = process
        for number, process in list(living.items()):
            found, status = os.waitpid(process, os.WNOHANG)
            if found:
                del living[number]
                os.write(
                    1, json.dumps([number, os.waitstatus_to_exitcode(status)]).encode() + b"\n"
                )


def _be(folder: str, asked: dict[str, Any], main: Any) -> None:
    """Becomes the command."""
    code = 4
    try:
        os.environ.update(asked["env"])
        for fd, name in ((1, "out"), (2, "err")):
            file = os.open(
                os.path.join(folder, f"{asked['run']}.{name}"),
                os.O_WRONLY | os.O_CREAT | os.O_TRUNC,
                0o600,
            )
            os.dup2(file, fd)
            os.close(file)
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, 0)
        code = main(asked["arguments"])
        sys.stdout.flush()
        sys.stderr.flush()
    except BaseException:
        import traceback

        traceback.print_exc()
        sys.stderr.flush()
    finally:
        os._exit(code)
