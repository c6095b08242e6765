"""Reads a regular file of a bounded size, whatever lies at the path: a pipe, a device or a folder is refused at once."""

from __future__ import annotations

import errno
import os
import stat

MOST = 1 << 20
"""Bytes of a file of settings."""


_NOTHING = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENAMETOOLONG)


def kind(path: str) -> int | None:
    """The kind (`stat.S_IFREG`, ...) of what lies at a path, links followed; None for nothing.

    Raises OSError where that cannot be told: what a person may not look at may be there.
    """
    try:
        return stat.S_IFMT(os.stat(path).st_mode)
    except ValueError:
        return None
    except OSError as failed:
        if failed.errno in _NOTHING:
            return None
        raise


def read(path: str, most: int = MOST) -> bytes:
    """The bytes of a file. Raises OSError, with a `strerror` that says why, also for what is not a regular file or too large."""
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    with open(handle, "rb") as file:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file", path)
        size = min(found.st_size, most)
        data = file.read(size + 1)  # of `most` at once, the memory alone would take longer
        if size < len(data) <= most:  # it grew, or has no size of its own as in /proc
            data += file.read(most + 1 - len(data))
    if len(data) > most:
        raise OSError(errno.EFBIG, f"it has more than {most} bytes", path)
    return data
