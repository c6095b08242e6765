"""Files that are written whole or not at all, by one writer at a time.

A kill at any moment leaves the old bytes or the new ones under the file's name, never a mixture:
the bytes go to a temporary file in the same folder, are forced to the disk, and take the name in
one step. The lock is the kernel's (`flock`), so a killed holder leaves nothing to clean up.
"""

from __future__ import annotations

import errno
import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager

LOCK_TIMEOUT = 10.0
"""Seconds that a writer waits for the one before it."""


def read(path: str, *, limit: int = 64 * 1024 * 1024) -> bytes | None:
    """The bytes of a regular file, or None where there is none.

    Raises OSError for anything else that can lie there (a folder, a pipe, a device), for more than
    `limit` bytes, and where the system refuses.
    """
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK)  # a pipe must not make us wait for its writer
    except FileNotFoundError:
        return None
    with open(handle, "rb") as file:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode):
            raise OSError(errno.EINVAL, "not a regular file", path)
        data = file.read(limit + 1)
    if len(data) > limit:
        raise OSError(errno.EFBIG, f"more than {limit} bytes", path)
    return data


def replace(path: str, data: bytes) -> None:
    """Makes `data` the content of `path`, all of it or nothing, and survives a power cut afterwards.

    An existing file keeps its permissions. Raises OSError; the temporary file is gone then.
    """
    folder, name = os.path.split(path)
    temporary = os.path.join(folder, f"{_stem(name)}{os.getpid()}.{time.monotonic_ns()}.tmp")
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o666)
    try:
        with open(handle, "wb") as file:
            try:
                os.fchmod(handle, stat.S_IMODE(os.stat(path).st_mode))
            except FileNotFoundError:
                pass
            file.write(data)
            file.flush()
            os.fsync(handle)
        os.replace(temporary, path)
    except BaseException:
        try:
            os.unlink(temporary)
        except FileNotFoundError:
            pass
        raise
    sync_folder(folder)


def sync_folder(folder: str) -> None:
    """Forces a folder's list of names to the disk."""
    handle = os.open(folder or ".", os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def sweep(path: str) -> None:
    """Removes what killed writers of `path` left. Only for the holder of `exclusive(path)`."""
    folder, name = os.path.split(path)
    stem = _stem(name)
    for entry in os.listdir(folder or "."):
        if entry.startswith(stem) and entry.endswith(".tmp"):
            os.unlink(os.path.join(folder, entry))


@contextmanager
def exclusive(path: str, *, timeout: float = LOCK_TIMEOUT) -> Iterator[None]:
    """While it lasts, no other holder of `path`'s lock exists, in any process or thread of this machine.

    The lock file `.NAME.lock` beside the file stays; it holds the last holder's process id. Raises
    TimeoutError (naming that process) after `timeout` seconds, OSError where the system refuses.
    """
    import fcntl

    folder, name = os.path.split(path)
    lock = os.path.join(folder, f".{name}.lock")
    handle = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)
    try:
        deadline = time.monotonic() + timeout
        pause = 0.002
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() >= deadline:
                    raise TimeoutError(errno.ETIMEDOUT, _held(handle, timeout), lock) from None
                time.sleep(pause)
                pause = min(pause * 1.5, 0.05)
        os.ftruncate(handle, 0)
        os.pwrite(handle, f"{os.getpid()}\n".encode(), 0)
        yield
    finally:
        os.close(handle)


def _held(handle: int, timeout: float) -> str:
    holder = os.pread(handle, 32, 0).decode("ascii", "replace").strip()
    who = f"process {holder}" if holder.isdecimal() else "another process"
    return f"{who} has held the lock for {timeout:g} s; try again, or end it"


def _stem(name: str) -> str:
    return f".{name}."
