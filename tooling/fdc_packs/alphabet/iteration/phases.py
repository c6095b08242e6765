"""What comes next in an iteration, when to reflect, when to stop: pure functions (ALPH-09, 28, 31, 44, 45, 65, 66)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ..model import PHASES, STRATEGIES

COMPOSITION_WORK = ("coverage", "gaps", "calculus")
"""What the cycles of COMPOSITION do, in turn."""
LEAST_DECIDED = 5
"""Verdicts before an acceptance rate means anything."""
COOL = 2
"""Iterations between two reflections over one standing complaint."""


def phases(config: Mapping[str, Any]) -> list[tuple[str, int]]:
    """Every (phase, cycle) of an iteration in order (C-23: an iteration is one sweep); a reflection comes after them."""
    cycles = config["iteration"]
    return [
        (phase, number + 1)
        for phase in PHASES[:3]
        for number in range(cycles[f"{phase.lower()}_cycles"])
    ]


def next_strategy(mode: str, gaps: Sequence[str]) -> str:
    """The strategy after `mode`, in turn; GAP_FILLING only where there are gaps. Raises ValueError for a mode that is none."""
    if mode not in STRATEGIES:
        raise ValueError(f"`{mode}` is none of the strategies {', '.join(STRATEGIES)}")
    found = STRATEGIES[(STRATEGIES.index(mode) + 1) % len(STRATEGIES)]
    return found if found != "GAP_FILLING" or gaps else STRATEGIES[0]


class Facts(NamedTuple):
    """What triggers and stopping conditions look at, the present iteration counted.

    `rate`: of the last `decided` verdicts. `circles`: circular presuppositions in the alphabet. `gap`: the part of the
    test concepts that the worst gap is needed by, `tested` how many those are. `added`, `changed`, `pivots`: per
    iteration, newest last. `decision`, `reason`: of this iteration's reflection.
    """

    iteration: int
    since_meta: int = 0
    rate: float = 1.0
    decided: int = 0
    circles: int = 0
    gap: float = 0.0
    coverage: float = 0.0
    tested: int = 0
    requested: bool = False
    added: tuple[int, ...] = ()
    changed: tuple[int, ...] = ()
    pivots: tuple[bool, ...] = ()
    decision: str = ""
    reason: str = ""


def by_interval(facts: Facts, config: Mapping[str, Any]) -> str:
    """Every N iterations."""
    every = config["iteration"]["meta_reflection_interval"]
    return (
        f"{facts.since_meta} iterations since the last reflection"
        if facts.since_meta >= every
        else ""
    )


def by_rate(facts: Facts, config: Mapping[str, Any]) -> str:
    """Fewer than one candidate in five is accepted."""
    if facts.decided < LEAST_DECIDED or facts.rate >= 0.2 or facts.since_meta < COOL:
        return ""
    return f"{facts.rate:.0%} of the last {facts.decided} candidates were accepted"


def by_circle(facts: Facts, config: Mapping[str, Any]) -> str:
    """The alphabet itself is circular."""
    return f"{facts.circles} circular presuppositions in the alphabet" if facts.circles else ""


def by_gap(facts: Facts, config: Mapping[str, Any]) -> str:
    """One missing primitive keeps a fifth of the test concepts from being expressed."""
    if facts.gap < 0.2 or facts.tested < 5 or facts.since_meta < COOL:
        return ""
    return f"{facts.gap:.0%} of the test concepts need one primitive that is missing"


def by_request(facts: Facts, config: Mapping[str, Any]) -> str:
    """The last reflection asked for this one."""
    return "the last reflection asked for it" if facts.requested else ""


TRIGGERS = (by_interval, by_rate, by_circle, by_gap, by_request)


def triggers(facts: Facts, config: Mapping[str, Any]) -> list[str]:
    """Why to reflect now; empty: nothing asks for it (ALPH-28)."""
    return [why for why in (trigger(facts, config) for trigger in TRIGGERS) if why]


class Stop(NamedTuple):
    """Why the work ends: a code, and the sentence that justifies it."""

    code: str
    why: str


def by_conclusion(facts: Facts, config: Mapping[str, Any]) -> Stop | None:
    """The meta-reasoner concludes."""
    return (
        Stop("CONCLUDED", facts.reason or "the meta-reasoner concluded")
        if facts.decision == "CONCLUDE"
        else None
    )


def by_coverage(facts: Facts, config: Mapping[str, Any]) -> Stop | None:
    """Enough of the test concepts can be expressed."""
    wanted = config["stopping"]["coverage_threshold"]
    if not facts.tested or facts.coverage < wanted:
        return None
    why = f"{facts.coverage:.1%} of {facts.tested} test concepts can be expressed ({wanted:.0%} wanted)"
    return Stop("COVERAGE_ACHIEVED", why)


def by_count(facts: Facts, config: Mapping[str, Any]) -> Stop | None:
    """As many iterations as there may be."""
    most = config["stopping"]["max_iterations"]
    return (
        Stop("MAX_ITERATIONS_REACHED", f"iteration {facts.iteration} of {most}")
        if facts.iteration >= most
        else None
    )


def by_stability(facts: Facts, config: Mapping[str, Any]) -> Stop | None:
    """Nothing was added or changed for a window of iterations."""
    window = config["stopping"]["stability_window"]
    if len(facts.added) < window or any(facts.added[-window:]) or any(facts.changed[-window:]):
        return None
    return Stop("STABILITY_ACHIEVED", f"no primitive was added or changed in {window} iterations")


def by_returns(facts: Facts, config: Mapping[str, Any]) -> Stop | None:
    """Few primitives in a window of iterations, and no pivot in it."""
    window, least = (
        config["stopping"]["diminishing_returns_window"],
        config["stopping"]["diminishing_returns_threshold"],
    )
    if (
        len(facts.added) < window
        or sum(facts.added[-window:]) >= least
        or any(facts.pivots[-window:])
    ):
        return None
    why = f"{sum(facts.added[-window:])} primitives in {window} iterations, and no pivot"
    return Stop("DIMINISHING_RETURNS_NO_PIVOT", why)


STOPS = (by_conclusion, by_coverage, by_count, by_stability, by_returns)


def stopping(facts: Facts, config: Mapping[str, Any]) -> Stop | None:
    """Why the work ends after this iteration, or None (ALPH-65)."""
    return next(
        (stop for stop in (rule(facts, config) for rule in STOPS) if stop is not None), None
    )


INCONSISTENCY = "IRRECOVERABLE_INCONSISTENCY"
"""What an iteration is called that broke a rule which no one could mend without judgement."""


def failing(kind: str, message: str) -> Stop:
    """ALPH-66: why an iteration that stopped in the middle was given up. `kind` is the engine's word for the stop."""
    if kind == "budget":
        return Stop("RESOURCE_EXHAUSTION", message)
    if "raised TooLarge" in message:
        return Stop("FUNDAMENTAL_LIMIT", message)
    return Stop("STEP_FAILED", message)
