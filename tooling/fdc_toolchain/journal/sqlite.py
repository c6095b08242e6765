"""The journal on disk: one SQLite file per workspace, one table keyed by (run, address, ...).

A row, once written, stays: the first writer wins, and rows are never changed. Opening a run
raises its epoch, and every append checks it, so a controller that was replaced (stopped by the
system, then woken) can write nothing more. A lock of the operating system per run already
keeps two running controllers apart.

WAL with synchronous=FULL: what `append` returned from survives a power cut. The program of a run lies
once, by its content, in the table `blob`.

Records are chained and sealed (`journal.hash_chain`).
"""

from __future__ import annotations

import json
import os
import sqlite3
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ..engine.events import Record
from ..engine.ports import Gone, NameTaken, WorldFailed
from ..exits import reason
from ..named_tuples import NamedTuple
from ..program.codec import canonical, encode, load
from ..program.model import Program
from . import counter, hash_chain, tables
from .database import Database, is_kept, world_failed
from .private_file import private
from .row_shape import fault_of_record, fault_of_run, is_text
from .run_journal import RunJournal

BUSY_MS = 10_000
ENGINE = 1
"""The version of what records mean. Only an fdc that knows a run's version resumes it."""

_ADD_RUN = (
    f"INSERT INTO run({tables.OWNER}) VALUES({','.join('?' * len(hash_chain.Owner._fields))})"
)
_FREE = "DELETE FROM blob WHERE hash NOT IN (SELECT program FROM run UNION SELECT blob FROM record WHERE blob IS NOT NULL)"
_ROWS = f"SELECT {tables.ROW} FROM record WHERE run=? ORDER BY seq"


class RunRow(NamedTuple):
    """What the journal says of a run as a whole. Times are seconds since 1970.

    `origin`, of a run that was forked: `run` and `address`, how many `records` were taken along,
    and the `link` of that run's chain up to which they reach.
    """

    id: int
    name: str
    engine: int
    plan: str
    digest: str
    inputs: dict[str, Any]
    origin: dict[str, Any] | None
    started: float
    epoch: int
    status: str
    ending: dict[str, Any] | None
    ended: float | None


class Damaged(WorldFailed):
    """A run's record is not what was written."""


class Outdated(WorldFailed):
    """A run's record is not the newest one that this machine saw (`journal.counter`)."""


class Untrusted(Exception):
    """A run's record is not sealed by the user's key: it may have come with a clone."""


def refuse_links(path: str, *, readonly: bool = False) -> None:
    """Raises WorldFailed for a journal that is a link, has several names, or is no file. It need not exist."""
    for name in (path, path + "-wal", path + "-journal"):
        try:
            about = os.lstat(name)  # asked once: another process may take it away now
        except OSError:
            continue
        if stat.S_ISLNK(about.st_mode):
            raise WorldFailed(
                f"{name}: a symbolic link; the runs of this workspace would lie elsewhere"
            )
        if not stat.S_ISREG(about.st_mode):
            raise WorldFailed(f"{name}: not a regular file")
        if about.st_nlink > 1 and not readonly:  # each name has a write-ahead log of its own
            raise WorldFailed(
                f"{name}: the file has another name (a hard link), and runs that are recorded under one of them get lost; "
                "replace it by a copy of it"
            )


class Store(Database):
    """All runs of one workspace. Use from one thread. Raises WorldFailed where the file refuses."""

    every = "TRUE"
    keeps_answers = True
    """Whether answers are stored beside a run until it is resumed; workers take them at once."""
    workspace: str | None = None
    """The workspace of the command, if the journal has runs of several."""

    def __init__(
        self, path: str, key: bytes | None = None, *, readonly: bool = False, counted: bool = False
    ) -> None:
        """`key` seals what is written, and tells whose seals those are that are found (`journal.user_key`)."""
        self.path = path
        self.key = key
        self.counted = counted
        refuse_links(path, readonly=readonly)
        try:
            if not readonly:
                private(path)
            kept = "&immutable=1" if readonly and is_kept(path) else ""
            database = f"file:{_quoted(path)}?mode=ro{kept}" if readonly else path
            self._db = sqlite3.connect(database, uri=readonly, isolation_level=None)
        except OSError as failed:
            raise WorldFailed(f"{path}: {reason(failed)}") from failed
        except sqlite3.Error as failed:
            raise world_failed(failed, path) from failed
        try:
            self._db.execute(f"PRAGMA busy_timeout={BUSY_MS}")
            if not readonly:
                mode = self._db.execute("PRAGMA journal_mode=WAL").fetchone()[0]
                if mode != "wal":
                    raise WorldFailed(
                        f"{path}: this file system cannot keep a write-ahead log ({mode})"
                    )
                self._db.execute("PRAGMA synchronous=FULL")
            tables.prepare(self._db, path, readonly=readonly)
        except sqlite3.Error as failed:
            self._db.close()
            raise world_failed(failed, path) from failed
        except UnicodeDecodeError as damage:
            self._db.close()
            raise Damaged(f"{path}: the description of its tables is damaged: {damage}") from damage
        except WorldFailed:
            self._db.close()
            raise

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
    ) -> None:
        """Records a new run before anything of it happens, with what it takes along from the run `origin`.

        Raises WorldFailed, and NameTaken for a name in use.
        """
        with self._transaction():
            if self._select("SELECT 1 FROM run WHERE name=?", (name,)):
                raise NameTaken(f"{self.path}: another run has the name {name}")
            if origin is not None and not self._select(
                "SELECT 1 FROM run WHERE name=?", (origin["run"],)
            ):
                raise Gone(f"{self.path}: the run {origin['run']} is gone")
            digest = self._put(encode(program))
            number = self._db.execute("SELECT coalesce(max(id), 0) + 1 FROM run").fetchone()[0]
            came = None if origin is None else canonical(origin)
            # Sessions and changed budgets are keyed by epoch: those of this run must come after those taken along.
            epoch = max((record.turn for record in records if not record.address), default=0)
            owner = hash_chain.Owner(
                number, name, ENGINE, plan, digest, canonical(inputs), came, float(now), epoch, "new", None, None,
                0, b"", b"",
            )  # fmt: skip
            self._db.execute(_ADD_RUN, owner)
            journal = RunJournal(self, owner._replace(head=hash_chain.beginning(owner)), [])
            journal.write(records)
            journal.anchor()

    def remove(self, numbers: Sequence[int], still: Callable[[], list[RunRow]]) -> list[RunRow]:
        """Removes those of the numbered runs that `still` returns, in one commit; the runs cannot change before it.

        Returns them. Raises WorldFailed. Contents that no run has any more stay until `free`.
        """
        with self._transaction():
            self._hold(numbers)
            gone = still()
            for row in gone:
                self._db.execute("DELETE FROM record WHERE run=?", (row.id,))
                self._db.execute("DELETE FROM run WHERE id=?", (row.id,))
        return gone

    def free(self) -> None:
        """Removes contents that no run has. Raises WorldFailed."""
        with self._transaction():
            self._db.execute(_FREE)

    def _hold(self, numbers: Sequence[int]) -> None:
        """Keeps other processes from making runs and taking these over until the transaction ends, as SQLite's does."""

    def run(self, name: str) -> RunRow | None:
        """The run of exactly this name."""
        rows = list(self._rows("WHERE name=?", (name,)))
        return rows[0] if rows else None

    def runs(self, prefix: str = "") -> list[RunRow]:
        """The runs whose names start with `prefix`, the oldest first."""
        return list(
            self._rows(
                f"WHERE {self.every} AND substr(name, 1, ?)=? ORDER BY id", (len(prefix), prefix)
            )
        )

    def program(self, row: RunRow) -> Program:
        """The program that a run executes, checked against its digest.

        Raises WorldFailed when the stored bytes are not those of the digest, ProgramError when
        they are not programs.
        """
        return load(self._get(row.digest))

    def count(self, row: RunRow, kind: str = "outcome") -> int:
        """How many records of a kind a run has."""
        try:
            cursor = self._db.execute(
                "SELECT count(*) FROM record WHERE run=? AND kind=?", (row.id, kind)
            )
            return int(cursor.fetchone()[0])
        except sqlite3.Error as failed:
            raise world_failed(failed, self.path) from failed

    def records(self, row: RunRow, kind: str | None = None) -> list[Record]:
        """The records of a run (of one kind), in the order in which they were written. They are not checked."""
        if kind is None:
            return self._records(self._chained(row.id), row.name)
        query = f"SELECT {tables.ROW} FROM record WHERE run=? AND kind=? ORDER BY seq"
        return self._records(self._select(query, (row.id, kind)), row.name)

    def check(self, number: int) -> hash_chain.Checked:
        """Checks whether a run is as it was written, who sealed it, and whether it is an older copy. Raises WorldFailed."""
        seen = self._seen(
            self._owner(number)
        )  # first: a controller may write meanwhile, and writes its note last
        with self.snapshot():
            owner, rows = self._owner(number), self._chained(number)
            checked = hash_chain.check(owner, rows, self.key, self._content)
            return (
                checked
                if checked.faults
                else checked._replace(older=_older_copy(seen, owner, rows))
            )

    def accept(self, row: RunRow) -> None:
        """Accepts the run's record as the newest, also if this machine saw a newer one. Raises Damaged and WorldFailed."""
        with self.snapshot():
            owner, rows = self._owner(row.id), self._chained(row.id)
            checked = hash_chain.check(owner, rows, self.key, self._content)
        if checked.faults:
            raise Damaged(f"the record of the run {row.name} is damaged: {checked.faults[0]}")
        link = rows[-1][9] if rows else hash_chain.beginning(owner)
        counter.advance(
            hash_chain.beginning(owner),
            counter.Seen(owner.epoch, len(rows), link[: hash_chain.SIZE]),
        )

    def _seen(self, owner: hash_chain.Owner) -> counter.Seen | None:
        try:
            return counter.read(hash_chain.beginning(owner)) if self.counted else None
        except (TypeError, ValueError):
            return None  # the row is damaged, which the check reports

    def numbers(self) -> dict[int, str]:
        """The number and the name of every run, damaged or not."""
        names = self._select(f"SELECT id, name FROM run WHERE {self.every} ORDER BY id")
        return {
            number: name if is_text(name) else f"number {number}, whose name is damaged"
            for number, name in names
        }

    def strays(self) -> int:
        """How many records do not belong to a run."""
        return int(
            self._select("SELECT count(*) FROM record WHERE run NOT IN (SELECT id FROM run)")[0][0]
        )

    def claim(self, row: RunRow, *, trust: bool = False) -> RunJournal:
        """Takes a run over: its former holder can write no more. The caller holds the run's lock.

        All of the run is checked first. Raises Damaged; Untrusted where it is not sealed by
        the key, unless `trust` (from then on it is); and Outdated where it is an older copy.
        """
        with self._transaction():
            rows = self._chained(row.id)
            owner = self._owner(row.id)
            if owner.name != row.name:  # its number belongs to another run by now
                raise Gone(f"{self.path}: the run {row.name} is gone")
            checked = hash_chain.check(owner, rows, self.key, self._content)
            if checked.faults:
                raise Damaged(f"the record of the run {row.name} is damaged: {checked.faults[0]}")
            if checked.signature != "ours" and not trust:
                raise Untrusted(checked.signature)
            older = _older_copy(self._seen(owner), owner, rows)
            if older:
                raise Outdated(counter.outdated(row.name, older))
            last = rows[-1] if rows else None
            owner = owner._replace(epoch=owner.epoch + 1, status="running")
            if last is not None:
                owner = owner._replace(seq=last[3], head=last[9])
            journal = RunJournal(self, owner, self._records(rows, row.name))
            self._db.execute(
                "UPDATE run SET epoch=?, status='running' WHERE id=?", (owner.epoch, row.id)
            )
            journal.anchor()
        journal.note()
        return journal

    def _owner(self, number: int) -> hash_chain.Owner:
        rows = self._select(f"SELECT {tables.OWNER} FROM run WHERE id=?", (number,))
        if not rows:
            raise Gone(f"{self.path}: the run is gone")
        return hash_chain.Owner(*rows[0])

    def _chained(self, number: int) -> list[hash_chain.Linked]:
        return self._select(_ROWS, (number,))

    def _records(self, rows: list[hash_chain.Linked], name: str) -> list[Record]:
        loads = json.loads
        try:
            records = [
                Record(
                    kind,
                    address,
                    turn,
                    tool,
                    request,
                    at,
                    loads(self._get(blob) if blob else body or ""),
                )
                for kind, address, turn, _, tool, request, at, body, blob, _ in rows
            ]
        except (ValueError, TypeError, RecursionError) as damage:
            raise Damaged(
                f"{self.path}: a record of the run {name} is damaged: {damage}"
            ) from damage
        fault = next((wrong for record in records if (wrong := fault_of_record(record))), "")
        if fault:
            raise Damaged(f"{self.path}: a record of the run {name} is damaged: {fault}")
        return records

    def _rows(self, condition: str, values: tuple[Any, ...]) -> Iterator[RunRow]:
        for columns in self._select(f"SELECT {tables.OWNER} FROM run {condition}", values):
            row = RunRow(*columns[: len(RunRow._fields)])
            texts: tuple[Any, ...] = (row.inputs, row.origin, row.ending)
            try:
                inputs, origin, ending = (
                    None if text is None else json.loads(text) for text in texts
                )
            except (ValueError, TypeError, RecursionError) as damage:
                raise Damaged(
                    f"{self.path}: the row of the run {row.name} is damaged: {damage}"
                ) from damage
            fault = fault_of_run(row._asdict(), inputs, origin, ending)
            if fault or inputs is None:
                raise Damaged(f"{self.path}: the row of the run {row.name!a} is damaged: {fault}")
            yield row._replace(inputs=inputs, origin=origin, ending=ending)


def _older_copy(
    seen: counter.Seen | None, owner: hash_chain.Owner, rows: Sequence[hash_chain.Linked]
) -> str:
    def link(number: int) -> bytes:
        link_bytes = rows[number - 1][9] if number else hash_chain.beginning(owner)
        return bytes(link_bytes)

    return counter.behind(seen, owner.epoch, len(rows), link)


def _quoted(path: str) -> str:
    from urllib.parse import quote

    return quote(os.path.abspath(path))
