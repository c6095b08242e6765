"""Checks a run against its journal alone, and finds the records that a forked run takes over.

Nothing is performed and nothing is written: the outcomes come from the records.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from hashlib import blake2b
from typing import Any, NamedTuple

from ..program.causes import FINAL
from ..program.codec import encode
from ..program.model import FORMAT, Program
from .decide import decide, unaffordable
from .events import Finish, Mismatch, Perform, Record
from .fold import fold
from .state import RunState


class Replayed(NamedTuple):
    """The result of a replay. `difference`: the first place that differs from the record; None: no difference."""

    steps: int
    records: int
    difference: str | None


class _Differs(Exception):
    pass


def replay(
    program: Program,
    inputs: dict[str, object],
    records: Sequence[Record],
    status: str,
    ending: dict[str, object] | None,
) -> Replayed:
    """Executes a run again, every effect answered from its record, and compares where it gets to.

    Every record must be what the program wants at that moment; the automaton, the rules and the budget
    must let it begin, and every `once` effect must be announced before it has an outcome. Where the run
    has an end, the end must be the same: its kind, reason and place, its result, its questions, the
    steps and what they spent.
    """
    seen: list[Record] = []
    announced: set[tuple[str, int]] = set()

    def look(record: Record, effect: Perform | None) -> None:
        seen.append(record)
        if record.kind == "intent":
            announced.add((record.address, record.turn))
        elif record.kind == "outcome" and effect is not None and effect.once:
            if (record.address, record.turn) not in announced:
                raise _Differs(
                    f"record {len(seen)}: `{record.tool}` at {record.address} was never announced"
                )

    def due(state: RunState, record: Record) -> None:
        want = state.pending.get(record.address)
        if (
            want is None
            or not (state.budget or state.metered)
            or record.kind not in ("intent", "outcome")
        ):
            return
        # What is not announced has begun at some time before it came back, perhaps before others used too much.
        announced = record.kind == "intent"
        if state.overrun is not None:
            refused = state.overrun if announced else None
        else:
            refused = unaffordable(state, want, state.elapsed if announced else 0.0)
        if refused is not None:
            raise _Differs(
                f"record {len(seen) + 1}: `{record.tool}` at {record.address} was begun, and {refused.message}"
            )

    try:
        state = fold(program, inputs, records, look, due)
    except Mismatch as wrong:
        return Replayed(0, len(seen), f"record {len(seen) + 1}: {wrong}")
    except _Differs as wrong:
        return Replayed(0, len(seen), str(wrong))
    return Replayed(state.steps, len(seen), _end(program, state, status, ending))


def _end(
    program: Program, state: RunState, status: str, ending: dict[str, Any] | None
) -> str | None:
    if ending is None or status in ("new", "running"):
        return None  # its controller was lost: no end is on record
    lacking = [
        name for name in ("seconds", "steps", "spent", "questions", "stop") if name not in ending
    ]
    if lacking:
        return f"the end: `{lacking[0]}` is not on record"
    state.elapsed = max(state.elapsed, ending["seconds"])
    if ending["steps"] != state.steps:
        return f"the end: {ending['steps']} steps are on record, the records make {state.steps}"
    if (difference := _spent(state, status, ending)) is not None:
        return difference
    if status == "waiting":
        expected = {*state.pending, *state.dangling}
        lost = [
            question["address"]
            for question in ending["questions"]
            if question["address"] not in expected
        ]
        return (
            f"the end: a question at {lost[0]} is on record, which the program does not ask"
            if lost
            else None
        )
    if status not in ("finished", "stopped"):
        return None
    decision = decide(program, state)
    if not isinstance(decision, Finish):
        return f"the end: `{status}` is on record, and the program would go on"
    stop = None if decision.stop is None else {key: getattr(decision.stop, key) for key in _STOP}
    recorded = ending["stop"]
    if stop != (None if recorded is None else {key: recorded.get(key) for key in _STOP}):
        return f"the end: {_describe_stop(ending['stop'])} is on record, the records make {_describe_stop(stop)}"
    if ending.get("result") not in (None, digest(decision.result)):
        return "the end: the run's result is not the one on record"
    return None


def _spent(state: RunState, status: str, ending: dict[str, Any]) -> str | None:
    """Compares what the end says was spent. A step counts when it begins, and one that is not announced and has not come
    back has no record yet: it is asked for at the end (`waiting`), or was under way when driving broke off."""
    spent = {measure: number for measure, number in state.spent.items() if number}
    if ending["spent"] == spent:
        return None
    under_way = [
        want for want in state.pending.values() if want.effect.kind == "tool" and not want.begun
    ]
    if status == "waiting":
        addresses = {question["address"] for question in ending["questions"]}
        number = sum(want.effect.address in addresses for want in under_way)
        more = range(number, number + 1)
    elif status in ("finished", "stopped"):
        more = range(0)
    else:
        more = range(1, len(under_way) + 1)
    if any(
        ending["spent"] == {**spent, "steps": spent.get("steps", 0) + number} for number in more
    ):
        return None
    return f"the end: {ending['spent']} spent are on record, the records make {spent}"


def digest(result: object) -> str:
    """The digest of a run's result, as its ending records it."""
    return blake2b(encode(result), digest_size=16).hexdigest()


_STOP = ("kind", "message", "address", "path", "line")
"""What a record says of a stop that follows from its steps; its cause is derived from the program."""


def _describe_stop(stop: dict[str, Any] | None) -> str:
    return "no stop" if stop is None else f"`{stop['message']}` at {stop['address']}"


def failed_alone(
    program: Program, inputs: dict[str, object], records: Sequence[Record]
) -> frozenset[str]:
    """The addresses of failed steps that a fork around them keeps: the run went on with the failure. Raises Mismatch."""
    if program["format"] == FORMAT:
        return frozenset()
    addresses: set[str] = set()

    def look(record: Record, effect: Perform | None) -> None:
        if (
            record.kind == "outcome"
            and "failed" in record.body
            and effect is not None
            and effect.alone
            and record.body["failed"]["kind"] not in FINAL
        ):
            addresses.add(record.address)

    fold(program, inputs, records, look)
    return frozenset(addresses)


def before(records: Sequence[Record], address: str, alone: Collection[str] = ()) -> list[Record]:
    """The records that a run forked at the step `address` takes over: all that was settled before it.

    Attempts without an outcome and failures that were not retried are left out: the new run tries
    them itself. Failures that a fork keeps (`failed_alone`) are taken over. Raises KeyError where the
    step was never begun.
    """
    kinds = ("intent", "outcome")
    end = next(
        (
            at
            for at, record in enumerate(records)
            if record.address == address and record.kind in kinds
        ),
        None,
    )
    if end is None:
        raise KeyError(address)
    earlier = records[:end]
    retried = {(record.address, record.turn) for record in earlier if record.kind == "retry"}
    settled = {
        (record.address, record.turn)
        for record in earlier
        if record.kind == "outcome"
        and (
            "failed" not in record.body
            or (record.address, record.turn) in retried
            or record.address in alone
        )
    }
    return [
        record
        for record in earlier
        if record.kind in ("budget", "retry")
        or (record.kind in kinds and (record.address, record.turn) in settled)
    ]
