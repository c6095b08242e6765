"""What every command does with its process: its import path, what it writes, a closed stdout, and bugs of fdc."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    import click


def leave_working_folder() -> None:
    """Removes the working folder from the import path: files in a workspace are not fdc's code.

    `python -m fdc_toolchain` puts it there, or a PYTHONPATH. A folder that holds fdc itself stays.
    """
    ours = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    sys.path[:] = [path for path in sys.path if path == ours or not _is_working_folder(path)]


def _is_working_folder(path: str) -> bool:
    try:
        return path == "" or os.path.samefile(path, ".")
    except OSError:
        return False  # one of the two is gone, or it is the mark of an import hook


def write(data: bytes, stream: Any) -> None:
    """Writes UTF-8, whatever the terminal claims to speak. A reader who has left changes no verdict."""
    if stream is None:
        return  # closed before we began
    try:
        buffer = getattr(stream, "buffer", None)
        if buffer is None:
            stream.write(data.decode("utf-8", "replace"))
        else:
            buffer.write(data)
        stream.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def silence_stdout() -> None:
    """Redirects stdout to /dev/null, so that Python does not write to the closed one when it exits."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (
        OSError,
        ValueError,
        AttributeError,
    ):  # a stdout without a file, as in tests, or none at all
        pass


def our_bug(bug: Exception, name: str, code: int) -> int:
    """Prints that this is a bug of fdc, and how to report it; returns `code`."""
    import traceback

    print(f"{name}: internal error: {type(bug).__name__}: {bug}", file=sys.stderr)
    if os.environ.get("FDC_DEBUG"):
        traceback.print_exc()
    else:
        print(
            f"{name}: this is a bug of fdc, please report it; FDC_DEBUG=1 shows where",
            file=sys.stderr,
        )
    return code


def run(argv: list[str], command: Callable[[], click.Command], name: str) -> int:
    """Runs one command line with click. Returns the exit code; prints an error as one sentence on stderr.

    `command` makes the command, after the working folder has left the import path; `name` is what messages begin with.
    """
    leave_working_folder()
    import click

    from ..exits import BUG, CLEAN, INTERRUPTED, USAGE, WORLD, Exit
    from ..report.terminal.terminal_text import visible
    from ..runs.notices import on_stderr

    on_stderr()
    try:
        result = command().main(args=argv, prog_name=name, standalone_mode=False)
        return result if isinstance(result, int) else CLEAN
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except click.UsageError as wrong:
        wrong.show()
        return USAGE
    except click.ClickException as wrong:
        wrong.show()
        return USAGE
    except Exit as stop:
        print(f"{name}: " + "\n".join(map(visible, stop.lines)), file=sys.stderr)
        return stop.code
    except (click.Abort, KeyboardInterrupt):
        print(f"{name}: interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        silence_stdout()
        return CLEAN
    except OSError as failed:
        place = f" ({visible(str(failed.filename))})" if failed.filename else ""
        print(f"{name}: {failed.strerror or failed}{place}", file=sys.stderr)
        return WORLD
    except Exception as bug:  # any other exception is a bug of fdc
        from ..linking.project.settings import SettingsError

        if isinstance(bug, SettingsError):
            print(f"{name}: {visible(str(bug))}", file=sys.stderr)
            return USAGE
        return our_bug(bug, name, BUG)
