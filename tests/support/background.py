"""Processes that a test watches, signals and outlives."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from .process import clean_environment
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
    """A running `fdc ARGUMENTS`, which is dead and cleared away afterwards, whatever the test does."""
    command = [python, *program, *arguments]
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, **options}
    process = subprocess.Popen(command, cwd=cwd, env=clean_environment(env), **options)
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
