"""`fdc` in this process, for what a process of its own shows nothing more of: a tenth of the time where an SDK is loaded."""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
from collections.abc import Mapping
from unittest import mock

from fdc_toolchain.cli.main import main

SCREEN = {"NO_COLOR": "1", "TERM": "dumb", "LC_ALL": "C.UTF-8", "COLUMNS": "100"}


def fdc(
    *arguments: str,
    cwd: str | os.PathLike[str],
    stdin: str = "",
    env: Mapping[str, str] | None = None,
) -> subprocess.CompletedProcess[str]:
    """As `process.fdc`: the same words, the same answer. A run that is over leaves nothing behind in this process."""
    out, err = io.StringIO(), io.StringIO()
    with (
        mock.patch.dict(os.environ, {**SCREEN, **(env or {})}),
        mock.patch.object(sys, "stdin", io.StringIO(stdin)),
        contextlib.chdir(cwd),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        code = main(list(arguments))
    return subprocess.CompletedProcess(list(arguments), code, out.getvalue(), err.getvalue())
