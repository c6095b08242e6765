"""Opens files and folders by descriptors, relative to the parent folder and without following links."""

from __future__ import annotations

import errno
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Literal

from ..failure import ToolFailure, from_os

FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
FILE = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC

Mode = Literal["create", "write", "edit"]


def made(name: str, above: int) -> int:
    """A descriptor of a new folder. Others may make it too, or take it away again while it is empty (`writable.withdraw`)."""
    for _ in range(100):
        try:
            os.mkdir(name, dir_fd=above)
        except FileExistsError:
            pass
        os.fsync(above)
        try:
            return os.open(name, FOLDER, dir_fd=above)
        except FileNotFoundError:
            continue
    raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), name)


@contextmanager
def said(path: str) -> Iterator[None]:
    """Converts OS errors to messages."""
    try:
        yield
    except OSError as failed:
        if failed.errno in (errno.ELOOP, errno.EMLINK, errno.ENOTDIR):
            raise ToolFailure("path", f"`{path}` goes through a symbolic link or a file") from None
        if failed.errno == errno.ENOENT:
            raise ToolFailure("missing", f"`{path}` does not exist") from None
        raise from_os(failed, f"`{path}`") from failed
    except UnicodeEncodeError:
        raise ToolFailure("path", "the path is not UTF-8 text") from None


def replaceable(path: str, name: str, above: int, mode: Mode) -> int | None:
    """The permissions of the file that is there, without those to run it as its owner or group; None where there is none.

    Raises for what may not be written.
    """
    try:
        found = os.stat(name, dir_fd=above, follow_symlinks=False)
    except FileNotFoundError:
        if mode == "edit":
            raise ToolFailure("missing", f"`{path}` does not exist") from None
        return None
    if not stat.S_ISREG(found.st_mode):
        raise ToolFailure("file", f"`{path}` is not a regular file")
    if found.st_nlink > 1 and mode != "create":
        raise ToolFailure(
            "file", f"`{path}` has a second name (a hard link), so fdc does not write it"
        )
    return stat.S_IMODE(found.st_mode) & ~(stat.S_ISUID | stat.S_ISGID)


def fill(name: str, data: bytes, above: int, permissions: int | None) -> None:
    """Makes a new file and forces it to the disk."""
    unlink(name, above)  # an earlier attempt of the same step was killed here
    handle = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | FILE, 0o666, dir_fd=above)
    with open(handle, "wb") as file:
        if permissions is not None:
            os.fchmod(handle, permissions)
        file.write(data)
        file.flush()
        os.fsync(handle)


def second_name(name: str, above: int, target: str, below: int, path: str) -> None:
    """Lets a file have another name too, which must be free: so nothing is ever overwritten."""
    try:
        os.link(name, target, src_dir_fd=above, dst_dir_fd=below, follow_symlinks=False)
    except FileExistsError:
        raise ToolFailure("exists", f"`{path}` already exists") from None
    except OSError as failed:
        if failed.errno not in (errno.EPERM, errno.EOPNOTSUPP, errno.EMLINK):
            raise
        # A file system without hard links: the look and the move are two steps there.
        if _exists(target, below):
            raise ToolFailure("exists", f"`{path}` already exists") from None
        os.rename(name, target, src_dir_fd=above, dst_dir_fd=below)


def _exists(name: str, above: int) -> bool:
    try:
        os.stat(name, dir_fd=above, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def unlink(name: str, above: int) -> None:
    """Removes a name, if it exists."""
    try:
        os.unlink(name, dir_fd=above)
    except FileNotFoundError:
        pass


def move_to(name: str, above: int, target: str) -> None:
    """Moves what a command made, to a path: its owner may be kept from writing the folder that it is in, or the folder that it
    is, and gets these rights again. Raises OSError."""
    try:
        os.rename(name, target, src_dir_fd=above)
        return
    except OSError as failed:
        if failed.errno not in (errno.EACCES, errno.EPERM, errno.EXDEV):
            raise
    with suppress(PermissionError):  # it is somebody else's, who lets others write it
        os.fchmod(above, stat.S_IMODE(os.fstat(above).st_mode) | stat.S_IRWXU)
    with suppress(NotADirectoryError), _entered(name, above):
        pass
    try:
        os.rename(name, target, src_dir_fd=above)
    except OSError as failed:
        if failed.errno != errno.EXDEV:
            raise
        _copy_away(name, above, target)


def _copy_away(name: str, above: int, target: str) -> None:
    """Moves to another file system. Of pipes, sockets and devices nothing is kept."""
    mode = os.stat(name, dir_fd=above, follow_symlinks=False).st_mode
    if stat.S_ISDIR(mode):
        os.mkdir(target)
        with _entered(name, above) as folder:
            for below in os.listdir(folder):
                _copy_away(below, folder, os.path.join(target, below))
        os.rmdir(name, dir_fd=above)
        return
    if stat.S_ISLNK(mode):
        os.symlink(os.readlink(name, dir_fd=above), target)
    elif stat.S_ISREG(mode):
        source = os.open(name, os.O_PATH | FILE, dir_fd=above)
        try:
            os.chmod(f"/proc/self/fd/{source}", stat.S_IRUSR | stat.S_IWUSR)
            shutil.copyfile(f"/proc/self/fd/{source}", target)
        finally:
            os.close(source)
    os.unlink(name, dir_fd=above)


@contextmanager
def _entered(name: str, above: int) -> Iterator[int]:
    """A descriptor of a folder, whose owner gets all rights first."""
    handle = os.open(name, os.O_PATH | FOLDER, dir_fd=above)
    try:
        os.chmod(f"/proc/self/fd/{handle}", stat.S_IRWXU)
    finally:
        os.close(handle)
    handle = os.open(name, FOLDER, dir_fd=above)
    try:
        yield handle
    finally:
        os.close(handle)
