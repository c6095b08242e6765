"""The journal in PostgreSQL: the same tables, statements, chain and seals as on a file, for controllers on many machines.

`PgStore` is `journal.Store` on another connection: `_Connection` lets psycopg take the statements
that were written for sqlite3 and answer with sqlite3's errors, so that what a record means is
written down once. What differs is here:

- A record is inserted only while its run's row, locked for that moment, has the writer's epoch; a
  controller that takes a run over waits for that lock, so it reads all that the one before it wrote.
- `run` has three columns more, outside of the chain: `parent`, of a piece of a run (`runs.workers.fork_shards`),
  `cancel`, whether a user wants it cancelled, and `touched`, when the row was last written, by the server's clock.
- An advisory lock (`runs.workers.liveness`), and not a lock on a file, shows that a process drives a run.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from ..engine.events import Record
from ..engine.ports import Fenced, WorldFailed
from ..exits import UsageError
from . import tables
from .database import Transaction
from .postgres_setup import Say, alone
from .run_journal import RunJournal
from .sqlite import RunRow, Store

if TYPE_CHECKING:
    import psycopg

SCHEMA = "fdc"
_FORM = "postgresql://USER:PASSWORD@HOST/NAME"
VERSION = 2
"""Since form 2 runs belong to workspaces, and workers state which they serve; an fdc for form 1 would ignore that."""
HERE = "database=(SELECT oid FROM pg_database WHERE datname=current_database())"
"""A condition on pg_locks: the lock is one of this database. Other databases of the server use the same run numbers."""
RUN_LOCKS = 0x666463
"""The first key of the advisory locks of runs; the second is the run's number."""
LOCK_MS = 10_000
"""Milliseconds that a statement waits for another session's lock, as with SQLite."""
IDLE_MS = 5_000
"""Milliseconds until the server ends a transaction whose controller froze; others wait longer for its locks."""
_MAKING = 0x66646330

_TYPES = {
    "CREATE TABLE ": f"CREATE TABLE IF NOT EXISTS {SCHEMA}.", "REAL": "DOUBLE PRECISION", "BLOB": "BYTEA",
    " WITHOUT ROWID": "",
}  # fmt: skip


def _table(name: str, *more: str) -> str:
    """The statement for a table of the SQLite journal in PostgreSQL's words, with `more` columns."""
    text = tables.TABLES[name]
    for sqlite_word, postgres_word in _TYPES.items():
        text = text.replace(sqlite_word, postgres_word)
    return text.removesuffix(")") + "".join(f", {column}" for column in more) + ")"


_TABLES = f"""
CREATE SCHEMA IF NOT EXISTS {SCHEMA};
CREATE TABLE IF NOT EXISTS {SCHEMA}.form(version INTEGER NOT NULL);
INSERT INTO {SCHEMA}.form SELECT {VERSION} WHERE NOT EXISTS (SELECT 1 FROM {SCHEMA}.form);
UPDATE {SCHEMA}.form SET version={VERSION} WHERE version<{VERSION};
CREATE TABLE IF NOT EXISTS {
    SCHEMA
}.worker(number INTEGER PRIMARY KEY, name TEXT NOT NULL, host TEXT NOT NULL,
  folder TEXT NOT NULL, serves TEXT NOT NULL, commit TEXT);
{
    _table(
        "run",
        "parent INTEGER",
        "cancel BOOLEAN NOT NULL DEFAULT FALSE",
        "touched TIMESTAMPTZ NOT NULL DEFAULT clock_timestamp()",
    )
};
CREATE INDEX IF NOT EXISTS run_parent ON {SCHEMA}.run(parent) WHERE parent IS NOT NULL;
{_table("record")};
CREATE UNIQUE INDEX IF NOT EXISTS record_order ON {SCHEMA}.record(run, seq);
CREATE INDEX IF NOT EXISTS record_blob ON {SCHEMA}.record(blob) WHERE blob IS NOT NULL;
{_table("blob")};
"""
_STALLED = f"""SELECT {tables.OWNER} FROM run
  WHERE (status IN ('new', 'running') OR (cancel AND parent IS NULL AND status NOT IN ('finished', 'stopped', 'cancelled')))
  AND abs(extract(epoch FROM clock_timestamp() - touched)) > ? AND NOT EXISTS (
    SELECT 1 FROM pg_locks WHERE locktype='advisory' AND classid={RUN_LOCKS} AND objid=run.id AND granted AND {HERE})
  ORDER BY id"""
_NEWEST = """SELECT id, status, epoch, cancel, touched, (SELECT max(seq) FROM record WHERE run=run.id) FROM run
  WHERE parent IS NULL ORDER BY id DESC LIMIT ?"""
_HELD_NOW = f"SELECT objid::bigint FROM pg_locks WHERE locktype='advisory' AND classid={RUN_LOCKS} AND granted AND {HERE}"
_HELD = f"{_HELD_NOW} ORDER BY 1"
_UNUSED = "NOT EXISTS (SELECT 1 FROM record WHERE blob=hash) AND NOT EXISTS (SELECT 1 FROM run WHERE program=hash)"
_DRIVEN = f"SELECT 1 FROM pg_locks WHERE locktype='advisory' AND classid={RUN_LOCKS} AND objid=? AND granted AND {HERE}"


def connect(url: str) -> psycopg.Connection:
    """A connection that commits each statement by itself. Raises WorldFailed and UsageError, without the password."""
    scheme, mark, _ = url.partition("://")
    if not mark or scheme not in ("postgresql", "postgres"):
        found = f"found one of `{scheme}://`" if mark and scheme.isascii() else "this is none"
        raise UsageError(
            f"`--database` (or FDC_DATABASE) takes the URL of a PostgreSQL database, {_FORM}; {found}. Without it fdc records"
            " runs in a SQLite file of the workspace"
        )
    try:
        import psycopg
    except ImportError:
        raise WorldFailed(
            "runs on many machines need `pip install 'fdc-toolchain[distributed]'`"
        ) from None
    try:
        psycopg.conninfo.conninfo_to_dict(url)
    except psycopg.ProgrammingError as wrong:
        why = str(wrong).partition(': "')[0].strip()  # the rest quotes the URL with its password
        raise UsageError(
            f"the URL of the database is wrong: {why}. It has the form {_FORM}, with `%` and two hexadecimal digits for each"
            " special character of the password"
        ) from None
    try:
        return psycopg.connect(url, autocommit=True, connect_timeout=10, keepalives_idle=5, keepalives_interval=2,
                               keepalives_count=3, application_name="fdc")  # fmt: skip
    except psycopg.Error as failed:
        raise WorldFailed(f"{shown(url)}: {' '.join(str(failed).split())}") from failed


def shown(url: str) -> str:
    """A URL as it may be shown: host and database, no user and no password."""
    try:
        parts = urlsplit(url)
        return f"postgresql://{parts.hostname or ''}{f':{parts.port}' if parts.port else ''}{parts.path}"
    except ValueError:
        return "the database"


class PgStore(Store):
    """All runs of one database. `lost`: the connection is gone, so it is not known whether the last commit succeeded."""

    insert = tables.INSERT + " FOR SHARE"
    held = tables.HELD + " FOR SHARE"
    begin_reading = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
    every = "parent IS NULL"  # pieces are not runs of their own
    keeps_answers = False

    def __init__(self, url: str, key: bytes | None = None, say: Say | None = None) -> None:
        """Makes the tables where there are none; calls `say` if that takes long. Raises WorldFailed."""
        self.path = shown(url)
        self.key = key
        self._pg = connect(url)
        self._db: Any = _Connection(self._pg)
        try:
            self._prepare(say)
        except BaseException:
            self._pg.close()
            raise

    @property
    def lost(self) -> bool:
        """Whether the connection broke."""
        return bool(self._pg.closed)

    def create(
        self,
        name: str,
        plan: str,
        program: Mapping[str, object],
        inputs: Mapping[str, object],
        now: float,
        *,
        origin: Mapping[str, object] | None = None,
        records: Sequence[Record] = (),
        parent: int | None = None,
    ) -> None:
        """Like `Store.create`; `parent` is the number of the run that this is a piece of."""
        with self._transaction():
            self._db.execute("SELECT pg_advisory_xact_lock(?)", (_MAKING,))
            super().create(name, plan, program, inputs, now, origin=origin, records=records)
            if parent is not None:
                self._db.execute("UPDATE run SET parent=? WHERE name=?", (parent, name))

    def free(self) -> None:
        """Like `Store.free`, 500 at a time. A writer of a content keeps the table locked until the record that names it is
        written, so a content that is about to be named is not removed."""
        unused = [name for (name,) in self._select(f"SELECT hash FROM blob WHERE {_UNUSED}")]
        for at in range(0, len(unused), 500):
            with self._transaction():
                self._db.execute("LOCK TABLE blob IN SHARE ROW EXCLUSIVE MODE")
                self._db.execute(
                    f"DELETE FROM blob WHERE hash = ANY(?) AND {_UNUSED}", (unused[at : at + 500],)
                )

    def _hold(self, numbers: Sequence[int]) -> None:
        self._db.execute("SELECT pg_advisory_xact_lock(?)", (_MAKING,))
        self._select("SELECT 1 FROM run WHERE id = ANY(?) ORDER BY id FOR UPDATE", (list(numbers),))

    def in_work(self) -> set[int]:
        """The numbers of the runs that a process drives, or that have pieces."""
        return {
            number
            for (number,) in self._select(
                f"{_HELD_NOW} UNION SELECT parent FROM run WHERE parent IS NOT NULL"
            )
        }

    def pieces(self, run: int) -> list[RunRow]:
        """The pieces of a run that have not been merged into it."""
        return list(self._rows("WHERE parent=? ORDER BY id", (run,)))

    def records_after(self, row: RunRow, seq: int) -> tuple[list[Record], int]:
        """The records of a run after number `seq`, and the number of the last."""
        rows = self._select(
            f"SELECT {tables.ROW} FROM record WHERE run=? AND seq>? ORDER BY seq", (row.id, seq)
        )
        return self._records(rows, row.name), rows[-1][3] if rows else seq

    def stalled(self, seconds: float) -> list[RunRow]:
        """Runs and pieces that are not over, that no process drives, and whose rows did not change for so many seconds.

        So are runs that wait or broke and that a user wants cancelled.

        A time in the future (the server's clock was set back) counts as long ago.
        """
        return [self._row(row_columns) for row_columns in self._select(_STALLED, (float(seconds),))]

    def ask_to_cancel(self, row: RunRow) -> None:
        """Requests that a run and its pieces be cancelled; their controllers read the request.

        One row at a time, because the controllers lock the same rows in another order.
        """
        self._select("UPDATE run SET cancel=TRUE WHERE id=? RETURNING id", (row.id,))
        for (piece,) in self._select("SELECT id FROM run WHERE parent=?", (row.id,)):
            self._select("UPDATE run SET cancel=TRUE WHERE id=? RETURNING id", (piece,))

    def cancel_asked(self, row: RunRow) -> bool:
        """Whether a user wants the run cancelled."""
        return bool(self._select("SELECT 1 FROM run WHERE id=? AND cancel", (row.id,)))

    def is_driven(self, row: RunRow) -> bool:
        """True while a process on any machine drives the run."""
        return bool(self._select(_DRIVEN, (row.id,)))

    def stamp(self, most: int) -> str:
        """A digest that changes whenever one of the newest `most` runs, or the set of driven runs, changes. Cheap."""
        return blake2b(
            repr((self._select(_NEWEST, (most,)), self._select(_HELD))).encode(), digest_size=8
        ).hexdigest()

    def claim(self, row: RunRow, *, trust: bool = False) -> RunJournal:
        """Like `Store.claim`. Waits until the former controller's last write is done, and reads it."""
        with self._transaction():
            self._lock(row.id)
            return super().claim(row, trust=trust)

    def take_in(self, journal: RunJournal, piece: RunRow) -> int:
        """Moves the records of a piece into its run, in one commit; the controller of the piece can write no more.

        Returns how many. Raises Fenced, Damaged, Untrusted and WorldFailed; then all is as it was.
        """
        with self._transaction():
            self._lock(piece.id)
            if not self._select("SELECT 1 FROM run WHERE id=?", (piece.id,)):
                raise Fenced("another controller has taken this piece in")
            piece_journal = self.claim(piece)
            records = [
                record
                for record in piece_journal.records
                if record.kind in ("intent", "interrupted", "outcome")
            ]
            self._db.execute("DELETE FROM record WHERE run=?", (piece.id,))
            self._db.execute("DELETE FROM run WHERE id=?", (piece.id,))
            if records:
                journal.append(records)
            else:
                journal.anchor()  # a controller that was replaced must not delete anything
        return len(records)

    def _lock(self, number: int) -> None:
        self._select("SELECT 1 FROM run WHERE id=? FOR UPDATE", (number,))

    def _row(self, columns: Any) -> RunRow:
        return next(iter(self._rows("WHERE id=?", (columns[0],))))

    def _transaction(self) -> Any:
        return _Inner() if self._db.in_transaction else Transaction(self._db, self.path)

    def _prepare(self, say: Say | None) -> None:
        import psycopg

        try:
            self._pg.execute(f"SET search_path TO {SCHEMA}")
            self._pg.execute(f"SET lock_timeout TO {LOCK_MS}")
            self._pg.execute(f"SET idle_in_transaction_session_timeout TO {IDLE_MS}")
            alone(self._pg, self.path, self._is_made, self._make, say)
            row = self._pg.execute("SELECT version FROM form").fetchone()
        except psycopg.Error as failed:
            raise WorldFailed(f"{self.path}: {' '.join(str(failed).split())}") from failed
        form = row[0] if row else "none"
        if form != VERSION:
            raise WorldFailed(
                f"{self.path}: its runs were written by another fdc (form {form}, this one knows {VERSION})"
            )

    def _is_made(self) -> bool:
        if self._pg.execute("SELECT to_regclass('blob')").fetchone() == (None,):
            return False
        row = self._pg.execute("SELECT version FROM form").fetchone()
        return row is None or row[0] >= VERSION

    def _make(self) -> None:
        with self._pg.transaction():
            self._pg.execute(
                "SELECT pg_advisory_xact_lock(%s)", (_MAKING,)
            )  # an fdc 0.1.0 knows no other lock
            self._pg.execute(_TABLES)


class _Inner:
    """A transaction inside another one: the outer one commits."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, *raised: object) -> None:
        pass


class _Connection:
    """A psycopg connection with the part of sqlite3's interface that `journal` uses."""

    def __init__(self, pg: psycopg.Connection) -> None:
        self._pg = pg
        self._known: dict[str, str] = {"BEGIN IMMEDIATE": "BEGIN"}
        self.text_factory: Any = str

    @property
    def in_transaction(self) -> bool:
        return self._pg.info.transaction_status.name in ("INTRANS", "INERROR", "ACTIVE")

    def execute(self, statement: str, values: Sequence[Any] = ()) -> psycopg.Cursor:
        """Executes a statement whose parameters are written `?`; raises sqlite3's errors."""
        import psycopg

        query = self._known.get(statement)
        if query is None:
            query = self._known[statement] = _translated(statement)
        try:
            return self._pg.execute(query, values or None)
        except psycopg.IntegrityError as failed:
            raise sqlite3.IntegrityError(_one_line(failed)) from failed
        except psycopg.Error as failed:
            raise sqlite3.OperationalError(_one_line(failed)) from failed

    def close(self) -> None:
        self._pg.close()


def _translated(statement: str) -> str:
    statement = statement.replace("%", "%%")
    if statement.startswith("UPDATE run SET"):
        statement = statement.replace(
            "UPDATE run SET", "UPDATE run SET touched=clock_timestamp(),", 1
        )
    return statement.replace("?", "%s")


def _one_line(failed: Exception) -> str:
    return " ".join(str(failed).split()) or type(failed).__name__
