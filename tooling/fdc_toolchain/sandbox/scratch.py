"""The temporary folder of a command: its `/tmp`. Also other folders that must not outlive their process."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

PREFIX = "fdc-scratch-"
SETTLED = 60.0
"""Minimum age in seconds of an unlocked folder before it is deleted, since its owner may not have locked it yet."""


RUN = "fdc-run"
"""The part of a scratch folder that belongs to a run, which may go on and ask for it (`own_folder`)."""
LEFT = 7 * 86400.0
"""Seconds after which it is not used any more."""


@contextmanager
def scratch(prefix: str = PREFIX) -> Iterator[str]:
    """A folder of one's own, absolute, that is gone afterwards. Those of killed processes go, too, once per process.

    It is locked while it is in use: the lock of a process that was killed goes with it, whatever had its number since.
    Raises OSError where no folder can be made.
    """
    folder = tempfile.mkdtemp(prefix=prefix)
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(handle, fcntl.LOCK_SH)
        _sweep(tempfile.gettempdir(), prefix)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(handle)


@cache
def _sweep(where: str, prefix: str) -> None:
    try:
        with os.scandir(where) as entries:
            left = [
                entry.path for entry in entries if entry.name.startswith(prefix) and _is_old(entry)
            ]
    except OSError:
        return
    for path in left:
        try:
            handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        except OSError:
            continue
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(path, ignore_errors=True)
        except OSError:
            pass  # it is in use
        finally:
            os.close(handle)


def _is_old(entry: os.DirEntry[str]) -> bool:
    try:
        found = entry.stat(follow_symlinks=False)
    except OSError:
        return False
    return (
        entry.is_dir(follow_symlinks=False)
        and found.st_uid == os.getuid()
        and time.time() - found.st_mtime
        > (LEFT if os.path.lexists(os.path.join(entry.path, RUN)) else SETTLED)
    )
