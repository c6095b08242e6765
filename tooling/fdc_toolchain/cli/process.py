"""What every command line does with its process: where it imports from, what it does with a closed stdout, and with our bugs."""

from __future__ import annotations

import os
import sys


def leave_working_folder() -> None:
    """Takes the working folder off the import path: what lies in a workspace is not fdc's code.

    `python -m fdc_toolchain` puts it there, or a PYTHONPATH. A folder that holds fdc itself stays.
    """
    ours = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    sys.path[:] = [one for one in sys.path if one == ours or not _is_working_folder(one)]


def _is_working_folder(path: str) -> bool:
    try:
        return path == "" or os.path.samefile(path, ".")
    except OSError:
        return False  # one of the two is gone, or it is the mark of an import hook


def silence_stdout() -> None:
    """What could not be written is not tried again on the way out."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (
        OSError,
        ValueError,
        AttributeError,
    ):  # a stdout without a file, as in tests, or none at all
        pass


def our_bug(bug: Exception, name: str, code: int) -> int:
    """Says that we are wrong, and how to report it; returns `code`."""
    import traceback

    print(f"{name}: internal error: {type(bug).__name__}: {bug}", file=sys.stderr)
    if os.environ.get("FDC_DEBUG"):
        traceback.print_exc()
    else:
        print(
            f"{name}: this is a bug of ours, please report it; FDC_DEBUG=1 shows where",
            file=sys.stderr,
        )
    return code
