"""Decides what a run does next, from its state alone, and checks it against what the linter proved.

`decide` changes nothing. Its cost depends on the effects that it returns, not on those that wait.
"""

from __future__ import annotations

from math import inf

from ..program.model import LEFT, Program
from . import rules
from .events import Ask, Decision, Finish, Perform, Performs, Settle, Stop, Wait
from .fold import DIGITS, next_symbol
from .state import Meter, RunState, Want

MEASURES = ("steps", "model_calls", "tokens", "money", "seconds")
"""What a budget may limit. `steps` counts tool steps, `seconds` the time for which the run was driven."""

Planned = dict[tuple[int, str], float]
"""What the effects that start together need, by meter (its `id`) and measure."""


def decide(program: Program, state: RunState, room: int = 1) -> Decision:
    """The next thing to do, when at most `room` effects more may run at once.

    Performs: start these. Settle: find out about one that a lost controller announced. Wait: for
    what is running. Ask: a person. Finish: the run is over.
    """
    if state.ended and state.overrun is None:
        return Finish(state.stop, state.result)
    if state.dangling:
        return Settle(next(iter(state.dangling.values())).effect)
    if state.overrun is not None:
        return Wait() if state.running else Finish(state.overrun, None)
    if room > 0 and state.pending:
        if len(state.pending) == 1 and not (state.budget or state.rules or state.metered):
            (want,) = state.pending.values()
            if want.action is None:  # nothing could forbid it
                return Performs([want.effect])
        admitted, refused = _admit(state, room)
        if admitted:
            return Performs(admitted)
        if refused is not None and not (state.running or _held(state)):
            return Finish(refused, None)
    if state.running:
        return Wait()
    if state.parked:
        return Ask([want.question for want in state.parked.values() if want.question is not None])
    path = program["plans"][program["root"]]["path"]
    return Finish(
        Stop("bug", "the run has neither ended nor anything left to do", "main", path, 0), None
    )


def _admit(state: RunState, room: int) -> tuple[list[Perform], Stop | None]:
    """The first effects that may start together, and why the next may not."""
    admitted: list[Perform] = []
    planned: Planned = {}
    moved: dict[int, str] = {}
    ruled: dict[tuple[int, str], int] = {}
    under_way: list[rules.Noticed] | None = None
    for want in state.pending.values():
        if len(admitted) == room:
            break
        watched = False
        if want.noticed:
            if under_way is None:
                begun = (*state.running.values(), *state.parked.values())
                under_way = [earlier.noticed for earlier in begun if earlier.noticed]
            watched = not want.begun
            if watched and rules.must_wait(want.noticed, under_way):
                continue
        refused = _exhausted(state, want, planned) if state.budget or state.metered else None
        if refused is None and want.action is not None:
            refused = _forbidden(want, moved)
        if refused is None and watched:
            refused = rules.refused(want.noticed, ruled, want.effect)
        if refused is not None:
            return admitted, refused
        admitted.append(want.effect)
        if under_way is not None:
            under_way.append(want.noticed)
    return admitted, None


def unaffordable(state: RunState, want: Want, at: float) -> Stop | None:
    """Why the budget does not let this one effect start at the second `at`; None where it does."""
    later, state.elapsed = state.elapsed, at
    try:
        return _exhausted(state, want, {}) if state.budget or state.metered else None
    finally:
        state.elapsed = later


def _exhausted(state: RunState, want: Want, planned: Planned) -> Stop | None:
    # What has begun before (a lost or failed attempt) is a step already; what is held is reserved already.
    is_tool = want.effect.kind == "tool"
    needs = {} if want.begun or not is_tool else {"steps": 1.0}
    left: frozenset[str] = frozenset()
    if is_tool and not want.held and want.cost:
        left = frozenset(measure for measure, most in want.cost.items() if most == LEFT)
        for measure, most in want.cost.items():
            needs[measure] = needs.get(measure, 0.0) + (0.0 if most == LEFT else most)
    meters: tuple[RunState | Meter, ...] = (state, *want.meters)
    for meter in meters:
        budget = meter.budget
        if "seconds" in budget:
            gone = (
                max(0.0, state.elapsed - meter.began) if isinstance(meter, Meter) else state.elapsed
            )
            if gone + _longest(state, want) >= budget["seconds"]:
                return _over(want, "seconds", meter)
        for measure, number in needs.items():
            if measure in budget:
                held = meter.reserved.get(measure, 0) + planned.get((id(meter), measure), 0)
                if (
                    measure in left and held > 0 and not want.held
                ):  # it waits for what the others give back
                    return _over(want, measure, meter)
                used = meter.spent.get(measure, 0) + held
                if round(used + number, DIGITS) > budget[measure]:
                    return _over(want, measure, meter)
    for meter in meters:
        for measure, number in needs.items():
            number = inf if measure in left else number
            planned[id(meter), measure] = planned.get((id(meter), measure), 0) + number
    return None


def _held(state: RunState) -> bool:
    """Whether a step that waits for a person has reserved something: what it gives back may be enough for the others."""
    return any(want.held and want.holds for want in state.parked.values())


def _longest(state: RunState, want: Want) -> float:
    """The seconds that a step may take at most, where its tool says so: they have to fit too."""
    tool = state.program["tools"].get(want.effect.tool) if want.effect.kind == "tool" else None
    limits = tool.get("limits", {}) if tool else {}
    return float(limits.get("seconds", 0) * (1 + limits.get("retries", 0)))


def _over(want: Want, measure: str, meter: RunState | Meter) -> Stop:
    effect, ceiling = want.effect, meter.budget[measure]
    if isinstance(meter, RunState):
        message = f"the budget of {ceiling:g} {measure} is used up before `{effect.tool}`"
        return Stop("budget", message, effect.address, effect.path, effect.line, measure=measure)
    message = f"the budget of {ceiling:g} {measure} that `{meter.plan}` states is used up before `{effect.tool}`"
    return Stop("plan_budget", message, effect.address, effect.path, effect.line, measure=measure)


def _forbidden(want: Want, moved: dict[int, str]) -> Stop | None:
    noticed = next_symbol(want)
    if noticed is None:
        return None
    cycle, symbol = noticed
    current = moved.get(id(cycle), cycle.state)
    after = cycle.after(current, symbol)
    if after is None:
        effect = want.effect
        message = f"`{effect.tool}` is `{symbol}`, which `{cycle.name}` does not allow in state `{current}`"
        return Stop("bug", message, effect.address, effect.path, effect.line)
    moved[id(cycle)] = after
    return None
