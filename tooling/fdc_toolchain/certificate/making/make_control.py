"""Makes the part `control` of certificates. Nothing here is trusted: `control.check` checks the result.

The walk of the checker finds the claims: where it asks for one that does not exist yet, the claim is made.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from ..control import digest
from ..plans import MOST_STACK, Plans, Wrong, blocks, turns
from ..readers import Machine, Rule, States, Symbol, automaton
from ..words import Word

if TYPE_CHECKING:
    from ..forms import (
        Body,
        BodyClaim,
        Control,
        Instruction,
        LoopClaim,
        PlanClaim,
        Program,
        RuleRow,
        WordClaims,
        WordRows,
    )

MOST_TERMS = 200
"""Maximum terms of the bound on steps; beyond it all sizes count as one size `n`, the largest."""

MOST_VALUES = 50
"""Maximum values for which a rule with a state for each value is proved; beyond it nothing is claimed."""

MOST_ROUNDS = 100
"""Maximum rounds of an `iterate` without a condition that get claims of their own."""

__all__ = ["Wrong", "make"]


def make(program: Program) -> Control:
    """The part `control` for a program. Raises Wrong, with the place, where a claim that it must make is false."""
    one_size = False
    try:
        plans = _plans(program, one_size=False)
    except _ManyTerms:
        one_size, plans = True, _plans(program, one_size=True)
    automata: dict[str, Making] = {}
    for key, plan in program["plans"].items():
        if (name := plan["automaton"]) is not None:
            automata.setdefault(name, Making(program, automaton(program, name))).claims(key)
    return {
        "format": 1,
        "part": "control",
        "program": digest(program),
        "one_size": one_size,
        "plans": plans,
        "automata": {name: making.rows for name, making in automata.items()},
        "rules": [_rule(program, rule) for rule in program.get("rules", ())],
    }


class _ManyTerms(Exception):
    """The bound on steps has too many terms to be written down loop by loop."""


def _plans(program: Program, *, one_size: bool) -> dict[str, PlanClaim]:
    """What is claimed of each plan: its height, the names bound at its end, the most steps. Raises Wrong, _ManyTerms."""
    claims: dict[str, PlanClaim] = {}
    empty: dict[str, PlanClaim] = {
        key: {"height": 0, "names": [], "steps": []} for key in program["plans"]
    }
    work = Plans(program, {"one_size": one_size, "plans": empty})
    begun: set[str] = set()

    def claimed(key: str) -> int:
        if key not in claims:
            if key in begun:
                raise Wrong(f"plan `{key}`: it calls itself, directly or through others")
            begun.add(key)
            callees = _called(program["plans"][key]["body"])
            height = 1 + max((claimed(callee) for callee in callees), default=0)
            work.claims[key] = {"height": height, "names": [], "steps": []}
            names, cost = work.walk(key, program["plans"][key]["body"], work.entry(key))
            if len(cost) > MOST_TERMS and not one_size:
                raise _ManyTerms
            work.costs[key] = dict(cost)
            steps = [
                (most, list(sizes))
                for sizes, most in sorted(cost.items(), key=lambda term: (len(term[0]), term[0]))
            ]
            claims[key] = {"height": height, "names": sorted(names), "steps": steps}
        return claims[key]["height"]

    for key in program["plans"]:
        claimed(key)
    if claims[program["root"]]["height"] > MOST_STACK:
        raise Wrong(
            f"plan `{program['root']}`: the stack of calls may be more than {MOST_STACK} deep"
        )
    return claims


def _called(body: Body) -> set[str]:
    """The plans that a body calls."""
    callees = {node["plan"] for node in body if node["op"] == "call"}
    for node in body:
        for side in blocks(node):
            callees |= _called(node[side])
    return callees


def _rule(program: Program, rule: RuleRow) -> dict[str, WordRows] | None:
    """The claims that show that every run keeps a rule; None where that is not shown."""
    values = Rule(program, rule, None).values()
    if len(values) > MOST_VALUES:
        return None
    claims = {}
    try:
        for value in values:
            making = Making(program, Rule(program, rule, value).machine())
            making.claims(program["root"])
            claims["others" if value is None else f"={value}"] = making.rows
    except Wrong:
        return None
    return claims


class Making(Word):
    """The walk of the checker, which makes claims when it asks for them."""

    def __init__(self, program: Program, machine: Machine) -> None:
        super().__init__(program, machine, {})

    def claims(self, key: str) -> None:
        """Makes the claims that every run of a plan ends where the machine accepts. Raises Wrong if one does not."""
        if not self.row(key, "", self.machine.start, False)[0] <= self.machine.accept:
            raise Wrong(f"plan `{key}`: a run may end where {self.machine.name} does not accept")

    def row(self, key: str, place: str, state: str, stopping: bool) -> tuple[States, States]:
        rows = self._claims_of(key)["bodies"].setdefault(place, {})
        if state not in rows or (stopping and "stops" not in rows[state]):
            ends, stops = self.walk(key, place, self.body(key, place), {state}, stopping)
            made: BodyClaim = {"ends": sorted(ends)}
            if stopping:
                made["stops"] = sorted(stops)
            rows[state] = made
        return super().row(key, place, state, stopping)

    def claim(
        self, key: str, place: str, node: Instruction, state: str, stopping: bool
    ) -> LoopClaim:
        rows = self._claims_of(key)["loops"].setdefault(place, {})
        keeps, branches = "keep" in node, node["op"] == "fork"
        stops = stopping and branches and not keeps
        if state not in rows or (stops and "rounds" in rows[state] and "stops" not in rows[state]):
            least, most = turns(node)
            claim: LoopClaim = {}
            is_told = False
            if branches and most != 1:
                symbols = self.alphabet(node["body"])
                reach = self._reach(state, symbols)
                is_told = any(
                    self.both(start, first, second) != self.both(start, second, first)
                    for start in reach for first in symbols for second in symbols
                )  # fmt: skip
                claim["reach"] = sorted(reach)
            if not is_told:
                claim["rounds"] = self._chain(
                    state, least, most, partial(self._turn, key, place, keeps)
                )
                if stops:
                    claim["stops"] = self._chain(
                        state, 0, most, partial(self._turn, key, place, True)
                    )
            rows[state] = claim
        return super().claim(key, place, node, state, stopping)

    def _claims_of(self, key: str) -> WordClaims:
        return self.rows.setdefault(key, {"bodies": {}, "loops": {}})

    def _turn(self, key: str, place: str, some_stop: bool, state: str) -> States:
        return set.union(*self.row(key, place, state, some_stop))

    def _reach(self, state: str, symbols: set[Symbol]) -> States:
        """Every state to which some of the symbols lead, in any order."""
        reach, work = {state}, [state]
        while work:
            current = work.pop()
            after = set[str | None]().union(
                *(self.machine.after(current, symbol) for symbol in symbols)
            )
            new = {state for state in after if state is not None} - reach
            reach |= new
            work += new
        return reach

    def _chain(
        self, state: str, least: int, most: int | None, turn: Callable[[str], States]
    ) -> list[list[str]]:
        """The states after each round; from round `least` on those of the rounds before, too, so that they come to an end."""
        chain = [{state}]
        while len(chain) - 1 != most:
            before = chain[-1]
            after: States = set().union(*(turn(start) for start in before))
            if len(chain) > min(least, MOST_ROUNDS):
                after |= before
            if after == before:
                break
            chain.append(after)
        return [sorted(states) for states in chain]
