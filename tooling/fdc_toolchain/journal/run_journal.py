"""The journal of one run, for the controller that drives it.

Bodies over 64 KiB are stored once, by their content, in the table `blob`. The newest link of the chain (`journal.hash_chain`)
is written to the run's row with every intent, with every 32nd record, and at each end of driving. Doing it at every step
would write a second page of the file each time.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any

from ..engine.events import Record
from ..engine.ports import Fenced
from ..program.codec import canonical
from . import counter, hash_chain, tables
from .database import Database, world_failed
from .row_shape import written

BLOB_OVER = 64 * 1024
ANCHOR_EVERY = 32

_TAKEN_OVER = "another controller has taken this run over"


class RunJournal:
    """The journal of one run, for the controller that drives it (port `engine.ports.Journal`).

    `records` are those that existed when it was claimed.
    """

    def __init__(self, store: Database, owner: hash_chain.Owner, records: list[Record]) -> None:
        self._store = store
        self._db = store._db
        self._key = store.key
        self._linked = hash_chain.linking(store.key)
        self._owner = owner
        self._run = owner.id
        self._name = owner.name
        self._seq = self._anchored = owner.seq
        self._link = owner.head
        self._start = hash_chain.beginning(owner)
        self._tried: tuple[Record, int] | None = None
        self._sure = True
        self.epoch = owner.epoch
        self.records = records

    def append(self, records: list[Record]) -> None:
        """Makes all records durable in one commit. Raises Fenced or WorldFailed; then none was written.

        Where it is interrupted (KeyboardInterrupt), they may be written or not; another call with a list that begins with
        the same record finds out, and writes what is missing.
        """
        before = self._seq, self._link, self._anchored
        if self._tried is not None and records and self._tried[0] is records[0]:
            with self._store._transaction():
                self._catch_up()
            records = records[self._seq - self._tried[1] :]
            before = self._seq, self._link, self._anchored
        elif records:
            self._tried = records[0], self._seq
        self._sure = False
        try:
            if (
                len(records) == 1 and self._seq + 1 - self._anchored < ANCHOR_EVERY and records[0].kind == "outcome"
                and "answered" not in records[0].body.get("notes", ())
            ):  # fmt: skip
                body = written(records[0].body)
                if len(body) <= BLOB_OVER:
                    self._insert(self._row(records[0], body, None))
                    self._sure = True
                    return
            with self._store._transaction():
                self.write(records)
        except BaseException as failed:
            self._seq, self._link, self._anchored = before
            if isinstance(failed, sqlite3.Error):
                raise world_failed(failed, self._store.path) from failed
            raise
        self._sure = True
        if any(
            record.kind == "intent" or "answered" in record.body.get("notes", ())
            for record in records
        ):
            self.note()  # before the announced effect, or the one that a person's answer allows, happens

    def _catch_up(self) -> None:
        """Takes the end of the chain from the database: a signal may have come right after a commit."""
        held = (self._run, self.epoch, self._name)
        row = self._db.execute(
            "SELECT seq FROM run WHERE id=? AND epoch=? AND name=?", held
        ).fetchone()
        if row is None:
            raise Fenced(_TAKEN_OVER)
        self._anchored = row[0]
        newest = "SELECT seq, link FROM record WHERE run=? ORDER BY seq DESC LIMIT 1"
        found = self._db.execute(newest, (self._run,)).fetchone()
        self._seq, self._link = (0, self._start) if found is None else (found[0], bytes(found[1]))

    def note(self) -> None:
        """Notes the newest record outside of the workspace (`journal.counter`). Raises WorldFailed."""
        if self._store.counted:
            counter.advance(
                self._start, counter.Seen(self.epoch, self._seq, self._link[: hash_chain.SIZE])
            )

    def write(self, records: Sequence[Record]) -> None:
        """Like `append`, inside a transaction of the caller."""
        rows = []
        for record in records:
            body = written(record.body)
            blob = self._store._put(body.encode("ascii")) if len(body) > BLOB_OVER else None
            rows.append(self._row(record, body if blob is None else None, blob))
        self._insert_all(rows)
        if self._seq - self._anchored >= ANCHOR_EVERY or any(
            record.kind != "outcome" for record in records
        ):
            self.anchor()

    def anchor(self) -> None:
        """Writes the newest link into the run's row, inside a transaction of the caller."""
        owner = self._owner._replace(seq=self._seq, head=self._link)
        owner = owner._replace(digest=hash_chain.digest_of(owner, self._key, self._start))
        self._update("UPDATE run SET seq=?, head=?, digest=?", owner[12:15])
        self._owner = owner
        self._anchored = self._seq

    def close_run(self, status: str, ending: Mapping[str, object], ended: float) -> None:
        """Records how driving ended: by a clock that may have been set back, never before the run began. Raises Fenced or
        WorldFailed."""
        with self._store._transaction():
            before = self._owner
            if not self._sure:
                self._catch_up()
            self._owner = before._replace(
                status=status, ending=canonical(ending), ended=max(float(ended), before.started)
            )
            try:
                self._update("UPDATE run SET status=?, ending=?, ended=?", self._owner[9:12])
                self.anchor()
            except BaseException:
                self._owner = before
                raise
        self.note()

    def _update(self, change: str, values: tuple[Any, ...]) -> None:
        changed = self._db.execute(
            f"{change} WHERE id=? AND epoch=? AND name=?",
            (*values, self._run, self.epoch, self._name),
        )
        if not changed.rowcount:
            raise Fenced(_TAKEN_OVER)

    def _row(self, record: Record, body: str | None, blob: str | None) -> tuple[Any, ...]:
        """The row of the next record. Advances the chain; a caller that does not write the row must restore it."""
        kind, address, turn, tool, request, at, _ = record
        self._seq = seq = self._seq + 1
        at = at if type(at) is float else float(at)
        self._link = link = self._linked(
            self._link, (kind, address, turn, seq, tool, request, at, body, blob)
        )
        return self._run, address, kind, turn, seq, tool, request, at, body, blob, link

    def _insert(self, row: tuple[Any, ...]) -> None:
        try:
            values = (*row, self._run, self.epoch, self._name)
            count = self._db.execute(self._store.insert, values).rowcount
        except sqlite3.IntegrityError:
            raise Fenced(f"another controller has written the {row[2]} of {row[1]}") from None
        if not count:
            raise Fenced(_TAKEN_OVER)

    def _insert_all(self, rows: list[tuple[Any, ...]]) -> None:
        """Many rows with few statements: each statement lets other threads run, and waits for them before it goes on."""
        at = 0
        for size, statement in tables.TOGETHER.items():
            while len(rows) - at >= size:
                if (
                    not at
                    and not self._db.execute(
                        self._store.held, (self._run, self.epoch, self._name)
                    ).fetchone()
                ):
                    raise Fenced(
                        _TAKEN_OVER
                    )  # no one can take the run over from here to the end of this transaction
                group, at = rows[at : at + size], at + size
                try:
                    self._db.execute(statement, [value for row in group for value in row])
                except sqlite3.IntegrityError:
                    raise Fenced(
                        f"another controller has written records from {group[0][1]} to {group[-1][1]}"
                    ) from None
        for row in rows[at:]:
            self._insert(row)
