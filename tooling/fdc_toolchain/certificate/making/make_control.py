"""Makes the part `control` of certificates. Nothing here is trusted: `control.check` checks the result.

The walk of the checker finds the claims: where it asks for one that does not exist yet, the claim is made.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from ..control import digest
from ..plans import MOST_STACK, Plans, Wrong, live, turns
from ..readers import Machine, Rule, automaton
from ..words import Word

MOST_TERMS = 200
"""Maximum terms of the bound on steps; beyond it all sizes count as one size `n`, the largest."""

MOST_VALUES = 50
"""Maximum values for which a rule with a state for each value is proved; beyond it nothing is claimed."""

MOST_ROUNDS = 100
"""Maximum rounds of an `iterate` without a condition that get claims of their own."""

__all__ = ["Wrong", "make"]


def make(program: dict[str, Any]) -> dict[str, Any]:
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


def _plans(program: dict[str, Any], *, one_size: bool) -> dict[str, Any]:
    """What is claimed of each plan: its height, the names bound at its end, the most steps. Raises Wrong, _ManyTerms."""
    claims: dict[str, Any] = {}
    empty = {key: {"height": 0, "names": [], "steps": []} for key in program["plans"]}
    work = Plans(program, {"one_size": one_size, "plans": empty})
    begun: set[str] = set()

    def claimed(key: str) -> int:
        if key not in claims:
            if key in begun:
                raise Wrong(f"plan `{key}`: it calls itself, directly or through others")
            begun.add(key)
            callees = _called(program["plans"][key]["body"])
            work.claims[key] = {
                "height": 1 + max((claimed(callee) for callee in callees), default=0)
            }
            names, cost = work.walk(key, program["plans"][key]["body"], work.entry(key))
            if len(cost) > MOST_TERMS and not one_size:
                raise _ManyTerms
            work.costs[key] = dict(cost)
            steps = [
                [most, list(sizes)]
                for sizes, most in sorted(cost.items(), key=lambda term: (len(term[0]), term[0]))
            ]
            claims[key] = {**work.claims[key], "names": sorted(names), "steps": steps}
        return int(claims[key]["height"])

    for key in program["plans"]:
        claimed(key)
    if claims[program["root"]]["height"] > MOST_STACK:
        raise Wrong(
            f"plan `{program['root']}`: the stack of calls may be more than {MOST_STACK} deep"
        )
    return claims


def _called(body: Any) -> set[str]:
    """The plans that a body calls."""
    callees = {node["plan"] for node in body if node["op"] == "call"}
    for node in body:
        for side in live(node) if node["op"] == "if" else ["body"] * ("body" in node):
            callees |= _called(node[side])
    return callees


def _rule(program: dict[str, Any], rule: dict[str, Any]) -> dict[str, Any] | None:
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

    def __init__(self, program: dict[str, Any], machine: Machine) -> None:
        super().__init__(program, machine, {})

    def claims(self, key: str) -> None:
        """Makes the claims that every run of a plan ends where the machine accepts. Raises Wrong if one does not."""
        if not self.row(key, "", self.machine.start, False)[0] <= self.machine.accept:
            raise Wrong(f"plan `{key}`: a run may end where {self.machine.name} does not accept")

    def row(self, key: str, place: str, state: str, stopping: bool) -> tuple[set[Any], set[Any]]:
        rows = self._claims_at(key, "bodies", place)
        if state not in rows or (stopping and "stops" not in rows[state]):
            ends, stops = self.walk(key, place, self.body(key, place), {state}, stopping)
            rows[state] = {"ends": sorted(ends), **({"stops": sorted(stops)} if stopping else {})}
        return super().row(key, place, state, stopping)

    def claim(self, key: str, place: str, node: Any, state: str, stopping: bool) -> Any:
        rows = self._claims_at(key, "loops", place)
        keeps, branches = "keep" in node, node["op"] == "fork"
        stops = stopping and branches and not keeps
        if state not in rows or (stops and "rounds" in rows[state] and "stops" not in rows[state]):
            least, most = turns(node)
            claim: dict[str, Any] = {}
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

    def _claims_at(self, key: str, kind: str, place: str) -> dict[str, Any]:
        rows: dict[str, Any] = self.rows.setdefault(key, {"bodies": {}, "loops": {}})[kind]
        by_state: dict[str, Any] = rows.setdefault(place, {})
        return by_state

    def _turn(self, key: str, place: str, some_stop: bool, state: str) -> set[Any]:
        return set.union(*self.row(key, place, state, some_stop))

    def _reach(self, state: str, symbols: set[Any]) -> set[str]:
        """Every state to which some of the symbols lead, in any order."""
        reach, work = {state}, [state]
        while work:
            current = work.pop()
            new = (
                set().union(*(self.machine.after(current, symbol) for symbol in symbols))
                - reach
                - {None}
            )
            reach |= new
            work += new
        return reach

    def _chain(
        self, state: str, least: int, most: int | None, turn: Callable[[str], set[Any]]
    ) -> list[list[str]]:
        """The states after each round; from round `least` on those of the rounds before, too, so that they come to an end."""
        chain = [{state}]
        while len(chain) - 1 != most:
            before = chain[-1]
            after: set[Any] = set().union(*(turn(start) for start in before))
            if len(chain) > min(least, MOST_ROUNDS):
                after |= before
            if after == before:
                break
            chain.append(after)
        return [sorted(states) for states in chain]
