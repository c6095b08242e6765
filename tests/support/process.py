"""Real processes: the front door as a user meets it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from . import forks
from .profiles import SOAK
from .repository import ROOT


def clean_environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """This process's environment without what would change the output: switches of Python, git and make, colours."""
    env = {
        k: v
        for k, v in os.environ.items()
        if not k.startswith(("PYTHON", "GIT_", "MAKE", "MFLAGS", "VIRTUAL_ENV"))
    }
    env.update({"NO_COLOR": "1", "TERM": "dumb", "LC_ALL": "C.UTF-8", "COLUMNS": "100"})
    env.update(extra or {})
    return env


def working_in(folder: Path) -> list[int]:
    """The processes of commands whose workspace is `folder`, in whatever namespace they are; dead ones do not count."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdecimal():
            try:
                environment = Path(f"/proc/{name}/environ").read_bytes().split(b"\0")
            except OSError:
                continue
            if f"PWD={folder}".encode() in environment and any(
                item.startswith(b"FDC_KEY=") for item in environment
            ):
                found.append(int(name))
    return found


def run(
    argv: Sequence[str | os.PathLike[str]],
    *,
    cwd: str | os.PathLike[str],
    stdin: str = "",
    env: Mapping[str, str] | None = None,
    timeout: float = 300,
    handles: Sequence[int] = (),
) -> subprocess.CompletedProcess[str]:
    """Runs a command to its end and captures what it says. Never raises for its exit code. It inherits `handles`."""
    return subprocess.run(
        [os.fspath(part) for part in argv],
        cwd=cwd,
        input=stdin,
        env=clean_environment(env),
        timeout=timeout,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        pass_fds=handles,
    )


def fdc(
    *arguments: str,
    cwd: str | os.PathLike[str],
    script: str = "fdc_cli.py",
    stdin: str = "",
    env: Mapping[str, str] | None = None,
    fresh: bool = False,
) -> subprocess.CompletedProcess[str]:
    """Runs `python3 tooling/SCRIPT ARGUMENTS` of this checkout in the folder `cwd`.

    It is a process of its own, made by `forks`; started from nothing in the soak, and where a test asks for it (`fresh`).
    """
    program, environment = os.fspath(Path(ROOT, "tooling", script)), clean_environment(env)
    if fresh or SOAK or not forks.can_run(environment, clean_environment()):
        return run([sys.executable, program, *arguments], cwd=cwd, stdin=stdin, env=env)
    done = forks.run(
        [program, *arguments],
        cwd=os.fspath(cwd),
        stdin=stdin.encode(),
        env=environment,
        timeout=300,
    )
    texts = [
        said.decode().replace("\r\n", "\n").replace("\r", "\n")
        for said in (done.stdout, done.stderr)
    ]
    return subprocess.CompletedProcess([sys.executable, *done.args], done.returncode, *texts)
