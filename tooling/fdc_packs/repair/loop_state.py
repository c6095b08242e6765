"""The state of a repair as the loop hands it on: its bound, how it begins, and what steps of the plan read of it. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypedDict, Unpack

from . import hypotheses
from .no_tests import why_none_ran

if TYPE_CHECKING:
    from .shapes import Attempt, Failure, Hypotheses, Hypothesis, Measured, Probed, Record

MOST = 200
"""Iterations that the plan's loop allows."""
HISTORY = 5
"""Iterations that prompts are told of (HYP-40)."""


class State(TypedDict, total=False):
    """What goes from step to step of the plan `fix`."""

    ended: str
    cycle: int
    iteration: int
    limit: int
    pass_limit: int
    patience: float
    stall_limit: int
    stalls: int
    failure: Failure
    store: Hypotheses
    attempts: list[Record]
    history: list[str]
    tried: list[str]
    accepted: list[dict[str, object]]
    asked: int
    interpretation: str
    context: list[dict[str, object]]
    gathers: int
    notes: list[str]
    probed: Probed
    probes: int
    tested: list[str]
    choices: list[dict[str, object]]
    selected: str
    failed_falsify: int
    falsified: list[str]
    challenge: Mapping[str, object] | None
    critique: Mapping[str, object]
    fresh: bool
    anew: bool
    gathered: bool
    short: bool
    settled: bool
    viable: bool
    refused: list[str]
    events: Sequence[Mapping[str, object]]
    recent: list[str]
    carried: list[dict[str, object]]
    hypothesis: Hypothesis | None
    wanted: int
    ids: list[str]


def bound(iterations: str | float, refine: str | float = 0, passes: str | float = 1) -> int:
    """The most iterations of a repair (HYP-32); the plan's loop allows MOST of them."""
    return (max(1, int(iterations)) + max(0, int(refine))) * max(1, int(passes))


def beginning(measured: Measured, failure: Failure) -> tuple[str, list[str]]:
    """Why a repair ends before it begins, with notes about it; empty where it goes on. `failure`: what the command said."""
    if measured["passed"]:
        return "passing", []
    if measured["exit_code"] is None:
        return "no-command", []
    no_test = why_none_ran(measured, failure)
    if no_test:
        return "no-tests", [no_test]
    return ("flaky" if measured.get("flaky") else ""), []


def told(
    state: State, events: Sequence[Mapping[str, object]], /, **changes: Unpack[State]
) -> State:
    """The state with changes, and with what steps of the plan read of it."""
    after: State = {**state, **changes}
    store = after["store"]
    selected = after.get("selected") or ""
    row = hypotheses.get(store, selected) if selected else None
    defaults: State = {
        "fresh": False,
        "anew": False,
        "gathered": True,
        "short": False,
        "settled": True,
        "viable": False,
        "refused": [],
    }
    after = {**defaults, **after}
    return {
        **after, "events": events, "recent": after["history"][-HISTORY:], "carried": hypotheses.carried(store),
        "hypothesis": row, "wanted": 0 if hypotheses.listed(store, "active") else 2,
        "ids": [one["id"] for one in store["rows"]],
    }  # fmt: skip


def event_of(kind: str, what: str, **data: object) -> dict[str, object]:
    """An event for the trace."""
    return {"kind": kind, "what": what, **data}


def line_of(number: int, attempt: Attempt, reason: str, said: str) -> str:
    """An iteration in one line, for the history that prompts are told of."""
    patch = "patch applied" if attempt["applied"] else f"patch not applied ({reason})"
    after = attempt["after"]
    if attempt["passed"]:
        effect = "passes"
    elif not attempt["applied"] or after is None:
        effect = "not run"
    else:
        lucky = f" ({attempt['why']})" if attempt["why"] else ""
        effect = f"{reason or 'fewer failures'}: {after['message'][:120]}{lucky}"
    return f"Loop {number}: {patch}; compile/test {effect}; critique: {said[:200] or attempt['why'][:200] or 'none'}"


def why_failed(answer: object) -> str:
    """Why no answer exists, where a step failed as a value."""
    if isinstance(answer, dict) and "failed" in answer and "why" in answer:
        return f"no answer: {answer['why']}"
    return ""


def no_news(last: Record, now: Record) -> bool:
    """No new information: message, place and patch scope are those of the iteration before (HYP-29)."""
    if not last["hypothesis"] or last["accepted"] or last["region"] != now["region"]:
        return False
    return all(
        last["current"][name] == now["current"][name] for name in ("message", "path", "line")
    )
