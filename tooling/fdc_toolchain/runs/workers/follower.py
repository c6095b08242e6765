"""Shows a client the records of a run as workers write them."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from ...exits import Refused, WorldError
from ..observer import Observer

if TYPE_CHECKING:
    from ...engine.state import RunState
    from ...journal.postgres import PgStore
    from ...journal.sqlite import RunRow
    from ..records.run_outcome import Ended
    from .dispatch import Sender

_POLL = 0.1


class Follower:
    """Follows one run until it cannot go on, and tells an observer of its steps. `epoch` is the run's when the delivery was
    sent, `seq` the number of records that are not shown."""

    def __init__(
        self,
        store: PgStore,
        sender: Sender,
        name: str,
        delivery: str,
        show: Observer,
        epoch: int,
        seq: int,
    ) -> None:
        self.store, self.sender, self.name, self.delivery, self.show = (
            store,
            sender,
            name,
            delivery,
            show,
        )
        self.epoch, self.seq = epoch, seq

    def run(self) -> Ended:
        from ...engine.fold import fold
        from ..records.run_outcome import end_on_record

        row = self._row()
        program = self.store.program(row)
        state: RunState | None = None
        known: list[Any] = []
        at, looked = 0, time.monotonic()
        while True:
            row = self._row()
            over = row.epoch > self.epoch and row.status not in ("new", "running")
            fresh, at = self.store.records_after(row, at)
            if fresh or state is None:
                known += fresh
                if state is None or any(record.kind == "retry" for record in fresh):
                    seen: list[Any] = []
                    state = fold(
                        program, row.inputs, known, lambda *found, seen=seen: seen.append(found)
                    )
                    self._shown(seen[self.seq :])
                else:
                    self._apply(state, fresh)
                self.seq = len(known)
            if over:
                return end_on_record(row, state)
            if time.monotonic() - looked > 1:
                self._refused(row)
                looked = time.monotonic()
            time.sleep(_POLL)

    def _row(self) -> RunRow:
        row = self.store.run(self.name)
        if row is None:
            raise WorldError(f"the run {self.name} was deleted from the database")
        return row

    def _apply(self, state: RunState, fresh: list[Any]) -> None:
        from ...engine.fold import apply

        for record in fresh:
            want = apply(state, record)
            self._shown([(record, None if want is None else want.effect)])

    def _shown(self, rows: list[Any]) -> None:
        from ...engine.events import Failure, Outcome

        for record, effect in rows:
            if record.kind != "outcome" or effect is None:
                continue
            body = record.body
            failed = body.get("failed")
            failure = None if failed is None else Failure(failed["kind"], failed["message"])
            if (
                effect.tool == "message_user"
                and failure is None
                and isinstance(body.get("value"), str)
            ):
                self.show.say(body["value"])  # the client cannot see the worker's output
            self.show.done(effect, Outcome(body.get("value"), failure), body.get("took", 0.0))

    def _refused(self, row: RunRow) -> None:
        said = self.sender.outcome(self.delivery or self._last())
        if said is not None and "refused" in said and not self.store.is_driven(row):
            raise Refused(f"no worker drives the run {self.name}: {said['refused']}")

    def _last(self) -> str:
        """The run's newest delivery: who follows a run that was in hand has sent none."""
        known = self.sender.deliveries(self.name)
        last = max(known, key=lambda one: one.created_at or 0, default=None)
        return "" if last is None else str(last.workflow_id).partition("/")[0]
