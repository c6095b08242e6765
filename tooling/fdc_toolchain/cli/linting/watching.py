"""`fdc lint --watch`: lints again whenever a file of the workspace changes."""

from __future__ import annotations

import os
import select
import sys
import time
from collections.abc import Callable

from ...linking.project.discover import SKIPPED
from .options import Options

LEAST = 0.3
"""Minimum seconds between two scans of the workspace. A scan that takes long waits ten times its duration."""

Sight = dict[str, tuple[int, int, int]]
"""By path: modification time, size, inode."""


def look(root: str) -> Sight:
    """Every file below a folder, except in folders that are never searched."""
    out: Sight = {}
    folders = [root]
    while folders:
        try:
            entries = list(os.scandir(folders.pop()))
        except OSError:
            continue  # deleted since, or not readable
        for entry in entries:
            try:
                if entry.is_dir(follow_symlinks=False):
                    if entry.name not in SKIPPED:
                        folders.append(entry.path)
                    continue
                found = entry.stat()
                out[entry.path] = (found.st_mtime_ns, found.st_size, found.st_ino)
            except OSError:
                continue
    return out


def changed(before: Sight, now: Sight) -> list[str]:
    """The files that were added, removed or changed."""
    return sorted(path for path in before.keys() | now.keys() if before.get(path) != now.get(path))


def watch(options: Options, root: str, lint: Callable[[Options], int]) -> int:
    """Lints now and after each change, until KeyboardInterrupt or until nobody reads stdout any more."""
    from ...exits import CLEAN, UsageError
    from ...report.terminal.terminal_text import visible

    if "-" in list(options["paths"] or []):  # type: ignore[call-overload]
        raise UsageError("`--watch` needs files; it cannot watch stdin")
    ours = {
        os.path.realpath(str(options[name])) for name in ("output", "baseline") if options[name]
    }
    while True:
        before = look(root)
        _lint_apart(options, lint)
        while True:
            began = time.monotonic()
            now = look(root)
            names = [name for name in changed(before, now) if os.path.realpath(name) not in ours]
            if names:
                break
            if _reader_gone():
                return CLEAN
            time.sleep(max(LEAST, 10 * (time.monotonic() - began)))
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        print(
            f"\nchanged: {visible(os.path.relpath(names[0], root))}{more}",
            file=sys.stderr,
            flush=True,
        )


def _reader_gone() -> bool:
    """Whether stdout is a pipe, a socket or a terminal whose other end was closed. Nothing is written to find out."""
    try:
        poll = select.poll()
        poll.register(sys.stdout.fileno(), 0)
        return any(event & (select.POLLERR | select.POLLHUP) for _, event in poll.poll(0))
    except (AttributeError, OSError, ValueError):  # no stdout, or none with a file
        return False


def _lint_apart(options: Options, lint: Callable[[Options], int]) -> None:
    """Runs one lint in a separate process, because caches in memory would be stale."""
    sys.stdout.flush()
    process = os.fork()
    if not process:
        os._exit(lint({**options, "watch": False}))
    os.waitpid(process, 0)
