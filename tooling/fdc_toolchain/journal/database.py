"""The database of the runs: statements, transactions, and contents that are stored once by their hash."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import blake2b
from typing import Any

from ..engine.ports import WorldFailed
from ..exits import reason
from . import tables
from .row_shape import is_text


class DiskFull(WorldFailed):
    """There is no room for what a transaction writes; the file has none of it."""


class Database:
    """An open database. Use from one thread. Raises WorldFailed where it refuses.

    `key` seals what is written, and tells whose seals those are that are found (`journal.user_key`).
    """

    path: str
    key: bytes | None
    _db: sqlite3.Connection

    insert = tables.INSERT
    held = tables.HELD
    begin_reading = "BEGIN"
    counted = False
    """Whether this machine notes how far its runs went (`journal.counter`)."""

    def close(self) -> None:
        """Releases the file."""
        self._db.close()

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Inside it, all reads see the same state of the database. Raises WorldFailed."""
        if self._db.in_transaction:
            yield
            return
        try:
            self._db.execute(self.begin_reading)
            try:
                yield
            finally:
                self._db.execute("ROLLBACK")
        except sqlite3.Error as failed:
            raise world_failed(failed, self.path) from failed

    def _select(self, query: str, values: tuple[Any, ...] = ()) -> list[Any]:
        """The rows of a query; bytes that are not UTF-8 become surrogates."""
        self._db.text_factory = _text
        try:
            return self._db.execute(query, values).fetchall()
        except sqlite3.Error as failed:
            raise world_failed(failed, self.path) from failed
        finally:
            self._db.text_factory = str

    def _content(self, name: str) -> bytes | None:
        row = self._select("SELECT bytes FROM blob WHERE hash=?", (name,)) if is_text(name) else ()
        return row[0][0] if row and isinstance(row[0][0], bytes) else None

    def _put(self, data: bytes) -> str:
        name = blake2b(data, digest_size=32).hexdigest()
        self._db.execute("INSERT INTO blob VALUES(?,?) ON CONFLICT DO NOTHING", (name, data))
        return name

    def _get(self, name: str) -> bytes:
        data = self._content(name) or b""
        if blake2b(data, digest_size=32).hexdigest() != name:
            raise WorldFailed(
                f"{self.path}: the content stored as {ascii(name[:16])[1:-1]} is not what was written"
            )
        return data

    def _transaction(self) -> Transaction:
        return Transaction(self._db, self.path)


class Transaction:
    """BEGIN IMMEDIATE to COMMIT, or ROLLBACK on an error; errors of SQLite become WorldFailed."""

    def __init__(self, db: sqlite3.Connection, path: str) -> None:
        self._db = db
        self._path = path

    def __enter__(self) -> None:
        try:
            self._db.execute("BEGIN IMMEDIATE")
        except sqlite3.Error as failed:
            raise world_failed(failed, self._path) from failed
        except BaseException:  # a signal, when the transaction had begun: nobody would end it
            self._back()
            raise

    def __exit__(self, kind: object, raised: BaseException | None, trace: object) -> None:
        try:
            if raised is None:
                self._db.execute("COMMIT")
                return
        except sqlite3.Error as failed:
            self._back()
            raise world_failed(failed, self._path) from failed
        except BaseException:
            self._back()
            raise
        self._back()
        if isinstance(raised, sqlite3.Error):
            raise world_failed(raised, self._path) from raised

    def _back(self) -> None:
        if self._db.in_transaction:
            try:
                self._db.execute("ROLLBACK")
            except sqlite3.Error:
                pass  # the connection cannot be used any more; the file has none of the changes


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def world_failed(failed: sqlite3.Error, path: str) -> WorldFailed:
    """An error of the database as WorldFailed, with the database's path."""
    said = str(failed)
    if said == "database or disk is full":
        return DiskFull(f"{path}: {said}")
    if (
        said == "disk I/O error"
    ):  # what SQLite says, too, where there is no room for its `-shm` file
        if _full(path):
            return DiskFull(f"{path}: {said} (the disk is full)")
        said += _refused(path)
    if said in ("unable to open database file", "attempt to write a readonly database"):
        said += _refused(path)
    return WorldFailed(f"{path}: {said}")


def _refused(path: str) -> str:
    """What the system refuses to somebody who opens a journal, in brackets; SQLite does not tell."""
    import tempfile

    try:
        os.close(os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC))
    except PermissionError as failed:
        return f" ({reason(failed)}{_of_another(path)})"
    except OSError as failed:
        return f" ({reason(failed)})"
    if (size := len(os.fsencode(os.path.realpath(path)))) > _LONGEST:
        return f" (its path has {size} bytes, and SQLite opens a file with at most {_LONGEST}: move the workspace)"
    folder = os.path.dirname(path) or "."
    if not os.access(folder, os.W_OK):
        return " (its folder cannot be written)"
    try:
        with tempfile.NamedTemporaryFile(dir=folder, prefix=".fdc-", buffering=0) as file:
            file.write(bytes(_ROOM))  # as SQLite makes its `-shm`
    except OSError as failed:
        return f" ({reason(failed)})"
    return ""


def _of_another(path: str) -> str:
    """Whose journal it is, if it is another user's."""
    import pwd

    try:
        owner = os.stat(path).st_uid
        if owner == os.geteuid():
            return ""
        who = pwd.getpwuid(owner).pw_name
    except OSError:
        return ""
    except KeyError:
        who = str(owner)
    return (
        f": the runs are those of the user `{who}`, and private; start yours in a clone of your own"
    )


def is_kept(path: str) -> bool:
    """Whether a journal lies complete where SQLite cannot make the file that its readers share: where nothing can be written
    (a read-only file system, an archive), or in a closed folder or on a full disk, if nobody has made that file."""
    try:
        if not _is_closed(path) and (_is_shared(f"{path}-shm") or not _no_room(path)):
            return False
        return not os.path.getsize(f"{path}-wal")
    except FileNotFoundError:
        return os.path.exists(path)
    except OSError:
        return False


def _is_closed(path: str) -> bool:
    return bool(os.statvfs(path).f_flag & os.ST_RDONLY) or not (
        os.access(path, os.W_OK) or os.access(os.path.dirname(path), os.W_OK)
    )


def _is_shared(shm: str) -> bool:
    """Whether somebody made the file that readers share; it stays shorter where the disk filled up meanwhile."""
    try:
        return os.lstat(shm).st_size >= _SHARED
    except FileNotFoundError:
        return False


def _no_room(path: str) -> bool:
    return not os.access(os.path.dirname(path) or ".", os.W_OK) or _full(path)


def _full(path: str) -> bool:
    try:
        about = os.statvfs(os.path.dirname(path) or ".")
    except OSError:
        return False
    return about.f_bavail * about.f_frsize < _ROOM


_LONGEST = 504
"""Bytes of a path for which SQLite keeps a write-ahead log beside the file (its MAX_PATHNAME, less the ending)."""

_SHARED = 32 * 1024
"""The smallest size of the `-shm` file of SQLite."""

_ROOM = 2 * _SHARED
"""Bytes that SQLite needs free to open a journal."""
