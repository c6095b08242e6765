"""Drives a run in a workspace: builds the adapters, drives the run, and records the outcome.

    ended = drive_run(root, name, progress("text", False, style(), True))

`create_run` begins runs, `open_journal` finds and reads them; `run_outcome` records their outcome. Commands find all of it here.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from ..exits import Busy, Missing, Refused, WorldError
from .create_run import begin, driven, given_for, granted, in_the_way, task_for, withdraw
from .nested_run import Driver
from .notices import notice
from .observer import Observer
from .records.open_journal import known, reading, status_of, the_run, untrusted, writing
from .records.run_outcome import OVER, Ended, cancelled, ended_of, left, on_record, over, record_end

if TYPE_CHECKING:
    from ..engine.drive import Assumption
    from ..engine.events import Perform, Record
    from ..engine.ports import Tools
    from ..engine.state import RunState
    from ..journal.sqlite import RunRow, Store
    from ..program.model import Program
    from ..tasks.run_log import RunLog
    from ..workspace.operator import Operator
    from .records.claims import Claim

__all__ = [
    "Ended", "begin", "drive_run", "given_for", "known", "reading", "status_of", "task_for", "the_run",
    "untrusted", "writing",
]  # fmt: skip

PAUSE = 0.1
"""Seconds between two checks whether a blocking run has ended."""


def drive_run(  # noqa: C901
    root: str,
    name: str,
    show: Observer,
    *,
    answers: Mapping[str, str] | None = None,
    assume: Mapping[str, Assumption] | None = None,
    budget: Mapping[str, float] | None = None,
    retry: bool = False,
    jobs: int = 8,
    shell_seconds: float | None = None,
    operator: Operator | None = None,
    trusted: bool = False,
    force: bool = False,
    seen: int | None = None,
    wait: bool | None = None,
    within: str | None = None,
    leave: threading.Event | None = None,
) -> Ended:
    """Drives a run as far as it can go and records the outcome. An interruption is an outcome too (`interrupted`).

    An ended run does not change, unless the budget is raised or failed steps are retried.
    `trusted`: the user vouches for a run that is not sealed by their key. `force`: a cancelled run
    goes on. `seen`: the run's epoch when the user saw the questions that they answer or settle here. `wait`: runs that may
    write the same paths are waited for. `within`: the run in a step of which this one is driven.
    `leave`: the process is not fdc's own, and sets this event to interrupt the run. Its signals are left alone,
    KeyboardInterrupt is raised once the end is on record, and runs that it drives at the same time may be in
    each other's way.
    Raises Refused where one of them is needed, or where the run went on meanwhile; NotGranted where what is left of it needs
    something that is not there; WorldError where the run is driven by somebody else, where a run is in the way
    (`runs.records.claims`), or where its record cannot be read or is damaged.
    """
    from ..engine.drive import STOPPED
    from ..engine.ports import Fenced
    from ..journal.sqlite import Untrusted
    from ..workspace import run_folders
    from .cost import pricing
    from .tool_runtime import take_away

    lock = None
    store = None
    claim = None
    try:
        lock = run_folders.Lock(run_folders.run_folder(root, name))
        holder = lock.take()
        if holder is not None:
            raise Busy(
                f"the run {name} is being driven by {holder}; a run has one controller at a time"
            )
        store = writing(root)
        row = store.run(name)
        if row is None:
            raise Missing(f"no run `{name}` exists in this workspace")
        known(row)
        if not force and run_folders.cancel_asked(
            root, name
        ):  # the process that asked may have been killed before it could cancel
            row = row._replace(status=_cancelled(root, store, row, trusted))
        if not force and row.status == "cancelled":
            hint = "`fdc resume --force` continues it anyway, `fdc fork` begins a new one"
            raise Refused(f"the run {name} was cancelled; {hint}")
        if seen is not None and row.epoch != seen and (answers or assume):
            raise Refused(
                f"the run {name} has continued since, so its questions may have changed; see `fdc show {name}`"
            )
        if row.status in ("finished", "stopped") and not (budget or retry):
            return over(store, row, trusted)
        if "model" in row.inputs:
            pricing.check(root, store, row, budget or {}, operator)
        claim = _claim(store, row, root, within, leave is not None)
        changes = {"budget": dict(budget or {}), "retry": retry, "trusted": trusted}
        if "simulate" not in row.inputs:
            _granted(store, row, root, operator, changes)
        stale = run_folders.cancel_request(root, name) if force else None
        if not _alone(claim, root, row, wait, stale):
            _cancelled(root, store, row, trusted)
            raise Refused(f"the run {name} was cancelled")
        if stale is not None and run_folders.cancel_request(root, name) == stale:
            run_folders.forget_cancel(root, name)
        driven(name)
        take_away(root)
        return _drive(
            store, row, root, show, dict(answers or {}), {STOPPED: "not-done", **(assume or {})}, changes,
            jobs, shell_seconds, operator, leave,
        )  # fmt: skip
    except Busy:
        if store is not None:
            withdraw(store, root, name)
        raise
    except Untrusted as whose:
        raise Refused(untrusted(name, str(whose))) from whose
    except Fenced as fenced:
        raise WorldError(f"the run {name}: {fenced}; this one has stopped") from fenced
    finally:
        if claim is not None:
            claim.release()
        if store is not None:
            store.close()
        if lock is not None:
            lock.release()
        show.close()


def _claim(store: Store, row: RunRow, root: str, within: str | None, alone: bool) -> Claim:
    """The claim of a run, not taken yet. Raises WorldError where the workspace's own tools are not the code any more with
    which the run began."""
    from ..program.codec import ProgramError
    from ..program.write_set import write_set
    from ..tools.own_code import differs
    from .records.claims import Claim

    try:
        program = store.program(row)
        said = None if "simulate" in row.inputs else differs(program, root)
    except ProgramError as wrong:
        raise WorldError(f"the run {row.name} cannot continue: {wrong}") from wrong
    if said is not None:
        raise WorldError(f"the run {row.name} cannot continue: {said}")
    return Claim(root, row.name, write_set(program, row.inputs), within=within, alone=alone)


def _alone(claim: Claim, root: str, row: RunRow, wait: bool | None, stale: bytes | None) -> bool:
    """Takes the claim; with `wait`, waits for runs that block it. Returns False if the run was cancelled in the meantime,
    by another request than the `stale` one.

    Raises WorldError where a run is in the way.
    """
    from ..workspace import run_folders

    told = ""
    while (other := claim.take()) is not None:
        if not wait:
            raise in_the_way(other.said(), wait)
        if told != other.run:
            told = other.run
            notice(f"waiting: {other.said()}")
        if run_folders.cancel_request(root, row.name) not in (None, stale):
            return False
        time.sleep(PAUSE)
    return True


def _granted(
    store: Store, row: RunRow, root: str, operator: Operator | None, changes: Mapping[str, object]
) -> None:
    """Raises NotGranted if something is missing that the run's remaining steps need."""
    from ..engine.events import Mismatch
    from ..engine.fold import fold
    from ..program.codec import ProgramError

    def under_way() -> RunState:
        records = store.records(row)
        records += retried(program, row.inputs, records, changes)
        return fold(program, row.inputs, records)

    try:
        program = store.program(row)
        granted(root, program, operator, f"the run {row.name} cannot continue", under_way)
    except (ProgramError, Mismatch) as wrong:
        raise WorldError(f"the run {row.name} cannot continue: {wrong}") from wrong


def retried(
    program: Program, inputs: dict[str, object], records: list[Record], asked: Mapping[str, object]
) -> list[Record]:
    """The records that retry failed steps: all with `retry`, with another `budget` those that the old one's seconds ended."""
    from ..engine.events import Record
    from ..engine.replay import failed_alone

    driven = max((record.at for record in records), default=0.0)
    every, some = asked.get("retry"), asked.get("budget")
    failed = failures(records, failed_alone(program, inputs, records)) if every or some else []
    failed = [old for old in failed if every or old.body["failed"]["kind"] == "spent"]
    return [Record("retry", old.address, old.turn, "", "", driven, {}) for old in failed]


def _cancelled(root: str, store: Store, row: RunRow, trusted: bool) -> str:
    from ..engine.events import Mismatch
    from ..program.codec import ProgramError
    from .records.run_outcome import cancel_asked

    try:
        return cancel_asked(root, store, row, trusted)
    except (ProgramError, Mismatch) as wrong:
        raise WorldError(f"the run {row.name} cannot be read: {wrong}") from wrong


def _drive(
    store: Store,
    row: RunRow,
    root: str,
    show: Observer,
    answers: dict[str, str],
    assume: dict[str, Assumption],
    changes: dict[str, Any],
    jobs: int,
    shell_seconds: float | None,
    operator: Operator | None,
    leave: threading.Event | None,
) -> Ended:
    from contextlib import nullcontext

    from ..engine.drive import Ending, Ports, drive
    from ..engine.events import Mismatch, Record
    from ..engine.fold import fold
    from ..engine.ports import Cancelled, WorldFailed
    from ..program.codec import ProgramError
    from ..tasks.run_log import Watched
    from ..tools.approvals import openings
    from ..tools.runtime import LocalTools
    from ..tools.simulate import SimulatedTools
    from ..workspace import run_folders
    from ..workspace.outside_table import met
    from .interrupt import interruptible
    from .records import answers as kept
    from .records.questions import tell_replaced
    from .records.tracing import spanned
    from .tool_runtime import bench_for

    try:
        journal = store.claim(row, trust=changes["trusted"])
        program = store.program(row)
        records = journal.records
        driven = max((record.at for record in records), default=0.0)
        who = {"pid": os.getpid(), "began": round(time.time(), 3)}
        fresh = [Record("session", "", journal.epoch, "", "", driven, who)]
        if changes["budget"]:
            fresh.append(
                Record("budget", "", journal.epoch, "", "", driven, {"budget": changes["budget"]})
            )
        fresh += retried(program, row.inputs, records, changes)
        journal.append(fresh)
        rows: list[tuple[Record, Perform | None]] = []
        state = fold(
            program,
            row.inputs,
            [*records, *fresh],
            lambda record, effect: rows.append((record, effect)),
            marks=show.marks,
        )
        if state.marks and records:
            state.marks.clear()  # they were shown before
        ready = kept.taken(root, row, state, records, store.key, alone=True)
        tell_replaced(answers, ready)
        log = _run_log(root, row, program, rows)
    except (ProgramError, Mismatch) as wrong:
        raise WorldError(f"the run {row.name} cannot continue: {wrong}") from wrong
    bench = bench_for(
        root, row.name, show, answers, shell_seconds, operator, ready, kept.shown(row),
        Driver(partial(writing, root), drive_run).told(assume), row.inputs,
    )  # fmt: skip
    origin = row.origin or {}
    taken = frozenset(
        (origin["run"], record.address) for record in records[: origin.get("records", 0)]
    )
    opened = openings.approved(program, records)
    bench = bench._replace(met=met(root, program, records), opened=opened, taken=taken)
    local = LocalTools(program, bench)
    local.follow(state)
    tools: Tools = local
    if "simulate" in row.inputs:
        tools = SimulatedTools(row.inputs["simulate"], bench.root)
    else:
        run_folders.make_outside(root, program, state.builtin.get("run"))
    show.watch(state)
    signals = False
    passed_on: KeyboardInterrupt | None = None
    wants = partial(run_folders.cancel_asked, root, row.name)
    watch = run_folders.CancelWatch(wants, lambda: _halt(tools.cancel, signals), leave)
    progress, traced = spanned(show if log is None else Watched(show, log), row)
    ports = Ports(journal, tools, Monotonic(), progress, watch.leaves)
    try:
        with nullcontext(False) if leave else interruptible() as signals:
            watch.start()
            try:
                ending = drive(program, state, ports, room=jobs, assume=assume)
            finally:
                watch.stop()
        ended = ended_of(row, ending, state)
        if ending.status == "broken":
            ended = left(row, "broken", on_record(store, row, state), ending.message)
    except (KeyboardInterrupt, Cancelled) as left_by:
        passed_on = left_by if leave and isinstance(left_by, KeyboardInterrupt) else None
        if state.ended:  # it ended before the interruption
            last = Ending("stopped" if state.stop else "finished", state.stop, state.result)
            ended = ended_of(row, last, state)
        else:
            status = "cancelled" if watch.asked.is_set() else "interrupted"
            ended = left(row, status, on_record(store, row, state))
    finally:
        bench.close()
    try:
        if log is not None:
            log.close()
    except (
        WorldFailed
    ) as failed:  # missing lines are logged on resume, so the run must be resumable
        ended.status, ended.message = "broken", str(failed)
    if ended.status == "cancelled":
        journal.append([cancelled(journal.epoch, state.elapsed)])
    record_end(journal, ended)
    traced(ended)
    kept.forget(root, row, [address for address in ready if kept.wanted(state, address) is None])
    if ended.status in OVER:
        run_folders.forget_cancel(root, row.name)
    if passed_on is not None:
        raise passed_on
    return ended


def _run_log(
    root: str, row: RunRow, program: Program, rows: list[tuple[Record, Perform | None]]
) -> RunLog | None:
    """The log of a run that belongs to a task; writes the lines that a lost controller did not write."""
    from ..tasks.activity import Task
    from ..tasks.run_log import RunLog

    task = row.inputs.get("task")
    if task is None:
        return None
    log = RunLog(root, row.name, program, Task(task["id"], task["session"]))
    log.catch_up(rows)
    return log


def _halt(cancel: Callable[[], None], signals: bool) -> None:
    """Makes the controller of this process stop: kills its commands, and wakes a process that waits at a prompt."""
    cancel()
    if signals:
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGTERM)


def failures(records: list[Record], alone: Collection[str] = ()) -> list[Record]:
    """The failed outcomes that were not retried yet, and that no fork kept (`alone`)."""
    retried = {(record.address, record.turn) for record in records if record.kind == "retry"}
    return [
        record
        for record in records
        if record.kind == "outcome"
        and "failed" in record.body
        and (record.address, record.turn) not in retried
        and record.address not in alone
    ]


class Monotonic:
    """The machine's monotonic clock (port `engine.ports.Clock`)."""

    def seconds(self) -> float:
        """Seconds since an arbitrary start."""
        return time.monotonic()
