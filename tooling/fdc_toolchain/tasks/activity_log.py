"""The activity log on the disk: whole lines only, also with several writers at once (FDC-108)."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

from .. import durable
from .activity import LOG, Entry, History, line, read


def append(root: str, *entries: Entry, sync: bool = True) -> None:
    """Adds entries to the log of the workspace at `root`, all or none of them, each on a line of its own.

    Without `sync` a power cut may lose them: for entries that can be made again. Raises
    ValidationError before anything is written, TimeoutError if the lock stays taken, and OSError.
    """
    data = b"".join(map(line, entries))
    path = _path(root)
    with durable.exclusive(path):
        _write(path, data, sync)


def transact(root: str, choose: Callable[[History], Sequence[Entry]]) -> Sequence[Entry]:
    """Appends the entries that `choose` returns for the log so far, and returns them. No other process writes in between.

    Raises what `append` and `choose` raise; nothing is written then.
    """
    path = _path(root)
    with durable.exclusive(path):
        entries = choose(read(durable.read(path, limit=1 << 30) or b""))
        _write(path, b"".join(map(line, entries)))
    return entries


def history(root: str) -> History:
    """The entries of a workspace's log; none where there is no log. Raises OSError."""
    return read(content(root))


def content(root: str) -> bytes:
    """The bytes of the log; empty where there is none. Raises OSError."""
    return durable.read(durable.inside(root, LOG), limit=1 << 30) or b""


def sync(root: str) -> None:
    """Forces to the disk what was appended without `sync`. Raises OSError."""
    handle = os.open(_path(root), os.O_RDWR | os.O_CREAT, 0o666)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
    durable.sync_folder(os.path.dirname(_path(root)))


def _path(root: str) -> str:
    path = durable.inside(root, LOG)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    return path


def _write(path: str, data: bytes, sync: bool = True) -> None:
    if not data:
        return
    handle = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o666)
    try:
        size = os.fstat(handle).st_size
        if size and os.pread(handle, 1, size - 1) != b"\n":
            data = (
                b"\n" + data
            )  # a writer that was killed left a torn line: it stays one, and ours is whole
        try:
            with durable.named(path):
                rest = memoryview(data)
                while rest:
                    rest = rest[os.write(handle, rest) :]
                if sync:
                    os.fsync(handle)
        except OSError:
            os.ftruncate(handle, size)
            raise
    finally:
        os.close(handle)
    if sync and not size:
        durable.sync_folder(os.path.dirname(path))
