"""A background process that outlives its controller: started once, checked from any process, with a recorded end.

Everything about it lies in one folder: `stdout`, `stderr`, `exit` (its exit code, written last) and a lock that
it holds as long as any of it lives. So a controller that was killed and came back knows whether it runs.
"""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence

from ... import durable
from ...engine.ports import WorldFailed
from ...exits import reason
from ...named_tuples import NamedTuple

MOST = 16 * 1024 * 1024
"""Maximum bytes that are read of each stream."""

_WATCH = (
    '(cd "$0" && exec "$@") > stdout 2> stderr < /dev/null; echo $? > exit.new; mv exit.new exit'
)
_BEGIN = 'echo $$ > pid; watch=$1; shift; /bin/sh -c "$watch" "$@" &'
"""The first shell leaves its number, which is that of the group, and goes; the second waits for the process.

Both work in the process's folder; the process itself in the folder that is its first argument.
"""


class Seen(NamedTuple):
    """The state of a process. `exit_code` is None while it runs, or if it died without one."""

    running: bool
    exit_code: int | None = None
    stdout: str = ""
    stderr: str = ""


def launch(folder: str, argv: Sequence[str], cwd: str, environment: Mapping[str, str]) -> bool:
    """Starts `argv`, unless it was started in this folder before; returns whether it did. Raises WorldFailed."""
    try:
        os.makedirs(folder, exist_ok=True)
        lock = os.open(os.path.join(folder, "lock"), os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o644)
    except OSError as failed:
        raise WorldFailed(f"{folder}: {reason(failed)}") from failed
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.path.exists(os.path.join(folder, "pid")):
            return False  # it has ended or died, which `look` reports
        begun = subprocess.run(
            ["/bin/sh", "-c", _BEGIN, "sh", _WATCH, cwd, *argv],
            cwd=folder, env=dict(environment), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, pass_fds=(lock,), start_new_session=True, check=False,
        )  # fmt: skip
        if begun.returncode != 0:
            raise WorldFailed(
                f"`{argv[0]}` could not be started: the shell ended with exit code {begun.returncode}"
            )
        return True
    except BlockingIOError:
        return False  # it runs
    except OSError as failed:
        raise WorldFailed(f"`{argv[0]}` could not be started: {reason(failed)}") from failed
    finally:
        os.close(lock)


def look(folder: str) -> Seen:
    """The state of the process of a folder. Raises OSError if its files cannot be read."""
    if durable.is_held(os.path.join(folder, "lock")):
        return Seen(True)
    written = _text(folder, "exit").strip()
    code = int(written) if written.isdecimal() else None
    return Seen(False, code, _text(folder, "stdout"), _text(folder, "stderr"))


def end(folder: str) -> None:
    """Ends the process and its children, if it runs."""
    pid = _text(folder, "pid").strip()
    if pid.isdecimal() and durable.is_held(
        os.path.join(folder, "lock")
    ):  # the lock says that the number is still this process's
        try:
            os.killpg(int(pid), signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass  # it ended by itself in the meantime


def _text(folder: str, name: str) -> str:
    data = durable.read(os.path.join(folder, name), limit=MOST)
    return "" if data is None else data.decode("utf-8", "replace")
