"""Entry point of the console script: answers `fdc lint` from the cache with few imports; else loads the command line."""

from __future__ import annotations

import gc
import os
import sys

from .linting import fast_lint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn


def entry() -> None:
    """Runs `fdc`. A lint ends the process without freeing its memory, which would take time."""
    arguments = sys.argv[1:]
    gc.disable()  # until the end: one collection of what a check leaves takes as long as several of its rules
    code = fast_lint.main(arguments[1:]) if arguments[:1] == ["lint"] else None
    if code is None:
        gc.enable()
        _every_command(arguments)
    if os.environ.get("FDC_DEBUG"):  # profilers write their report at exit
        sys.exit(code)
    if sys.stderr is not None:
        sys.stderr.flush()
    os._exit(code)


def _every_command(arguments: list[str]) -> NoReturn:
    try:
        from ..console.process import leave
        from .main import main

        code = main(arguments)
    except KeyboardInterrupt:  # before the command could hear it
        print("fdc: interrupted", file=sys.stderr)
        code = 130
    leave(code)
