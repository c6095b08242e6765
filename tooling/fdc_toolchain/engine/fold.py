"""Folding records into a state: `fold` of a whole journal, `apply` of one record more.

The same code takes a record that was just written and one that is read on resume, so a resumed
run is where the first one was. Before a record counts, it must be what the program wants at its
address, by tool and by request; otherwise `Mismatch` names both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from math import isfinite
from typing import Any, Literal

from ..narrow import narrow
from ..program.model import LEFT, Grant, Program
from . import machine, operations, rules
from .events import Mismatch, Perform, Question, Record, Stop
from .files.released import Released, may_write, paths_changed
from .files.shared_files import assumed
from .state import Cycle, Meter, RunState, Want

LOST = "its controller was lost"

DIGITS = 9
"""Decimal places to which amounts are rounded: sums of money are exact to a billionth."""


def start(program: Program, inputs: dict[str, object], marks: bool = False) -> RunState:
    """The state of a run that has no records yet.

    `inputs`, each key optional: `given` (the root plan's parameters), `builtin` (names that every
    plan of the run has, such as `run`), `budget` (ceilings that replace the program's), `model`
    (with `rate`, the most that a token of the dearest model costs), `grants` (what the run within a step of
    which it is driven allows). `marks`: keep what is passed without an effect.
    """
    given, builtin, budget, model = (
        narrow(inputs.get(name, {}), dict) for name in ("given", "builtin", "budget", "model")
    )
    budget = {**program["budget"], **budget}
    state = RunState(program, given, builtin, budget, rules.monitors(program))
    state.marks = [] if marks else None
    state.approving = frozenset(
        name for name, tool in program["tools"].items() if tool.get("approves")
    )
    state.metered = frozenset(
        measure for plan in program["plans"].values() for measure in plan.get("budget", ())
    )
    state.assumed_distinct = assumed(program)
    state.rate = model.get("rate") or 0.0
    state.grants = grants_of(narrow(inputs.get("grants", []), list))
    machine.enter(state)
    return state


def fold(
    program: Program,
    inputs: dict[str, object],
    records: Iterable[Record],
    seen: Callable[[Record, Perform | None], None] | None = None,
    due: Callable[[RunState, Record], None] | None = None,
    marks: bool = False,
) -> RunState:
    """The state after `records`, in their order. `seen` is told each with the effect that it belongs to, `due` before
    that each with the state in which it came.

    Raises Mismatch. A prefix of the records of a run always folds.
    """
    state = start(program, inputs, marks)
    records = list(records)
    retried = {(record.address, record.turn) for record in records if record.kind == "retry"}
    for record in records:
        if due is not None:
            due(state, record)
        if retried and record.kind == "outcome" and (record.address, record.turn) in retried:
            want: Want | None = _ignore_failure(state, record)
        else:
            want = apply(state, record)
        if seen is not None:
            seen(record, None if want is None else want.effect)
    return state


def apply(state: RunState, record: Record) -> Want | None:
    """Applies one record to the state, in place. Returns the effect that it belongs to, or None."""
    state.records += 1
    if record.at > state.elapsed:
        state.elapsed = record.at
    if record.kind == "outcome":
        want = _wanted(state, record)
        _outcome(state, want, record.body)
        return want
    if record.kind == "intent":
        want = _wanted(state, record)
        if want.turns and want.held and not want.effect.once:
            _settle(state, want, None)  # the attempt that was announced before this one is lost
        _begin(state, want)
        want.turns = record.turn
        want.interrupted = None
        state.dangling[record.address] = want
        return want
    if record.kind == "interrupted":
        want = _wanted(state, record)
        want.interrupted = bool(record.body.get("begun", True))
        state.dangling[record.address] = want
        return want
    if record.kind == "session":
        for address in [
            address for address, want in state.dangling.items() if not want.effect.once
        ]:
            redo(state, address, LOST)
    if record.kind == "budget":
        state.budget.update(record.body["budget"])
        state.overrun = None
    return None


def came_back(state: RunState, address: str, at: float, body: dict[str, object]) -> None:
    """Applies the outcome of an effect of this same state: like `apply`, without comparing the request."""
    state.records += 1
    if at > state.elapsed:
        state.elapsed = at
    want = state.running.pop(address, None)
    _outcome(state, want or state.taken(address), body)


def launch(state: RunState, address: str) -> None:
    """This controller performs the effect from now on."""
    want = state.pending.pop(address, None) or state.taken(address)
    if not (want.begun and want.held):
        _begin(state, want)
    state.running[address] = want


def park(
    state: RunState, address: str, question: str, how: Literal["answer", "assume"] = "answer",
    shows: dict[str, object] | None = None,
) -> None:  # fmt: skip
    """The effect waits for a person: for an answer to `question`, or to say whether it happened."""
    want = state.taken(address)
    want.question = Question(want.effect, question, how, shows)
    state.parked[address] = want


def redo(state: RunState, address: str, reason: str) -> None:
    """The effect may be tried again: it did not happen, or may happen twice. The cost of a lost attempt counts."""
    want = state.taken(address)
    if want.held and not want.effect.once:
        _settle(state, want, None)
    want.effect = want.effect._replace(turn=want.turns + 1, after=reason)
    state.pending[address] = want


def next_symbol(want: Want) -> tuple[Cycle, str] | None:
    """The automaton that reads this effect, with the symbol; None where no automaton reads it."""
    if want.action is None or want.begun:
        return None
    cycle = want.strand.frames[-1].scope.cycle
    return None if cycle is None else (cycle, want.action)


def _begin(state: RunState, want: Want) -> None:
    if not want.begun:
        if want.action is not None or want.noticed:
            _notice(want)
        want.begun = True
        if want.effect.kind == "tool":
            state.spent["steps"] = state.spent.get("steps", 0) + 1
            for called in want.meters if state.metered else ():
                called.spent["steps"] = called.spent.get("steps", 0) + 1
    if not want.held:
        want.held = True
        if want.cost:
            meters = _meters(state, want)
            want.holds = _set_aside(want.cost, meters) if LEFT in want.cost.values() else want.cost
            for meter in meters:
                for measure, number in want.holds.items():
                    meter.reserved[measure] = meter.reserved.get(measure, 0) + number


def _notice(want: Want) -> None:
    noticed = next_symbol(want)
    if noticed is not None:
        cycle, symbol = noticed
        after = cycle.after(cycle.state, symbol)
        if after is None:
            raise Mismatch(
                f"the journal has `{want.effect.tool}` at {want.effect.address}, "
                f"which `{cycle.name}` does not allow in state `{cycle.state}`"
            )
        cycle.state = after
    if want.noticed:
        against = rules.begin(want.noticed)
        if against is not None:
            raise Mismatch(
                f"the journal has `{want.effect.tool}` at {want.effect.address}, "
                f"which the rule {against.name} does not allow there"
            )


def _outcome(state: RunState, want: Want, body: dict[str, Any]) -> None:
    if not (want.begun and want.held):
        _begin(state, want)
    kind, strand = want.effect.kind, want.strand
    if kind == "tool":
        state.steps += 1
        usage = body.get("usage")
        if want.cost or usage:
            _settle(state, want, usage)
        else:
            want.held = False
    failed = body.get("failed")
    if failed is not None:
        tool = want.effect.tool
        message = f"`{tool}`: {failed['message']}"
        operations.stop(strand, "failure", message, failed["kind"], "" if kind == "files" else tool)
    elif kind == "tool":
        if strand.released is not None or want.effect.tool in state.approving:
            _release(state, want, body)
        frame = strand.frames[-1]
        name = frame.block[frame.at]["bind"]
        if name is not None:
            frame.scope.names[name] = body.get("value")
        frame.at += 1
    elif kind == "predicate":
        strand.answers.append(body.get("value"))
    else:
        operations.listed(strand, body["value"])
    machine.advance(state, strand)


def _release(state: RunState, want: Want, body: dict[str, Any]) -> None:
    """An approval binds the later steps to what it showed; files that other steps change count as the run's own."""
    strand, effect = want.strand, want.effect
    if effect.tool in state.approving:
        outer = None if strand.join is None else strand.join.strand.released
        strand.released = Released.of(body, outer)
    elif strand.released is not None:
        tool = state.program["tools"][effect.tool]
        unknown = may_write(tool, effect.grants)
        strand.released.changed(paths_changed(tool, effect.args), unknown)


def _ignore_failure(state: RunState, record: Record) -> Want:
    """Applies a failure that a person wants tried again: its cost counts, and it does not stop the run."""
    state.records += 1
    state.elapsed = max(state.elapsed, record.at)
    want = _wanted(state, record)
    _begin(state, want)
    _settle(state, want, record.body.get("usage"))
    want.turns = record.turn
    state.parked[record.address] = want
    redo(state, record.address, "it failed, and a person wanted it tried again")
    return want


def _settle(state: RunState, want: Want, usage: dict[str, Any] | None) -> None:
    """Replaces what was reserved for a step by what it used; where it reports nothing, the reservation counts.

    A report of more than was reserved, of something that has a budget, or of what is not an amount, stops the run.
    """
    want.held = False
    if not (want.cost or usage):
        return
    cost, want.holds = want.holds, {}
    meters = _meters(state, want)
    for measure, number in cost.items():
        for meter in meters:
            meter.reserved[measure] = round(meter.reserved[measure] - number, DIGITS)
    if want.cost and LEFT in want.cost.values():
        usage = _usage_since(want, usage or {})
    for measure, reported in {**cost, **(usage or {})}.items():
        most = cost.get(measure, 0)
        number = reported if _is_amount(reported) else most
        for meter in meters:
            meter.spent[measure] = round(meter.spent.get(measure, 0) + number, DIGITS)
        limited = any(measure in meter.budget for meter in meters)
        if state.overrun is None and limited and (number > most or number is not reported):
            effect = want.effect
            message = f"`{effect.tool}` reports {str(reported)[:40]} {measure}, and {most:g} had been set aside for it"
            state.overrun = Stop("overrun", message, effect.address, effect.path, effect.line)


def _set_aside(cost: dict[str, Any], meters: tuple[RunState | Meter, ...]) -> dict[str, float]:
    """The amounts that a cost reserves; for `left`, all that is left of each budget, and nothing without a budget."""
    out = {measure: most for measure, most in cost.items() if most != LEFT}
    for measure in cost.keys() - out.keys():
        rest = [
            meter.budget[measure] - meter.spent.get(measure, 0) - meter.reserved.get(measure, 0)
            for meter in meters
            if measure in meter.budget
        ]
        if rest:
            out[measure] = round(max(0.0, min(rest)), DIGITS)
    return out


def _usage_since(want: Want, usage: dict[str, Any]) -> dict[str, Any]:
    """What a step with a cost of `left` used since its last report: the run inside it continues with each attempt and reports
    its total. An attempt without a report, such as a lost one, has used nothing more."""
    out = {}
    for measure in {*(want.cost or {}), *usage}:
        reported = usage.get(measure, want.counted.get(measure, 0.0))
        if _is_amount(reported):
            before = want.counted.get(measure, 0.0)
            want.counted[measure] = max(reported, before)
            reported = round(max(0.0, reported - before), DIGITS)
        out[measure] = reported
    return out


def grants_of(rows: Iterable[Mapping[str, list[list[list[object]]]]]) -> tuple[Grant, ...]:
    """What plans allow, read from plain data."""
    return tuple(
        {
            kind: tuple(tuple((bool(value), str(text)) for value, text in glob) for glob in globs)
            for kind, globs in row.items()
        }
        for row in rows
    )


def _meters(state: RunState, want: Want) -> tuple[RunState | Meter, ...]:
    """The budgets that a step counts for: that of the run, and those of called plans that state one."""
    return (state, *want.meters) if state.metered else (state,)


def _is_amount(reported: Any) -> bool:
    return (
        isinstance(reported, (int, float))
        and not isinstance(reported, bool)
        and isfinite(reported)
        and reported >= 0
    )


def _wanted(state: RunState, record: Record) -> Want:
    """Removes the effect that a record belongs to from the waiting ones, and returns it. Raises Mismatch."""
    want = state.take(record.address)
    if want is None:
        raise Mismatch(
            f"the journal has `{record.tool}` at {record.address}, where the program wants nothing at that point"
        )
    effect = want.effect
    if effect.tool != record.tool:
        raise Mismatch(
            f"the journal has `{record.tool}` at {record.address}, where the program wants `{effect.tool}`"
        )
    if effect.request != record.request:
        raise Mismatch(
            f"the journal has `{record.tool}` at {record.address} with the request {record.request}, "
            f"where the program's request is {effect.request}"
        )
    return want
