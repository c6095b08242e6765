"""Processes that a test watches, signals and outlives."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from . import forks
from .process import clean_environment
from .profiles import SOAK
from .repository import ROOT

PATIENCE = 240.0
"""Seconds until a test gives up; a loaded machine needs many of them, an idle one next to none."""


@contextmanager
def fdc_started(
    *arguments: str,
    cwd: str | os.PathLike[str],
    env: Mapping[str, str] | None = None,
    program: Sequence[str] = (str(ROOT / "tooling" / "fdc_cli.py"),),
    python: str = sys.executable,
    **options: Any,
) -> Iterator[subprocess.Popen[str]]:
    """A running `fdc ARGUMENTS`, which is dead and cleared away afterwards, whatever the test does.

    It is forked (`forks`) where that is the same: a script, this Python, and no options but its streams; never in the soak.
    Processes of a database are started anew: what dbos makes at import would be the same in all of them.
    """
    command = [python, *program, *arguments]
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, **options}
    environment = clean_environment(env)
    forked = (
        not SOAK
        and python == sys.executable
        and len(program) == 1
        and "FDC_DATABASE" not in environment
        and "--database" not in arguments
        and options.keys() <= {"stdin", "stdout", "stderr", "text"}
        and forks.can_run(environment, clean_environment())
    )
    start = forks.Started if forked else subprocess.Popen
    process = start(command, cwd=cwd, env=environment, **options)
    try:
        yield process
    finally:
        process.kill()
        for stream in (process.stdout, process.stderr):
            if stream is not None:
                stream.close()
        process.wait()


def wait_for(condition: Callable[[], Any]) -> None:
    """Returns as soon as the condition holds."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "it did not come to pass"
        time.sleep(0.02)
