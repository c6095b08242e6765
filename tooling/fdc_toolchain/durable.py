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
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress

LOCK_TIMEOUT = 30.0
"""Seconds that a writer waits for the one before it."""


def read(path: str, *, limit: int = 64 * 1024 * 1024) -> bytes | None:
    """The bytes of a regular file, or None where there is none.

    Raises OSError for anything else that can lie there (a folder, a pipe, a device), for more than
    `limit` bytes, and where the system refuses.
    """
    try:
        handle = os.open(
            path, os.O_RDONLY | os.O_NONBLOCK
        )  # a pipe must not make us wait for its writer
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError(errno.EINVAL, "it is not a regular file", path)
    with open(handle, "rb") as file:
        data = file.read(limit + 1)
    if len(data) > limit:
        raise OSError(errno.EFBIG, f"more than {limit} bytes", path)
    return data


def inside(root: str, path: str) -> str:
    """The real path of a file or folder that fdc keeps in the workspace `root`, links followed.

    A clone can bring links of any name. Raises OSError for one that leads out of the workspace.
    """
    top = os.path.realpath(root)
    real = os.path.realpath(os.path.join(top, *path.split("/")))
    if not real.startswith(f"{top.rstrip('/')}/"):
        raise OSError(errno.EPERM, "it is a link out of the workspace", os.path.join(root, path))
    return real


@contextmanager
def named(path: str) -> Iterator[None]:
    """Errors of the system in it name this file: a full disk names none, and the name of a temporary file says nothing."""
    try:
        yield
    except OSError as failed:
        failed.filename = path
        raise


def replace(path: str, data: bytes) -> None:
    """Makes `data` the content of `path`, all of it or nothing, and survives a power cut afterwards.

    An existing file keeps its permissions. Raises OSError; the temporary file is gone then.
    """
    temporary = _staged(path, data)
    try:
        with named(path):
            os.replace(temporary, path)
    except BaseException:
        _unlink(temporary)
        raise
    sync_folder(os.path.dirname(path))


def output(path: str, data: bytes) -> None:
    """Writes what a person asked for to the place that the person named: as `replace`, so a file takes the place of a link.

    What is no file (a pipe, a device, `/dev/stdout`) is written to, and stays what it is. Raises OSError.
    """
    if not _is_stream(path):
        replace(path, data)
        return
    handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_NOCTTY | os.O_CLOEXEC)
    with open(handle, "wb") as file:
        file.write(data)


def _is_stream(path: str) -> bool:
    """Whether a path names something that takes bytes and is not a file of this name."""
    if os.path.abspath(path).startswith(("/dev/fd/", "/dev/std", "/proc/")):
        return True
    try:
        kind = os.stat(path).st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(kind) or stat.S_ISDIR(kind))


def replace_all(
    files: Mapping[str, bytes], remove: Iterable[str] = (), last: Mapping[str, bytes] | None = None
) -> None:
    """Makes each path's bytes its content, in that order, then removes the files in `remove`, then does the same with
    those in `last`, which say that the others are as they should be: all of it or nothing.

    What may fail is done before the first file takes its name. Folders that are not there are made.
    Raises OSError; every file holds its old bytes then. A kill between two files leaves each of them
    whole, the first ones new: who calls this must be able to do it again.
    """
    remove, last = tuple(remove), last or {}
    before = {path: read(path) for path in (*files, *remove, *last)}
    staged: dict[str, str] = {}
    begun: list[str] = []
    folders: list[str] = []
    try:
        for path, data in (*files.items(), *last.items()):
            folders += _absent(os.path.dirname(path))
            os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
            _sweep_dead(path)
            staged[path] = _staged(path, data)
        for path in (*files, *remove, *last):
            begun.append(path)
            if path in staged:
                with named(path):
                    os.replace(staged[path], path)
                del staged[path]
            else:
                _unlink(path)
    except BaseException:
        for temporary in staged.values():
            _unlink(temporary)
        for path in reversed(begun):
            old = before[path]
            if old is None:
                _unlink(path)
            elif read(path) != old:
                replace(path, old)
        for folder in reversed(folders):
            with suppress(OSError):  # another process may use it already
                os.rmdir(folder)
        raise
    for folder in sorted({os.path.dirname(path) for path in before}):
        sync_folder(folder)


def _absent(folder: str) -> list[str]:
    """The folders that are to be made for this one, the topmost first."""
    found: list[str] = []
    while folder and not os.path.lexists(folder):
        found.insert(0, folder)
        folder = os.path.dirname(folder)
    return found


def new_folder(path: str, files: Mapping[str, bytes]) -> None:
    """Makes a folder at `path` (absolute) with the files, by their paths in it: all of it or nothing, also for a kill.

    An empty folder of that name gives way. Raises OSError, for one that is not empty too.
    """
    import shutil  # costs more than the rest of this file, and few need it

    parent, name = os.path.split(path)
    _sweep_dead(path)
    made = os.path.join(parent, f"{_stem(name)}{os.getpid()}.{time.monotonic_ns()}.tmp")
    with named(path):
        os.mkdir(made)
    try:
        with named(path):
            replace_all({os.path.join(made, inside): data for inside, data in files.items()})
            os.rename(made, path)
    except BaseException:
        shutil.rmtree(made, ignore_errors=True)
        raise
    sync_folder(parent)


def _sweep_dead(path: str) -> None:
    """Removes what writers of `path` left that were killed, and only that: another may be at work."""
    folder, name = os.path.split(path)
    stem = _stem(name)
    for entry in os.listdir(folder or "."):
        writer = entry[len(stem) :].split(".")[0]
        if (
            entry.startswith(stem)
            and entry.endswith(".tmp")
            and writer.isdecimal()
            and not _lives(int(writer))
        ):
            left = os.path.join(folder, entry)
            if os.path.isdir(left) and not os.path.islink(left):
                import shutil

                shutil.rmtree(left)
            else:
                _unlink(left)


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True


def _staged(path: str, data: bytes) -> str:
    """A temporary file beside `path` with the bytes, forced to the disk, and with the permissions of `path`, but for those
    to run it as its owner or group."""
    folder, name = os.path.split(path)
    temporary = os.path.join(folder, f"{_stem(name)}{os.getpid()}.{time.monotonic_ns()}.tmp")
    with named(path):
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o666)
    try:
        with named(path), open(handle, "wb") as file:
            try:
                os.fchmod(handle, stat.S_IMODE(os.stat(path).st_mode) & 0o1777)
            except FileNotFoundError:
                pass
            file.write(data)
            file.flush()
            os.fsync(handle)
    except BaseException:
        _unlink(temporary)
        raise
    return temporary


def _unlink(path: str) -> None:
    try:
        os.unlink(path)
    except FileNotFoundError:
        pass


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
        with suppress(OSError):  # a full disk: then nobody who waits is told who holds it
            os.pwrite(handle, f"{os.getpid()}\n".encode(), 0)
        yield
    finally:
        os.close(handle)


def is_held(path: str) -> bool:
    """Whether a living process holds the lock that is this file; not where there is none. Raises OSError."""
    import fcntl

    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return False
    except BlockingIOError:
        return True
    finally:
        os.close(handle)


def _held(handle: int, timeout: float) -> str:
    holder = os.pread(handle, 32, 0).decode("ascii", "replace").strip()
    who = f"process {holder}" if holder.isdecimal() else "another process"
    return f"{who} has held the lock for {timeout:g} s; try again, or end it"


def _stem(name: str) -> str:
    return f".{name}."
