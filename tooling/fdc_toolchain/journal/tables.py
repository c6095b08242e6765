"""The journal's tables, and how an older file is brought up to date.

`user_version` of the file says which form it has. A file whose tables are not exactly those of its
version is not touched: a clone could bring one with triggers of its own.
"""

from __future__ import annotations

import sqlite3

from ..engine.ports import WorldFailed
from . import hash_chain

VERSION = 2

_RUN = """CREATE TABLE run(
  id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, engine INTEGER NOT NULL, plan TEXT NOT NULL,
  program TEXT NOT NULL, inputs TEXT NOT NULL, origin TEXT, started REAL NOT NULL,
  epoch INTEGER NOT NULL, status TEXT NOT NULL, ending TEXT, ended REAL,
  seq INTEGER NOT NULL, head BLOB NOT NULL, digest BLOB NOT NULL)"""
_RECORD = """CREATE TABLE record(
  run INTEGER NOT NULL, address TEXT NOT NULL, kind TEXT NOT NULL, turn INTEGER NOT NULL, seq INTEGER NOT NULL,
  tool TEXT NOT NULL, request TEXT NOT NULL, at REAL NOT NULL, body TEXT, blob TEXT, link BLOB NOT NULL,
  PRIMARY KEY(run, address, kind, turn)) WITHOUT ROWID"""
_BLOB = "CREATE TABLE blob(hash TEXT PRIMARY KEY, bytes BLOB NOT NULL) WITHOUT ROWID"
TABLES = {"run": _RUN, "record": _RECORD, "blob": _BLOB}

_FIRST = {
    "run": """CREATE TABLE run(
  id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, engine INTEGER NOT NULL, plan TEXT NOT NULL,
  program TEXT NOT NULL, inputs TEXT NOT NULL, epoch INTEGER NOT NULL DEFAULT 0,
  status TEXT NOT NULL DEFAULT 'new', ending TEXT, started REAL NOT NULL, ended REAL)""",
    "record": """CREATE TABLE record(
  run INTEGER NOT NULL, address TEXT NOT NULL, kind TEXT NOT NULL, turn INTEGER NOT NULL, seq INTEGER NOT NULL,
  tool TEXT NOT NULL, request TEXT NOT NULL, at REAL NOT NULL, body TEXT, blob TEXT,
  PRIMARY KEY(run, address, kind, turn)) WITHOUT ROWID""",
    "blob": _BLOB,
}

OWNER = "id, name, engine, plan, program, inputs, origin, started, epoch, status, ending, ended, seq, head, digest"
ROW = "kind, address, turn, seq, tool, request, at, body, blob, link"

INSERT = (
    f"INSERT INTO record SELECT {','.join('?' * 11)} FROM run WHERE id=? AND epoch=? AND name=?"
)
"""Inserts one record while the run has the writer's epoch and name (numbers of removed runs are used again)."""
HELD = "SELECT 1 FROM run WHERE id=? AND epoch=? AND name=?"
_VALUES = f"({','.join('?' * 11)})"
TOGETHER = {many: f"INSERT INTO record VALUES{','.join([_VALUES] * many)}" for many in (64, 16, 4)}
"""Inserts so many records, in a transaction that has selected `HELD`. At most 999 parameters, SQLite's old limit."""


class Older(WorldFailed):
    """The file was written by an older fdc, and is open for reading only."""


class Empty(WorldFailed):
    """The file has no tables: making them failed."""


def prepare(db: sqlite3.Connection, path: str, *, readonly: bool) -> None:
    """Makes the tables, or brings older ones up to date, in one transaction. Raises WorldFailed and sqlite3.Error."""
    db.execute("PRAGMA trusted_schema=OFF")
    if _version(db) != VERSION:
        if readonly:
            if _version(db) == 0 and not _tables(db):
                raise Empty(f"{path}: it is empty")
            if _version(db) < VERSION and _tables(db) == _plain(_FIRST):
                raise Older(
                    f"{path}: written by an older fdc; any command that writes brings it up to date"
                )
        else:
            _write(db, path)
    version, definitions = _version(db), _tables(db)
    if version > VERSION:
        raise WorldFailed(
            f"{path}: written by a newer fdc (journal {version}, this one knows {VERSION})"
        )
    if version != VERSION or definitions != _plain(TABLES):
        raise WorldFailed(f"{path}: this is not a journal of fdc; move it away")


def _write(db: sqlite3.Connection, path: str) -> None:
    db.execute("BEGIN IMMEDIATE")
    try:
        version, definitions = _version(db), _tables(db)  # another process may have been faster
        if version == 0 and not definitions:
            _create(db)
        elif version == 0 and definitions == _plain(_FIRST):
            try:
                _upgrade(db)
            except (TypeError, ValueError) as wrong:
                raise WorldFailed(
                    f"{path}: a record of an older fdc is damaged: {wrong}"
                ) from wrong
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise


def _create(db: sqlite3.Connection) -> None:
    for table in TABLES.values():
        db.execute(table)
    db.execute(f"PRAGMA user_version={VERSION}")


def _upgrade(db: sqlite3.Connection) -> None:
    """Journals of version 0.1 had no chain. Their runs get one, and no seal: it is unknown who wrote them."""
    db.execute("ALTER TABLE run RENAME TO run_1")
    db.execute("ALTER TABLE record RENAME TO record_1")
    db.execute("ALTER TABLE blob RENAME TO blob_1")
    _create(db)
    db.execute("INSERT INTO blob SELECT * FROM blob_1")
    old = "SELECT id, name, engine, plan, program, inputs, NULL, started, epoch, status, ending, ended FROM run_1"
    for columns in db.execute(old).fetchall():
        owner = hash_chain.Owner._make((*columns, 0, b"", b""))
        link = hash_chain.beginning(owner)
        seq = 0
        rows = "SELECT kind, address, turn, seq, tool, request, at, body, blob FROM record_1 WHERE run=? ORDER BY seq"
        for row in db.execute(rows, (owner.id,)).fetchall():
            seq += 1
            link = hash_chain.link(link, (*row[:3], seq, *row[4:]), None)
            kind, address, turn, _, tool, request, at, body, blob = row
            values = (owner.id, address, kind, turn, seq, tool, request, at, body, blob, link)
            db.execute(f"INSERT INTO record VALUES({','.join('?' * 11)})", values)
        owner = owner._replace(seq=seq, head=link)
        owner = owner._replace(digest=hash_chain.digest_of(owner, None))
        db.execute(f"INSERT INTO run({OWNER}) VALUES({','.join('?' * len(owner))})", owner)
    for name in ("run_1", "record_1", "blob_1"):
        db.execute(f"DROP TABLE {name}")


def _version(db: sqlite3.Connection) -> int:
    return int(db.execute("PRAGMA user_version").fetchone()[0])


def _tables(db: sqlite3.Connection) -> dict[str, str]:
    definitions = db.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL").fetchall()
    return _plain(dict(definitions))


def _plain(tables: dict[str, str]) -> dict[str, str]:
    return {name: " ".join(text.split()) for name, text in tables.items()}
