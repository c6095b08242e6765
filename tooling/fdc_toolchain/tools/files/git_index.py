"""The index of a repository, changed in a copy that replaces it: a git command that is killed leaves no lock of git behind.

git holds `index.lock` while it works, and whoever finds this file cannot know whether its git still runs. So a git command of
fdc works on a copy, with a lock of its own. `index.lock` is fdc's, names the step, and is taken again when the step is repeated.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import blake2b

from ...workspace.access.descriptors import (
    FILE,
    FOLDER,
    fill,
    replaceable,
    said,
    second_name,
    unlink,
)
from ...workspace.failure import ToolFailure

_LOCK = "index.lock"


@contextmanager
def changed(own: str, key: str) -> Iterator[str]:
    """A copy of the index of the repository `own`, as a path, which becomes the index at the end. Raises ToolFailure where
    another git command holds the index."""
    with _folder(own) as folder:
        _lock(folder, key)
        try:
            with _copied(own, key, folder) as (copy, before):
                yield os.path.join(own, copy)
                if _stamp(copy, folder) != before:
                    os.replace(copy, "index", src_dir_fd=folder, dst_dir_fd=folder)
                    os.fsync(folder)
        finally:
            unlink(_LOCK, folder)


@contextmanager
def copied(own: str, key: str) -> Iterator[str]:
    """A copy of the index for a git command that only reads it, and would lock it to note what it found."""
    with _folder(own) as folder, _copied(own, key, folder) as (copy, _):
        yield os.path.join(own, copy)


def lock_exists(path: str) -> ToolFailure:
    """The failure of a step that found a lock of git."""
    return ToolFailure(
        "git",
        f"`{path}` exists: another git command is running, or one was killed and left this file. If none is running, delete it",
    )


@contextmanager
def _folder(own: str) -> Iterator[int]:
    with said(".git"):
        folder = os.open(own, FOLDER)
        try:
            yield folder
        finally:
            os.close(folder)


@contextmanager
def _copied(own: str, key: str, folder: int) -> Iterator[tuple[str, tuple[int, int] | None]]:
    """The name of the copy, and what tells whether it was changed. The times are kept: git compares those of files with them."""
    copy = f"fdc-{_mark(key)}.index"
    left = (copy, f"{copy}.lock")
    for name in left:  # an earlier attempt of the same step was killed here
        unlink(name, folder)
    try:
        mode = replaceable(".git/index", "index", folder, "create")
        if mode is not None:
            source = os.open("index", os.O_RDONLY | FILE, dir_fd=folder)
            with open(source, "rb") as old:
                flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | FILE
                with open(os.open(copy, flags, mode, dir_fd=folder), "wb") as new:
                    shutil.copyfileobj(old, new)
                    new.flush()
                    os.fchmod(new.fileno(), mode)
                    status = os.fstat(source)
                    os.utime(new.fileno(), ns=(status.st_atime_ns, status.st_mtime_ns))
        yield copy, _stamp(copy, folder)
    finally:
        for name in left:
            unlink(name, folder)


def _lock(folder: int, key: str) -> None:
    """Takes git's lock of the index, whole or not at all: no other program is told a half-written name."""
    text, made = f"fdc {key}\n".encode("utf-8", "surrogateescape"), f"fdc-{_mark(key)}.lock"
    try:
        fill(made, text, folder, None)
        second_name(made, folder, _LOCK, folder, f".git/{_LOCK}")
    except ToolFailure:  # it exists
        if _held(folder) != text:
            raise lock_exists(f".git/{_LOCK}") from None
    finally:
        unlink(made, folder)


def _held(folder: int) -> bytes:
    """The beginning of the lock's text; empty where it is gone or no file."""
    try:
        with open(os.open(_LOCK, os.O_RDONLY | FILE, dir_fd=folder), "rb") as file:
            return file.read(4096)
    except OSError:
        return b""


def _stamp(name: str, folder: int) -> tuple[int, int] | None:
    try:
        status = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None
    return status.st_ino, status.st_mtime_ns


def _mark(key: str) -> str:
    return blake2b(key.encode("utf-8", "surrogateescape"), digest_size=9).hexdigest()
