"""The journal on disk: one SQLite file per workspace, one table keyed by (run, address, ...).

A row, once written, stays: the first writer wins, and rows are never changed. Opening a run
raises its epoch, and every append checks it, so a controller that was replaced (stopped by the
system, then woken) can write nothing more. A lock of the operating system per run keeps two
living controllers apart before it comes to that.

WAL with synchronous=FULL: what `append` returned from survives a power cut. Bodies over 64 KiB
lie once, by their content, in the table `blob`, as does the program of a run.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterator
from hashlib import blake2b
from typing import Any, NamedTuple

from ..engine.events import Record
from ..engine.ports import Fenced, WorldFailed
from ..program.codec import canonical, encode, load

BLOB_OVER = 64 * 1024
BUSY_MS = 10_000
ENGINE = 1
"""The version of what records mean. A run is only taken up by an fdc that knows its version."""

_SCHEMA = """
CREATE TABLE IF NOT EXISTS run(
  id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, engine INTEGER NOT NULL, plan TEXT NOT NULL,
  program TEXT NOT NULL, inputs TEXT NOT NULL, epoch INTEGER NOT NULL DEFAULT 0,
  status TEXT NOT NULL DEFAULT 'new', ending TEXT, started REAL NOT NULL, ended REAL);
CREATE TABLE IF NOT EXISTS record(
  run INTEGER NOT NULL, address TEXT NOT NULL, kind TEXT NOT NULL, turn INTEGER NOT NULL, seq INTEGER NOT NULL,
  tool TEXT NOT NULL, request TEXT NOT NULL, at REAL NOT NULL, body TEXT, blob TEXT,
  PRIMARY KEY(run, address, kind, turn)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS blob(hash TEXT PRIMARY KEY, bytes BLOB NOT NULL) WITHOUT ROWID;
"""

_INSERT = "INSERT INTO record SELECT ?1,?2,?3,?4,?5,?6,?7,?8,?9,?10 FROM run WHERE id=?1 AND epoch=?11"


_COLUMNS = "id, name, engine, plan, program, inputs, epoch, status, ending, started, ended"


class RunRow(NamedTuple):
    """What the journal says of a run as a whole. Times are seconds since 1970."""

    id: int
    name: str
    engine: int
    plan: str
    digest: str
    inputs: dict[str, Any]
    epoch: int
    status: str
    ending: dict[str, Any] | None
    started: float
    ended: float | None


class Store:
    """All runs of one workspace. Use from one thread. Raises WorldFailed where the file refuses."""

    def __init__(self, path: str, *, readonly: bool = False) -> None:
        self.path = path
        try:
            where = f"file:{_quoted(path)}?mode=ro" if readonly else path
            self._db = sqlite3.connect(where, uri=readonly, isolation_level=None)
        except sqlite3.Error as failed:
            raise _world(failed, path) from failed
        try:
            self._db.execute(f"PRAGMA busy_timeout={BUSY_MS}")
            if readonly:
                self._db.execute("SELECT 1 FROM run LIMIT 1")
            else:
                mode = self._db.execute("PRAGMA journal_mode=WAL").fetchone()[0]
                if mode != "wal":
                    raise WorldFailed(f"{path}: this file system cannot keep a write-ahead log ({mode})")
                self._db.execute("PRAGMA synchronous=FULL")
                self._db.executescript(_SCHEMA)
        except sqlite3.Error as failed:
            self._db.close()
            raise _world(failed, path) from failed
        except WorldFailed:
            self._db.close()
            raise

    def close(self) -> None:
        """Releases the file."""
        self._db.close()

    def create(self, name: str, plan: str, program: dict[str, Any], inputs: dict[str, Any], now: float) -> None:
        """Records a new run before anything of it happens. Raises WorldFailed, also for a name in use."""
        with self._transaction():
            digest = self._put(encode(program))
            self._db.execute(
                "INSERT INTO run(name, engine, plan, program, inputs, started) VALUES(?,?,?,?,?,?)",
                (name, ENGINE, plan, digest, canonical(inputs), now),
            )

    def run(self, name: str) -> RunRow | None:
        """The run of exactly this name."""
        found = list(self._rows("WHERE name=?", (name,)))
        return found[0] if found else None

    def runs(self, prefix: str = "") -> list[RunRow]:
        """The runs whose names start with `prefix`, the oldest first."""
        return list(self._rows("WHERE substr(name, 1, length(?1))=?1 ORDER BY id", (prefix,)))

    def program(self, row: RunRow) -> dict[str, Any]:
        """The program that a run executes, checked against its digest.

        Raises WorldFailed when the stored bytes are not those of the digest, ProgramError when
        they are no program.
        """
        return load(self._get(row.digest))

    def count(self, row: RunRow, kind: str = "outcome") -> int:
        """How many records of a kind a run has."""
        try:
            found = self._db.execute("SELECT count(*) FROM record WHERE run=? AND kind=?", (row.id, kind))
            return int(found.fetchone()[0])
        except sqlite3.Error as failed:
            raise _world(failed, self.path) from failed

    def records(self, row: RunRow) -> list[Record]:
        """The records of a run, in the order in which they were written."""
        try:
            found = self._db.execute(
                "SELECT kind, address, turn, tool, request, at, body, blob FROM record WHERE run=? ORDER BY seq",
                (row.id,),
            )
            loads = json.loads
            return [
                Record(kind, address, turn, tool, request, at, loads(self._get(blob) if blob else body))
                for kind, address, turn, tool, request, at, body, blob in found.fetchall()
            ]
        except sqlite3.Error as failed:
            raise _world(failed, self.path) from failed
        except (ValueError, TypeError, RecursionError) as damage:
            raise WorldFailed(f"{self.path}: a record of the run {row.name} is damaged: {damage}") from damage

    def claim(self, row: RunRow) -> RunJournal:
        """Takes a run over: whoever held it before can write no more. The caller holds the run's lock."""
        with self._transaction():
            self._db.execute("UPDATE run SET epoch=epoch+1, status='running' WHERE id=?", (row.id,))
            epoch = self._db.execute("SELECT epoch FROM run WHERE id=?", (row.id,)).fetchone()[0]
            seq = self._db.execute("SELECT coalesce(max(seq), 0) FROM record WHERE run=?", (row.id,)).fetchone()[0]
        return RunJournal(self, row.id, epoch, seq)

    def _rows(self, where: str, values: tuple[Any, ...]) -> Iterator[RunRow]:
        try:
            found = self._db.execute(f"SELECT {_COLUMNS} FROM run {where}", values).fetchall()
        except sqlite3.Error as failed:
            raise _world(failed, self.path) from failed
        for row in found:
            plain = RunRow(*row)
            ending = None if plain.ending is None else json.loads(row[8])
            yield plain._replace(inputs=json.loads(row[5]), ending=ending)

    def _put(self, data: bytes) -> str:
        name = blake2b(data, digest_size=32).hexdigest()
        self._db.execute("INSERT OR IGNORE INTO blob VALUES(?,?)", (name, data))
        return name

    def _get(self, name: str) -> bytes:
        try:
            row = self._db.execute("SELECT bytes FROM blob WHERE hash=?", (name,)).fetchone()
        except sqlite3.Error as failed:
            raise _world(failed, self.path) from failed
        data = row[0] if row is not None and isinstance(row[0], bytes) else b""
        if blake2b(data, digest_size=32).hexdigest() != name:
            raise WorldFailed(f"{self.path}: the content stored as {name[:16]} is not what was written")
        return data

    def _transaction(self) -> _Transaction:
        return _Transaction(self._db, self.path)


class RunJournal:
    """The journal of one run in the hands of one controller (port `engine.ports.Journal`)."""

    def __init__(self, store: Store, run: int, epoch: int, seq: int) -> None:
        self._store = store
        self._db = store._db
        self._run = run
        self._seq = seq
        self.epoch = epoch

    def append(self, records: list[Record]) -> None:
        """Makes all records durable in one commit. Raises Fenced or WorldFailed; then none was written."""
        if len(records) == 1:
            body = canonical(records[0].body)
            if len(body) <= BLOB_OVER:
                try:
                    self._insert(records[0], body, None)
                except sqlite3.Error as failed:
                    raise _world(failed, self._store.path) from failed
                self._seq += 1
                return
        before = self._seq
        try:
            with self._store._transaction():
                for record in records:
                    body = canonical(record.body)
                    if len(body) > BLOB_OVER:
                        self._insert(record, None, self._store._put(body.encode("ascii")))
                    else:
                        self._insert(record, body, None)
                    self._seq += 1
        except BaseException:
            self._seq = before
            raise

    def close_run(self, status: str, ending: dict[str, Any], ended: float) -> None:
        """Says how driving ended. Raises Fenced or WorldFailed."""
        with self._store._transaction():
            changed = self._db.execute(
                "UPDATE run SET status=?, ending=?, ended=? WHERE id=? AND epoch=?",
                (status, canonical(ending), ended, self._run, self.epoch),
            )
            if not changed.rowcount:
                raise Fenced("another controller has taken this run over")

    def _insert(self, record: Record, body: str | None, blob: str | None) -> None:
        kind, address, turn, tool, request, at, _ = record
        row = (self._run, address, kind, turn, self._seq + 1, tool, request, at, body, blob, self.epoch)
        try:
            written = self._db.execute(_INSERT, row).rowcount
        except sqlite3.IntegrityError:
            raise Fenced(f"another controller has written the {kind} of {address}") from None
        if not written:
            raise Fenced("another controller has taken this run over")


class _Transaction:
    """BEGIN IMMEDIATE to COMMIT, or back; SQLite's troubles leave as WorldFailed."""

    def __init__(self, db: sqlite3.Connection, path: str) -> None:
        self._db = db
        self._path = path

    def __enter__(self) -> None:
        try:
            self._db.execute("BEGIN IMMEDIATE")
        except sqlite3.Error as failed:
            raise _world(failed, self._path) from failed

    def __exit__(self, kind: object, raised: BaseException | None, trace: object) -> None:
        try:
            if raised is None:
                self._db.execute("COMMIT")
                return
        except sqlite3.Error as failed:
            self._back()
            raise _world(failed, self._path) from failed
        self._back()
        if isinstance(raised, sqlite3.Error):
            raise _world(raised, self._path) from raised

    def _back(self) -> None:
        if self._db.in_transaction:
            try:
                self._db.execute("ROLLBACK")
            except sqlite3.Error:
                pass  # the connection is of no more use, and the file holds no half of it


def _quoted(path: str) -> str:
    from urllib.parse import quote

    return quote(os.path.abspath(path))


def _world(failed: sqlite3.Error, path: str) -> WorldFailed:
    return WorldFailed(f"{path}: {failed}")
