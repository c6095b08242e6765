"""How driving a run ended: as a value, and in the record."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ...exits import WorldError

if TYPE_CHECKING:
    from ...engine.drive import Ending
    from ...engine.events import Perform, Record, Stop
    from ...engine.state import RunState
    from ...journal.run_journal import RunJournal
    from ...journal.sqlite import RunRow, Store
    from ...program.model import Program


OVER = ("finished", "stopped", "cancelled")
"""Final statuses of a run: only a larger budget, a retry or `--force` continues it."""


@dataclass(slots=True)
class Ended:
    """How driving a run ended: `status` as in the journal, and the details."""

    run: str
    plan: str
    status: str
    stop: dict[str, Any] | None = None
    result: Any = None
    questions: list[dict[str, Any]] = field(default_factory=list)
    message: str = ""
    steps: int = 0
    seconds: float = 0.0
    spent: dict[str, float] = field(default_factory=dict)
    simulated: bool = False
    kept: list[dict[str, Any]] = field(default_factory=list)
    """The stops of branches whose failures their forks kept."""
    unsettled: list[dict[str, Any]] = field(default_factory=list)
    """Steps of an interrupted run without an outcome (`question`); resuming begins them `again`, or asks about them."""


def ended_of(row: RunRow, ending: Ending, state: RunState) -> Ended:
    """The outcome of a run that was driven to `ending` and is in `state`."""
    questions = [question(q.effect, q.text, q.how, q.shows) for q in ending.questions]
    stop = None if ending.stop is None else explained(state.program, ending.stop)
    spent = {measure: number for measure, number in state.spent.items() if number}
    return Ended(
        row.name, row.plan, ending.status, stop, ending.result, questions, ending.message, state.steps,
        round(state.elapsed, 3), spent, simulated="simulate" in row.inputs,
        kept=[explained(state.program, one) for one in state.kept],
    )  # fmt: skip


def explained(program: Program, stop: Stop) -> dict[str, object]:
    """A stop as JSON, with its `cause`."""
    from ...program.causes import explain
    from ...tools.tool_rows import TOOLS

    said = stop._asdict()
    cause = explain(program, {**said, "core": not stop.tool or stop.tool in TOOLS})
    del said["failure"], said["tool"], said["measure"]
    return {**said, "cause": cause}


def question(
    effect: Perform, text: str, how: str, shows: Mapping[str, object] | None = None
) -> dict[str, object]:
    """The question about an effect for the outcome; of an approval, with what it shows."""
    more = {} if shows is None else {"shows": shows}
    return {**more, "address": effect.address, "tool": effect.tool, "text": text, "how": how,
            "path": effect.path, "line": effect.line, "args": effect.args, "bound": effect.bound}  # fmt: skip


def unsettled(state: RunState) -> list[dict[str, object]]:
    """The `once` steps that were begun and have no outcome, except those whose tools decide that themselves.

    `again`: fdc stopped the step itself, and begins it again when the run continues.
    """
    from ...engine.drive import begins_again
    from ...tools.tool_rows import can_tell

    out = []
    for want in (*state.dangling.values(), *state.running.values(), *state.parked.values()):
        effect = want.effect
        row = state.program["tools"].get(effect.tool)
        if not effect.once or want.interrupted is False or (row and row.get("repeatable")):
            continue
        if want.interrupted:
            again = begins_again(row)
            said = "fdc stopped it before its end" + "; resuming begins it again" * again
        elif can_tell(effect.tool, row):
            continue
        else:
            again, said = False, "it was running, and it is unknown whether it happened"
        out.append({**question(effect, said, "assume"), "again": again})
    return out


def over(store: Store, row: RunRow, trusted: bool) -> Ended:
    """The outcome of an ended run, read from its record."""
    from ...engine.drive import Ending
    from ...engine.events import Mismatch
    from ...engine.fold import fold
    from ...journal import counter
    from ...journal.sqlite import Damaged, Outdated, Untrusted
    from ...program.codec import ProgramError

    checked = store.check(row.id)
    if checked.faults:
        raise Damaged(f"the record of the run {row.name} is damaged: {checked.faults[0]}")
    if checked.older:
        raise Outdated(counter.outdated(row.name, checked.older))
    if checked.signature != "ours" and not trusted:
        raise Untrusted(checked.signature)
    try:
        state = fold(store.program(row), row.inputs, store.records(row))
    except (ProgramError, Mismatch) as wrong:
        raise WorldError(f"the run {row.name} cannot be read: {wrong}") from wrong
    said = row.ending or {}
    ended = ended_of(row, Ending("finished", None, state.result), state)
    ended.status, ended.stop = row.status, said.get("stop")
    ended.steps, ended.seconds = said.get("steps", ended.steps), said.get("seconds", ended.seconds)
    return ended


def recorded(store: Store, row: RunRow) -> Ended:
    """The outcome of a run in its journal. Raises WorldError."""
    from ...engine.events import Mismatch
    from ...engine.fold import fold
    from ...program.codec import ProgramError

    try:
        return end_on_record(row, fold(store.program(row), row.inputs, store.records(row)))
    except (ProgramError, Mismatch) as wrong:
        raise WorldError(f"the run {row.name} cannot be read: {wrong}") from wrong


def end_on_record(row: RunRow, state: RunState) -> Ended:
    """The recorded outcome of a run in `state`."""
    said = row.ending or {}
    return Ended(
        row.name, row.plan, row.status, said.get("stop"), state.result if row.status == "finished" else None,
        said.get("questions", []), said.get("message", ""), said.get("steps", 0), said.get("seconds", 0.0),
        said.get("spent", {}), kept=[explained(state.program, one) for one in state.kept],
    )  # fmt: skip


def left(row: RunRow, status: str, state: RunState, message: str = "") -> Ended:
    """The outcome of an interrupted run."""
    from ...engine.drive import Ending

    ended = ended_of(row, Ending("broken", message=message), state)
    ended.status = status
    ended.unsettled = unsettled(state)
    return ended


def on_record(store: Store, row: RunRow, state: RunState) -> RunState:
    """Where a run stands that was left at `state`: on a full disk its driver knows of steps that could not be recorded."""
    from ...engine.fold import fold
    from ...engine.ports import WorldFailed

    try:
        return fold(state.program, row.inputs, store.records(row))
    except WorldFailed:
        return state


def cancel_end(journal: RunJournal, row: RunRow, state: RunState) -> str:
    """Ends a run that is not being driven: cancelled, unless it has ended already. Returns its new status."""
    from ...engine.drive import Ending

    if state.ended:
        ended = ended_of(
            row, Ending("stopped" if state.stop else "finished", state.stop, state.result), state
        )
    else:
        journal.append([cancelled(journal.epoch, state.elapsed)])
        ended = left(row, "cancelled", state)
    record_end(journal, ended)
    return ended.status


def cancel_asked(root: str, store: Store, row: RunRow, trusted: bool = False) -> str:
    """Carries out a request to cancel by any process. The caller holds the run's lock.

    Returns the run's new status: `cancelled`, or unchanged if it has ended already. Raises Damaged, Untrusted, Mismatch,
    ProgramError, Fenced and WorldFailed; then the request remains.
    """
    from ...engine.fold import fold
    from ...workspace import run_folders

    status = row.status
    if status not in OVER:
        journal = store.claim(row, trust=trusted)
        status = cancel_end(journal, row, fold(store.program(row), row.inputs, journal.records))
    run_folders.forget_cancel(root, row.name)
    return status


def cancelled(epoch: int, at: float) -> Record:
    """The record of a run's cancellation."""
    from ...engine.events import Record

    return Record(
        "cancel", "", epoch, "", "", at, {"pid": os.getpid(), "began": round(time.time(), 3)}
    )


def record_end(journal: RunJournal, ended: Ended) -> None:
    """Records how driving ended. Raises WorldFailed if that is the end of the run itself."""
    from ...engine.ports import WorldFailed
    from ...engine.replay import digest

    said = {
        "stop": ended.stop, "message": ended.message, "steps": ended.steps, "seconds": ended.seconds,
        "spent": ended.spent, "questions": ended.questions,
        "result": digest(ended.result),
    }  # fmt: skip
    try:
        journal.close_run(ended.status, said, time.time())
    except WorldFailed:
        if ended.status in ("finished", "stopped", "cancelled"):
            raise
        # This outcome reports a failed environment anyway; the records up to here are safe.
