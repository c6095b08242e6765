"""A run from its journal, as the values of its page (`report.run_page.Run`)."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ...engine.events import Mismatch, Perform, Record
from ...engine.fold import fold
from ...engine.ports import WorldFailed
from ...engine.values import text as written
from ...program.causes import FINAL
from ...program.codec import ProgramError
from ...program.model import Program
from ...report import run_page
from ...report.exit_codes import exit_code
from ...report.run_page import Budget, Run, Step, Value
from .plan_lines import evidence, plans

if TYPE_CHECKING:
    from ...engine.state import RunState, Strand
    from ...journal.sqlite import RunRow, Store

_STACKS = 40
_GATES = 100

Rows = list[tuple[Record, Perform | None]]


def view(
    root: str, store: Store, row: RunRow, status: str, seal: str, faults: Sequence[str]
) -> Run:
    """All data of a run; `faults` is what `fdc verify` finds. A damaged run is shown up to the damage.

    Raises WorldFailed if its row or program cannot be read.
    """
    faults = list(faults)
    rows: Rows = []
    state: RunState | None = None
    program: Program | None = None
    kept: list[tuple[float, str]] = []
    records = store.records(row)
    try:
        program = store.program(row)
        watched = _Watched(rows)
        state = fold(program, row.inputs, records, watched.look, watched.due, marks=True)
        kept = [*watched.all(state), *_gates(state, records)]
    except (Mismatch, ProgramError, WorldFailed) as wrong:
        faults.append(f"the record cannot be followed further: {wrong}")
        rows += [(record, None) for record in records[len(rows) :]]
    ending = row.ending if row.ending is not None and status not in ("running", "new") else {}
    asked = (
        {one["address"]: _asked(row, one) for one in ending.get("questions", ())}
        if status == "waiting"
        else {}
    )
    steps, left = _Steps(program, rows, asked).all()
    seconds = max((record.at for record in records), default=0.0)
    origin = row.origin
    return Run(
        name=row.name,
        plan=row.plan,
        status=status,
        program=row.digest,
        started=time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(row.started)),
        seconds=seconds,
        given=tuple(_value(name, text) for name, text in row.inputs.get("given", {}).items()),
        origin="" if origin is None else f"{origin['run']}@{origin['address']}",
        records=len(records),
        seal=seal,
        faults=tuple(faults),
        tiers=_tiers(records),
        budget=_budget(program, state, row, records, seconds),
        plans=() if program is None else tuple(plans(root, program, steps)),
        steps=tuple(steps),
        left=left,
        events=tuple(sorted([*_events(records), *kept], key=lambda event: event[0])),
        stack=()
        if state is None or state.ended or status == "cancelled"
        else _stack(state, asked, status == "running"),
        questions=tuple(asked.items()),
        message=_message(ending),
        result=None
        if state is None or state.result is None or not state.ended
        else _value("result", state.result),
        simulated="simulate" in row.inputs,
        assumptions=tuple(
            (one["path"], one["line"], one["text"])
            for one in (program.get("assumptions", ()) if program else ())
        ),
    )


def _asked(row: RunRow, question: dict[str, Any]) -> str:
    if question["how"] == "answer":
        return str(question["text"])
    done = "'done:RESULT'" if question["bound"] else "done"
    address = question["address"]
    answers = f"--assume {address}={done} (or {address}=not-done)"
    return f"{question['text']}. Check whether it happened, then: fdc resume {row.name} {answers}"


def _gates(state: RunState, records: Sequence[Record]) -> list[tuple[float, str]]:
    """The first gates that held, and when."""
    held = [mark for mark in state.marks or () if mark.what == "require"]
    return [
        (records[mark.after - 1].at if mark.after else 0.0, f"`require` held (at {mark.path}:{mark.line}, {mark.address})")
        for mark in held[:_GATES]
    ]  # fmt: skip


class _Watched:
    """Collects the records of a folded run, and when branches stopped whose failures were kept."""

    def __init__(self, rows: Rows) -> None:
        self.rows = rows
        self.times: list[float] = []

    def look(self, record: Record, effect: Perform | None) -> None:
        self.rows.append((record, effect))

    def due(self, state: RunState, record: Record) -> None:
        """Called before a record is applied: failures kept until then belong to the previous record."""
        at = self.rows[-1][0].at if self.rows else 0.0
        self.times += [at] * (len(state.kept) - len(self.times))

    def all(self, state: RunState) -> list[tuple[float, str]]:
        at = self.rows[-1][0].at if self.rows else 0.0
        times = self.times + [at] * (len(state.kept) - len(self.times))
        said = "a branch failed, and the run continued"
        return [
            (
                when,
                f"{said}: {stop.kind}: {stop.message} (at {stop.path}:{stop.line}, {stop.address})",
            )
            for when, stop in zip(times, state.kept, strict=True)
        ]


class _Steps:
    """The steps of a run in the order of their outcomes; those without an outcome last."""

    def __init__(self, program: Program | None, rows: Rows, asked: dict[str, str]) -> None:
        self.rows, self.asked = rows, asked
        self.evidence = {} if program is None else evidence(program)
        self.budget = run_page.MOST_TEXTS

    def all(self) -> tuple[list[Step], int]:
        open_: dict[str, tuple[Record, Perform | None]] = {}
        done = []
        for record, effect in self.rows:
            if record.kind == "outcome":
                open_.pop(record.address, None)
                done.append((record, effect))
            elif record.kind == "intent":
                open_[record.address] = (record, effect)
        chosen = list(enumerate([*done, *open_.values()], 1))
        left = max(0, len(chosen) - run_page.MOST_STEPS)
        if left:
            half = run_page.MOST_STEPS // 2
            chosen = chosen[:half] + chosen[-half:]
        return [self._step(number, record, effect) for number, (record, effect) in chosen], left

    def _step(self, number: int, record: Record, effect: Perform | None) -> Step:
        body = record.body
        failed = body.get("failed")
        took = float(body.get("took") or 0.0)
        code = exit_code(body.get("value"))
        state = "failed" if failed is not None else run_page.FAILED_COMMAND if code else "ok"
        if record.kind == "intent":
            state = "waiting" if record.address in self.asked else "begun"
        path, line = ("", 0) if effect is None else (effect.path, effect.line)
        args = (
            {}
            if effect is None
            else {name: value for name, value in effect.args.items() if value is not None}
        )
        texts = sorted((written(value) for value in args.values()), key=lambda text: "\n" in text)
        output = None
        if record.kind == "outcome" and failed is None and body.get("value") is not None:
            output = self._cut("output", body["value"])
        notes = {**body.get("notes", {}), **({"usage": body["usage"]} if body.get("usage") else {})}
        if record.turn > 1:
            notes["attempt"] = record.turn
        return Step(
            number, record.address, record.tool, "" if effect is None else effect.effect, path, line, state,
            max(0.0, record.at - took), took, " ".join(run_page.first(text, 60) for text in texts),
            tuple(self._cut(name, value) for name, value in args.items()), output,
            _failure(failed, effect),
            self.evidence.get((path, line), ""),
            tuple((name, _text(value)[: run_page.MOST_TEXT]) for name, value in notes.items()),
            code,
        )  # fmt: skip

    def _cut(self, name: str, value: Any) -> Value:
        found = _value(name, value, run_page.MOST_TEXT if self.budget > 0 else 200)
        self.budget -= len(found.text)
        return found


def _failure(failed: dict[str, Any] | None, effect: Perform | None) -> str:
    if failed is None:
        return ""
    alone = effect is not None and effect.alone and failed["kind"] not in FINAL
    kept = " (kept: only its branch ended)" if alone else ""
    return f"{failed['kind']}: {failed['message']}{kept}"


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, indent=2, ensure_ascii=False)


def _value(name: str, value: Any, most: int = run_page.MOST_TEXT) -> Value:
    text = _text(value)
    return Value(name, text[:most], max(0, len(text) - most))


def _plans_of(strand: Strand) -> list[str]:
    """The plans on the stack of a fiber, the root first; a branch includes the stack of its fork."""
    above = [] if strand.join is None else _plans_of(strand.join.strand)
    return above + [frame.scope.path for frame in strand.frames if frame.opens_scope]


def _stack(state: RunState, asked: dict[str, str], driven: bool) -> tuple[tuple[str, ...], ...]:
    """The current position of the run, one row per fiber: the plans on its stack, and its next effect."""
    rows = []
    begun = "is running" if driven else "was begun"
    for place, how in (
        (state.running, "runs"), (state.pending, "is next"), (state.dangling, begun), (state.parked, "waits for a person"),
    ):  # fmt: skip
        for want in place.values():
            cycle = want.strand.frames[-1].scope.cycle
            within = "" if cycle is None else f", state {cycle.state}"
            said = "waits for a person" if want.effect.address in asked else how
            rows.append(
                (
                    *_plans_of(want.strand),
                    f"{want.effect.tool} at {want.effect.address} {said}{within}",
                )
            )
    return tuple(sorted(rows, key=lambda one: one[-1])[:_STACKS])


def _budget(
    program: Program | None,
    state: RunState | None,
    row: RunRow,
    records: list[Record],
    seconds: float,
) -> tuple[Budget, ...]:
    most: dict[str, float] = {
        **({} if program is None else program["budget"]),
        **row.inputs.get("budget", {}),
    }
    for record in records:
        if record.kind == "budget":
            most.update(record.body.get("budget", {}))
    spent = dict((row.ending or {}).get("spent", {}) if state is None else state.spent)
    spent["seconds"] = seconds
    return tuple(
        Budget(name, spent.get(name, 0), most.get(name))
        for name in dict.fromkeys([*most, *sorted(spent)])
    )


def _tiers(records: list[Record]) -> tuple[tuple[str, int], ...]:
    found: dict[str, int] = {}
    for record in records:
        tier = (record.body.get("notes") or {}).get("sandbox") if record.kind == "outcome" else None
        if isinstance(tier, str):
            found[tier] = found.get(tier, 0) + 1
    return tuple(sorted(found.items()))


def _events(records: list[Record]) -> Iterator[tuple[float, str]]:
    for record in records:
        body = record.body
        if record.kind == "session":
            began = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(body.get("began", 0)))
            yield (
                record.at,
                f"process {body.get('pid')} {'began' if record.turn == 1 else 'continued'} at {began}",
            )
        elif record.kind == "budget":
            yield record.at, f"budget changed: {json.dumps(body.get('budget'))}"
        elif record.kind == "retry":
            yield record.at, f"will be retried: {record.address}"
        elif record.kind == "interrupted":
            yield record.at, f"stopped by fdc before its end: {record.address}"
        elif record.kind == "cancel":
            yield record.at, f"cancelled by process {body.get('pid')}"


def _message(ending: dict[str, Any]) -> str:
    stop = ending.get("stop")
    if stop is not None:
        where = f"(at {stop['path']}:{stop['line']}, {stop['address']})"
        cause = stop.get("cause", {})
        false = (
            f"; an assumption of the proof was false: {cause['text']}"
            if cause.get("kind") == "assumption"
            else ""
        )
        return f"{stop['kind']}: {stop['message']} {where}{false}"
    return str(ending.get("message") or "")
