"""One run that a worker drives as `fdc run` would, but passes the branches of large forks to other workers.

The engine is the same, and so is the loop that drives it. A run that comes to a large fork leaves
that loop, makes pieces of the fork's branches (`runs.workers.fork_shards`), takes in what they bring as they
end, and goes on.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ...exits import WorldError
from ...narrow import narrow
from ..observer import Silent

if TYPE_CHECKING:
    from ...engine.drive import Assumption, Ending
    from ...engine.events import Record
    from ...engine.state import RunState
    from ...journal.postgres import PgStore
    from ...journal.run_journal import RunJournal
    from ...journal.sqlite import RunRow
    from .worker_config import Fleet

_POLL = 0.05
CANCEL = 0.5
"""Seconds between two checks whether a run must be cancelled, and whether a blocking run has ended."""


class Leaving(Exception):
    """The worker was asked to end."""


class Unfit(Exception):
    """The worker's folder is not the one for a run."""


class Drive:
    """One run that one worker drives."""

    def __init__(
        self,
        fleet: Fleet,
        store: PgStore,
        row: RunRow,
        asked: dict[str, object],
        delivery: str,
        outer: RunRow | None = None,
    ) -> None:
        """`outer`: the run in a step of which this one is driven, and with which it is cancelled."""
        self.fleet, self.store, self.row, self.asked = fleet, store, row, asked
        self.delivery, self.outer = delivery, outer
        self.program = store.program(row)
        self.tried: set[str] = set()
        """Forks that were taken apart by this worker; what their pieces left undone it does itself."""
        self.first = self.asked_now = False
        """Whether no worker drove the run for this delivery before; and whether a person has just continued the run, so that
        steps begin again that a worker stopped."""
        self.cancelled = False
        self.looked = -1e9

    def wants_claim(self) -> bool:
        """Whether the run is to be driven on: not where it is over, waits for what was not sent, or is to be cancelled."""
        if self.row.status not in ("new", "running") and not self.asked.get("again"):
            return False
        return not self._is_cancelled()

    def is_takeable(self) -> bool:
        """Whether this worker can take the run over: its record is whole, and sealed by the worker's key."""
        found = self.store.check(self.row.id)
        return not found.faults and (self.fleet.trust or found.signature == "ours")

    def whole(self) -> dict[str, object]:
        """Drives the run as far as it can go and records the outcome."""
        from ..cost import pricing
        from ..records.run_outcome import OVER, ended_of, record_end

        row = self.row
        over = row.status not in ("new", "running")
        wished = (
            row.status not in OVER and self._is_cancelled()
        )  # who asked may be gone, and send nothing more
        if row.status == "cancelled" or (
            over and not wished and (not self.asked.get("again") or self._was_here())
        ):
            return {"status": row.status}
        seen = self.asked.get("seen")
        if seen is not None and seen != row.epoch and not self._was_here():
            if not (self.asked.get("answers") or self.asked.get("assume")):
                return {
                    "status": row.status
                }  # somebody has gone on; who has an answer for the run must not find it elsewhere
            return {
                "refused": f"the run {row.name} has continued since, so its questions may have changed"
            }
        budget = narrow(self.asked.get("budget") or {}, dict)
        pricing.check(self.fleet.root, self.store, row, budget, self.fleet.operator)
        if not wished:
            self._same_code()
            self._granted(self._asked_for)
        self.first = not self._was_here()
        self.asked_now = bool(self.asked.get("stopped")) and self.first
        journal = self.store.claim(row, trust=self.fleet.trust)
        self._begin(journal)
        self._gather(journal)
        while True:
            state = self._fold()
            ending, fork = self._drive(journal, state, row.name, parts=True)
            if fork is None:
                break
            self._apart(journal, state, fork)
            self._gather(journal)
        if self.cancelled:
            return self._cancel(journal)
        ended = ended_of(row, ending, state)
        if ending.status == "broken" and self.store.lost:
            raise self._lost(ending.message)
        record_end(journal, ended)
        return {"status": ended.status}

    def piece(self) -> dict[str, object]:
        """Drives some branches of another run, whose records say how it came to them."""
        from ..records.run_outcome import left, record_end
        from . import fork_shards

        row, origin = self.row, self.row.origin
        assert origin is not None
        if row.status not in ("new", "running"):
            return {"status": row.status}
        parent = self.store.run(origin["run"])
        if parent is None:
            return {"gone": origin["run"]}
        checked = self.store.check(parent.id)
        if checked.faults:
            raise WorldError(f"the record of the run {parent.name} is damaged: {checked.faults[0]}")
        self._same_code()
        before = self.store.records(parent)[: origin["records"]]
        self._granted(lambda: self._fold(before))
        journal = self.store.claim(row, trust=self.fleet.trust)
        self._begin(journal)
        state = self._fold(before)
        fork_shards.keep(state, origin["address"], origin["branches"])
        # cancelled, it is left as it is: `broken`
        ending, _ = self._drive(journal, state, parent.name, parts=False, before=before)
        if ending.status == "broken" and self.store.lost:
            raise self._lost(ending.message)
        ended = left(row, "finished" if fork_shards.is_done(state) else ending.status, state)
        ended.message = ending.message
        record_end(journal, ended)
        return {"status": ended.status}

    def _granted(self, state: Callable[[], RunState]) -> None:
        """Raises Unfit if this worker's machine or operator does not provide what the rest of the run needs."""
        from ...exits import NotGranted
        from ..create_run import granted

        subject = f"the run {self.row.name} cannot continue where the worker {self.fleet.session.executor} is"
        try:
            granted(self.fleet.root, self.program, self.fleet.operator, subject, state)
        except NotGranted as lacks:
            raise Unfit(str(lacks)) from lacks

    def _same_code(self) -> None:
        """Raises Unfit where the workspace's own tools are not the code with which the run began."""
        from ...tools.own_code import differs

        said = differs(self.program, self.fleet.root)
        if said is not None:
            raise Unfit(
                f"the run {self.row.name} cannot continue where the worker {self.fleet.session.executor} is: {said}"
            )

    def _was_here(self) -> bool:
        """Whether some worker has driven the run for this delivery before."""
        sessions = self.store.records(self.row, "session")
        return any(record.body.get("delivery") == self.delivery for record in sessions)

    def _begin(self, journal: RunJournal) -> None:
        """Records who drives now, and what the client changed."""
        from ...engine.events import Record
        from ..run_driver import retried

        records, epoch = journal.records, journal.epoch
        driven = max((record.at for record in records), default=0.0)
        who = {"pid": os.getpid(), "began": round(time.time(), 3), "host": socket.gethostname(),
               "worker": self.fleet.session.executor, "delivery": self.delivery, "folder": self.fleet.place.folder}  # fmt: skip
        before = self._was_here()
        fresh = [Record("session", "", epoch, "", "", driven, who)]
        if not before and self.asked.get("budget"):
            fresh.append(
                Record("budget", "", epoch, "", "", driven, {"budget": self.asked["budget"]})
            )
        if not before:
            fresh += retried(self.program, self.row.inputs, records, self.asked)
        journal.append(fresh)

    def _fold(self, before: list[Any] | None = None) -> RunState:
        from ...engine.fold import fold

        return fold(self.program, self.row.inputs, [*(before or ()), *self.store.records(self.row)])

    def _asked_for(self) -> RunState:
        """The state of the run with what the client has asked for: failed steps are tried again."""
        from ...engine.fold import fold
        from ..run_driver import retried

        records = self.store.records(self.row)
        if not self._was_here():
            records = [*records, *retried(self.program, self.row.inputs, records, self.asked)]
        return fold(self.program, self.row.inputs, records)

    def _drive(
        self,
        journal: RunJournal,
        state: RunState,
        run: str,
        *,
        parts: bool,
        before: Sequence[Record] = (),
    ) -> tuple[Ending, Any]:
        """Drives until the run cannot go on, or until it comes to a fork for several machines, which is returned.

        `before`: of a piece, the records of its run before it.
        """
        from ...engine.drive import Ending, Ports, drive
        from ...engine.ports import Cancelled
        from ...tools.approvals import openings
        from ...tools.runtime import LocalTools
        from ...workspace import run_folders
        from ..records import answers as kept
        from ..run_driver import Monotonic
        from ..tool_runtime import bench_for, take_away
        from . import fork_shards

        fleet, found = self.fleet, []

        def halted() -> bool:
            if fleet.leaving.is_set() or self._is_cancelled():
                return True
            fork = fork_shards.fork_of(state) if parts else None
            if fork is not None and fork.address not in self.tried and self._shares(fork):
                found.append(fork)
            return bool(found)

        take_away(fleet.root)
        show = Silent()
        given = narrow(self.asked.get("answers") or {}, dict)
        shown = kept.shown(self.row)
        bench = bench_for(
            fleet.root, run, show, given, fleet.shell_seconds, fleet.operator, {}, shown,
            fleet.driver.told(self._said() if self.first else {}), self.row.inputs,
        )  # fmt: skip
        who = narrow(self.asked.get("by") or {"by": "command line"}, dict)
        bench = bench._replace(
            givers=dict.fromkeys(given, who),
            opened=openings.approved(self.program, [*before, *self.store.records(self.row)]),
        )
        tools = LocalTools(self.program, bench)
        tools.follow(state)
        run_folders.make_outside(fleet.root, self.program, state.builtin.get("run"))
        watch = run_folders.CancelWatch(self._wants, tools.cancel, fleet.leaving)
        watch.start()
        try:
            ports = Ports(journal, tools, Monotonic(), show, halted)
            assume = self._assume(state)
            return drive(self.program, state, ports, room=fleet.jobs, assume=assume), None
        except Cancelled:
            if fleet.leaving.is_set():
                raise Leaving from None
            self.looked = -1e9  # what a step within heard of is looked up now
            self._is_cancelled()
            return Ending("broken"), found[0] if found and not self.cancelled else None
        finally:
            watch.stop()
            bench.close()

    def _wants(self) -> bool:
        from ...engine.ports import WorldFailed

        try:
            return self._is_cancelled()
        except WorldFailed:  # the thread that drives meets it, too
            return False

    def _assume(self, state: RunState) -> dict[str, Assumption]:
        """What a person said, about steps that were lost before: one that has begun since then is another question."""
        from ...engine.drive import EVERY, STOPPED

        said = self._said()
        found = {STOPPED: said[STOPPED]} if STOPPED in said else {}
        since = set(state.dangling) if not said.keys() - {STOPPED} else self._begun_since()
        for address in state.dangling:
            if address not in since and (about := {address, EVERY} & said.keys()):
                found[address] = said[address if address in about else EVERY]
        return found

    def _said(self) -> dict[str, Assumption]:
        from ...engine.drive import STOPPED
        from ...engine.events import Outcome

        said = narrow(self.asked.get("assume") or {}, dict)
        stopped: dict[str, Assumption] = {STOPPED: "not-done"} if self.asked_now else {}
        return stopped | {
            address: Outcome(word["value"]) if isinstance(word, dict) else word
            for address, word in said.items()
        }

    def _begun_since(self) -> set[str]:
        """The addresses of the steps that have begun since a worker took this delivery."""
        since: set[str] = set()
        here = False
        for record in self.store.records(self.row):
            here = here or (
                record.kind == "session" and record.body.get("delivery") == self.delivery
            )
            if here and record.kind == "intent":
                since.add(record.address)
        return since

    def _shares(self, fork: Any) -> list[list[int]]:
        from ..records.identity import of_run
        from . import fork_shards

        workers = len(self.fleet.session.serving(of_run(self.row.inputs)))
        # Two for each worker: who is done first has something left to do.
        return fork_shards.shares(fork, 2 * workers) if workers > 1 else []

    def _apart(self, journal: RunJournal, state: RunState, fork: Any) -> None:
        """Creates runs for the branches of a fork, in one commit, and sends them to the queue."""
        from ..certified import put_piece
        from ..records import identity
        from . import fork_shards

        self.tried.add(fork.address)
        state = self._fold()  # what is on record, whatever was in memory
        if fork_shards.fork_of(state) != fork:
            return
        names = []
        inputs = {**self.row.inputs, **identity.here(self.fleet.root, self.row.inputs)}
        with self.store._transaction():
            journal.anchor()  # a controller that was replaced makes no pieces
            for number, branches in enumerate(self._shares(fork), 1):
                name = f"{self.row.name}~{journal.epoch}.{len(self.tried)}.{number}"
                origin = fork_shards.origin(self.row.name, state.records, fork.address, branches)
                put_piece(self.store, self.row, name, inputs, origin)
                names.append(name)
        for name in names:
            self.fleet.sender.send(name, {}, piece=True, delivery=f"{name}:first")

    def _gather(self, journal: RunJournal) -> None:
        """Waits for the pieces of the run, and takes in what they bring; also of those that no process drives for long."""
        from .janitor import LONG

        looked = time.monotonic()
        while pieces := self.store.pieces(self.row.id):
            left: set[int] = set()
            if time.monotonic() - looked > LONG / 4:
                looked, left = time.monotonic(), {row.id for row in self.store.stalled(LONG)}
            for piece in pieces:
                if (
                    piece.status not in ("new", "running")
                    or piece.id in left
                    or self._is_cancelled()
                ):
                    self.store.take_in(journal, piece)
            if self.fleet.leaving.wait(_POLL):
                raise Leaving

    def _is_cancelled(self) -> bool:
        """Whether a cancellation was requested; checked twice a second."""
        if not self.cancelled and time.monotonic() - self.looked > CANCEL:
            self.looked = time.monotonic()
            self.cancelled = any(
                self.store.cancel_asked(row) for row in (self.row, self.outer) if row is not None
            )
        return self.cancelled

    def _cancel(self, journal: RunJournal) -> dict[str, object]:
        from ..records.run_outcome import OVER, cancel_end

        for (
            inner
        ) in self.store.runs():  # before the end is on record: who dies between them comes back
            if inner.inputs.get("within") == self.row.name and inner.status not in OVER:
                self.store.ask_to_cancel(inner)
                self.fleet.sender.send(inner.name, {})
        return {"status": cancel_end(journal, self.row, self._fold())}

    def _lost(self, message: str) -> Exception:
        from ...engine.ports import WorldFailed

        return WorldFailed(message)
