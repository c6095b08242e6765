"""What is in a folder of the workspace, where fdc looks for protected files and secrets before and after a command."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from ..named_tuples import NamedTuple

LONGEST = 3800
"""Bytes of the longest path of a folder that is searched: Linux takes 4,096 bytes, with the names of two entries below."""


class Row(NamedTuple):
    """An entry: its name, whether it is a folder, a symbolic link (to a file or a folder), a socket or the like."""

    name: str
    folder: bool
    link: bool
    special: bool


def rows(folder: str) -> list[Row]:
    """The entries of a folder. Raises OSError: PermissionError also where it can be listed and not entered."""
    with os.scandir(folder) as found:
        out = [_row(one) for one in found]
    if not os.access(folder, os.X_OK, effective_ids=os.access in os.supports_effective_ids):
        raise PermissionError(folder)
    return out


def _row(entry: os.DirEntry[str]) -> Row:
    folder, link = entry.is_dir(follow_symlinks=False), entry.is_symlink()
    return Row(
        entry.name,
        folder,
        link,
        not folder and not link and not entry.is_file(follow_symlinks=False),
    )


def answers(path: str) -> bool:
    """Whether a program listens at a socket of this path. What it does for a command, it does outside of the sandbox."""
    import socket

    try:
        handle = os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        for kind in (socket.SOCK_STREAM, socket.SOCK_SEQPACKET, socket.SOCK_DGRAM):
            with socket.socket(socket.AF_UNIX, kind) as tried:
                tried.setblocking(False)
                found = tried.connect_ex(f"/proc/self/fd/{handle}")
            if found in (0, errno.EAGAIN, errno.EINPROGRESS):
                return True
        return False
    finally:
        os.close(handle)


def too_long(path: str) -> bool:
    """True for a folder with so long an absolute path that the system cannot open by a path what is in it."""
    return len(path) > LONGEST // 4 and len(os.fsencode(path)) > LONGEST


def may_be_entered(folder: str) -> bool:
    """Whether a command can get to what is in a folder that this process may not list: by name, or after a `chmod`."""
    try:
        return os.stat(folder).st_uid == os.geteuid() or os.access(folder, os.X_OK)
    except OSError:
        return False


def opened_again(root: str, folder: str) -> bool:
    """Gives the owner of a folder its rights, so that it can be looked into, or moved; False where that changes nothing."""
    try:
        with beneath(root, folder) as handle:
            mode = os.fstat(handle).st_mode
            os.chmod(f"/proc/self/fd/{handle}", stat.S_IMODE(mode) | stat.S_IRWXU)
    except OSError:
        return False
    return mode & stat.S_IRWXU != stat.S_IRWXU


@contextmanager
def beneath(root: str, path: str, make: bool = False) -> Iterator[int]:
    """A descriptor of a folder whose absolute path begins with that of `root`; another command may put a link anywhere.

    `make`: with the folders that are missing. Raises OSError; NotADirectoryError where a link or a file is in the way.
    """
    step = os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC
    at = os.open(root, step)
    try:
        for name in filter(None, path[len(root) + 1 :].split("/")):
            below = _below(name, at, step | os.O_NOFOLLOW, make)
            os.close(at)
            at = below
        yield at
    finally:
        os.close(at)


def _below(name: str, above: int, how: int, make: bool) -> int:
    for _ in range(100 if make else 0):  # another command may take it away again while it is empty
        try:
            return os.open(name, how, dir_fd=above)
        except FileNotFoundError:
            with suppress(FileExistsError):
                os.mkdir(name, dir_fd=above)
    return os.open(name, how, dir_fd=above)
