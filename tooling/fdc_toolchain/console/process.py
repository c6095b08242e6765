"""What every command does with its process: its import path, what it writes, a closed stdout, and bugs of fdc."""

from __future__ import annotations

import os
import sys

from ..upgraded import START_AGAIN, is_upgraded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NoReturn, TextIO

    import click


def leave_working_folder() -> None:
    """Removes the working folder from the import path: files in a workspace are not fdc's code.

    `python -m fdc_toolchain` puts it there, or a PYTHONPATH, of which all goes that is in the workspace. A folder that holds fdc
    itself stays.
    """
    ours = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    given = _in_workspace(os.environ.get("PYTHONPATH", ""))
    sys.path[:] = [
        path for path in sys.path if path == ours or not (path in given or _is_working_folder(path))
    ]


def _in_workspace(paths: str) -> frozenset[str]:
    """The folders of a PYTHONPATH, in each spelling that Python gives them, that are where the user works."""
    if not paths:
        return frozenset()
    top = here = os.path.realpath(".")
    while here != os.path.dirname(here):
        if any(os.path.lexists(os.path.join(here, name)) for name in (".git", ".fdc", "fdc.toml")):
            top = here
            break
        here = os.path.dirname(here)
    inside = [
        path
        for path in paths.split(os.pathsep)
        if f"{os.path.realpath(path)}/".startswith(f"{top}/")
    ]
    return frozenset((*inside, *map(os.path.abspath, inside), *map(os.path.realpath, inside)))


def _is_working_folder(path: str) -> bool:
    try:
        return path == "" or os.path.samefile(path, ".")
    except OSError:
        return False  # one of the two is gone, or it is the mark of an import hook


def write(data: bytes, stream: TextIO | None) -> None:
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
        from .streams import drop

        drop(stream.fileno())
    except OSError as failed:
        failed.filename = failed.filename or str(stream.name).strip("<>")
        raise


def silence_stdout() -> None:
    """Redirects stdout to /dev/null, so that Python does not write to the closed one when it exits."""
    from .streams import drop

    try:
        drop(sys.stdout.fileno())
    except (
        OSError,
        ValueError,
        AttributeError,
    ):  # a stdout without a file, as in tests, or none at all
        pass


def _hear() -> list[int]:
    """From now on SIGTERM and SIGHUP end the command as Ctrl-C does, but for one that somebody has ignored (`nohup`).

    Returns those for which that is new; none outside of the main thread, where the embedding program handles signals.
    """
    import signal

    taken: list[int] = []
    try:
        for which in (signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(which) is signal.SIG_DFL:
                signal.signal(which, signal.default_int_handler)
                taken.append(which)
    except ValueError:
        pass
    return taken


def leave(code: int) -> NoReturn:
    """Ends the process with this exit code; a signal that comes now changes nothing in it."""
    if "signal" in sys.modules:
        import atexit
        import signal

        def heard(handler: Any) -> None:
            for which in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                if signal.getsignal(which) is not signal.SIG_IGN:
                    signal.signal(which, handler)

        heard(lambda *_: os._exit(code))
        atexit.register(heard, signal.SIG_IGN)  # Python takes its handlers away before it ends
    sys.exit(code)


def flushed(code: int, name: str, last: str = "") -> int:
    """The exit code of a command, after all that it printed and the line `last` was written; 3 where it cannot be written."""
    if sys.stdout is None:
        return code  # closed before we began
    try:
        if last:
            print(last)
        sys.stdout.flush()
    except (BrokenPipeError, ValueError):  # its reader has gone, or the command itself closed it
        silence_stdout()
    except OSError as failed:
        silence_stdout()
        code = 3
        try:
            print(f"{name}: {failed.strerror or failed} (stdout)", file=sys.stderr)
        except OSError:
            pass
    try:
        if sys.stderr is not None:
            sys.stderr.flush()
    except ValueError:
        pass
    except OSError:  # the code says it all the same
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    return code


def refusal(failed: OSError) -> str:
    """An error of the system as a sentence: what was refused, and for which file."""
    from ..report.terminal.terminal_text import visible

    if failed.filename is None and isinstance(failed, FileNotFoundError):
        try:
            os.getcwd()
        except OSError:
            return "the current folder does not exist any more; change to another one"
    place = f" ({visible(str(failed.filename))})" if failed.filename else ""
    return f"{failed.strerror or failed}{place}"


def our_bug(bug: Exception, name: str, code: int) -> int:
    """Prints that this is a bug of fdc, and how to report it; returns `code`. Neither a machine that is short of something is
    one, nor an fdc that was upgraded meanwhile."""
    import traceback

    from ..exits import WORLD, short_of

    short = short_of(bug)
    if short is not None:
        print(f"{name}: {short}", file=sys.stderr)
        return WORLD
    if is_upgraded():
        print(f"{name}: {START_AGAIN} ({type(bug).__name__}: {bug})", file=sys.stderr)
        return WORLD
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
    from .refused import in_json
    from .streams import open_streams

    leave_working_folder()
    open_streams()
    taken = _hear()
    try:
        try:
            code = in_json(argv, lambda: _run(argv, command, name))
        except OSError:  # the sentence about an error could not be written
            from ..exits import WORLD

            code = WORLD
        return flushed(code, name)
    finally:
        if taken:
            import signal

            for which in taken:
                if signal.getsignal(which) is signal.default_int_handler:
                    signal.signal(which, signal.SIG_DFL)


def _say(text: str) -> None:
    """A sentence on stderr, broken between words where that is a terminal."""
    from ..report.terminal.terminal_text import folded
    from .terminal import width

    print(folded(text, width(err=True)), file=sys.stderr)


def _telling_of_pipes(command: click.Command) -> click.Command:
    """The command, which says so where a pipe breaks. It is not stdout (`streams`), for which click would take it."""
    invoke = command.invoke

    def told(context: click.Context) -> Any:
        try:
            return invoke(context)
        except BrokenPipeError as broken:
            from ..exits import WorldError

            raise WorldError(
                "a process or a connection that fdc writes to has ended (broken pipe)"
            ) from broken

    setattr(command, "invoke", told)  # noqa: B010
    return command


def _run(argv: list[str], command: Callable[[], click.Command], name: str) -> int:
    import io

    import click

    from ..exits import BUG, CLEAN, INTERRUPTED, USAGE, WORLD, Exit
    from ..report.terminal.terminal_text import visible
    from ..runs.notices import on_stderr

    on_stderr()
    try:
        result = _telling_of_pipes(command()).main(
            args=argv, prog_name=name, standalone_mode=False, help_option_names=["-h", "--help"]
        )
        return result if isinstance(result, int) else CLEAN
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except click.UsageError as wrong:
        told = io.StringIO()
        wrong.show(told)
        _say(told.getvalue().rstrip("\n"))
        return USAGE
    except click.ClickException as wrong:
        _say(f"Error: {wrong.format_message()}")
        return USAGE
    except Exit as stop:
        _say(f"{name}: " + "\n".join(map(visible, stop.lines)))
        return stop.code
    except (click.Abort, KeyboardInterrupt):
        print(f"{name}: interrupted", file=sys.stderr)
        return INTERRUPTED
    except OSError as failed:
        if failed.filename == "stdout":
            silence_stdout()  # what is left of it cannot be written either
        _say(f"{name}: {refusal(failed)}")
        return WORLD
    except Exception as bug:  # any other exception is a bug of fdc
        from ..linking.project.settings import SettingsError

        if isinstance(bug, SettingsError):
            _say(f"{name}: {visible(str(bug))}")
            return USAGE
        return our_bug(bug, name, BUG)
