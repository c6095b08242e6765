"""What comes next in an iteration, when to reflect, when to stop: pure functions (ALPH-09, 28, 31, 44, 45, 65, 66)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from fdc_toolchain.api.text import narrow

from ..model import PHASES, STRATEGIES

COMPOSITION_WORK = ("coverage", "gaps", "calculus")
"""What the cycles of COMPOSITION do, in turn."""
LEAST_DECIDED = 5
"""Verdicts before an acceptance rate means anything."""
COOL = 2
"""Iterations between two reflections over one standing complaint."""


def phases(config: Mapping[str, object]) -> list[tuple[str, int]]:
    """Every (phase, cycle) of an iteration in order (C-23: an iteration is one sweep); a reflection comes after them."""
    cycles = narrow(config["iteration"], dict)
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
    iteration, newest last, without those whose answers could not be read. `decision`, `reason`: of this iteration's reflection.
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


def triggers(facts: Facts, config: Mapping[str, object]) -> list[str]:
    """Why to reflect now; empty: nothing asks for it (ALPH-28)."""
    rested = facts.since_meta >= COOL
    due = {
        f"{facts.since_meta} iterations since the last reflection": facts.since_meta
        >= narrow(config["iteration"], dict)["meta_reflection_interval"],
        f"{facts.rate:.0%} of the last {facts.decided} candidates were accepted": facts.rate < 0.2
        and facts.decided >= LEAST_DECIDED
        and rested,
        f"{facts.circles} circular presuppositions in the alphabet": facts.circles > 0,
        f"{facts.gap:.0%} of the test concepts need one primitive that is missing": facts.gap >= 0.2
        and facts.tested >= 5
        and rested,
        "the last reflection asked for it": facts.requested,
    }
    return [why for why, asked in due.items() if asked]


class Stop(NamedTuple):
    """Why the work ends: a code, and the sentence that justifies it."""

    code: str
    why: str


def stopping(facts: Facts, config: Mapping[str, object]) -> Stop | None:
    """Why the work ends after this iteration, or None (ALPH-65)."""
    limits = narrow(config["stopping"], dict)
    wanted, most = limits["coverage_threshold"], limits["max_iterations"]
    still, few = limits["stability_window"], limits["diminishing_returns_window"]
    added = sum(facts.added[-few:])
    stops = (
        (facts.decision == "CONCLUDE", "CONCLUDED", facts.reason or "the meta-reasoner concluded"),
        (
            facts.tested > 0 and facts.coverage >= wanted, "COVERAGE_ACHIEVED",
            f"{facts.coverage:.1%} of {facts.tested} test concepts can be expressed ({wanted:.0%} wanted)",
        ),
        (facts.iteration >= most, "MAX_ITERATIONS_REACHED", f"iteration {facts.iteration} of {most}"),
        (
            len(facts.added) >= still and not any((*facts.added[-still:], *facts.changed[-still:])),
            "STABILITY_ACHIEVED", f"no primitive was added or changed in {still} iterations",
        ),
        (
            len(facts.added) >= few and added < limits["diminishing_returns_threshold"] and not any(facts.pivots[-few:]),
            "DIMINISHING_RETURNS_NO_PIVOT", f"{added} primitives in {few} iterations, and no pivot",
        ),
    )  # fmt: skip
    return next((Stop(code, why) for holds, code, why in stops if holds), None)


def unchanged(facts: Facts) -> int:
    """The number of iterations up to this one in which no primitive was added or changed."""
    out = 0
    for added, changed in zip(reversed(facts.added), reversed(facts.changed), strict=False):
        if added or changed:
            break
        out += 1
    return out


INCONSISTENCY = "IRRECOVERABLE_INCONSISTENCY"
"""What an iteration is called that broke a rule which no one could mend without judgement."""


def failing(kind: str, message: str) -> Stop:
    """ALPH-66: why an iteration that stopped in the middle was given up. `kind` is the engine's word for the stop."""
    if kind == "budget":
        return Stop("RESOURCE_EXHAUSTION", message)
    if "raised TooLarge" in message:
        return Stop("FUNDAMENTAL_LIMIT", message)
    return Stop("STEP_FAILED", message)
