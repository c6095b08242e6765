"""Entry point of the console script: answers `fdc lint` from the cache with few imports; else loads the command line."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType
    from typing import NoReturn


def entry() -> None:
    """Runs `fdc`. Ctrl-C ends it with 130, also while it is imported."""
    sys.unraisablehook = _ignored
    if sys.getfilesystemencoding() != "utf-8" and sys.stderr is not None:
        from ..diagnostics.source import other_names

        print(f"fdc: {other_names()}", file=sys.stderr)
    try:
        _run(sys.argv[1:])
    except KeyboardInterrupt:  # before a command could hear it
        from ..exits import INTERRUPTED

        if sys.stderr is not None:
            print("fdc: interrupted", file=sys.stderr, flush=True)
        os._exit(INTERRUPTED)


def _ignored(what: sys.UnraisableHookArgs) -> None:
    """Python ignores an interrupt that comes in a callback of its own, as importlib has them: here it comes once more."""
    if issubclass(what.exc_type, KeyboardInterrupt):
        sys.setprofile(_interrupt)
    else:
        sys.__unraisablehook__(what)


def _interrupt(_frame: FrameType, event: str, _: object) -> None:
    """A profile function: interrupts at the next call, which is not in the callback any more."""
    if event == "call":
        sys.setprofile(None)
        raise KeyboardInterrupt


def _run(arguments: list[str]) -> None:
    """Runs `fdc ARGUMENTS`. A lint ends the process without freeing its memory, which would take time."""
    import gc

    from .linting import fast_lint

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
    from ..console.process import leave
    from .main import main

    leave(main(arguments))
