"""The part of the checker that follows one machine through the bodies and loops of a program. It imports nothing of fdc."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, TypeVar, cast

from .plans import Wrong, blocks, live, turns
from .readers import Machine, States, Symbol

if TYPE_CHECKING:
    from .forms import Block, Body, Instruction, LoopClaim, Program, WordClaims, WordRows

Claim = TypeVar("Claim")
NOTHING: WordClaims = {"bodies": {}, "loops": {}}


class Word:
    """The states of one machine at the joints of a program, as claimed for bodies and loops, by plan, place, entry state."""

    def __init__(self, program: Program, machine: Machine, rows: WordRows) -> None:
        self.plans, self.machine, self.rows = program["plans"], machine, rows
        self.alphabets: dict[str, set[Symbol]] = {}
        self.symbols: dict[int, Symbol | None] = {}

    def check(self, roots: list[str]) -> None:
        """Raises Wrong."""
        for key in roots:
            if not self.row(key, "", self.machine.start, False)[0] <= self.machine.accept:
                raise Wrong(
                    f"plan `{key}`: a run may end where {self.machine.name} does not accept"
                )
        for key, claims in self.rows.items():
            for place, rows in claims["bodies"].items():
                for state, claim in rows.items():
                    ends, stops = self.walk(
                        key, place, self.body(key, place), {state}, "stops" in claim
                    )
                    if not (ends <= set(claim["ends"]) and stops <= set(claim.get("stops", ()))):
                        raise Wrong(
                            f"plan `{key}`, `{place}`: from `{state}` {self.machine.name} may leave what is claimed"
                        )

    def body(self, key: str, place: str) -> Body:
        """The body at a place: `/2.then/1` is that of the loop that is instruction 1 of the `then` side of instruction 2."""
        body = self.plans[key]["body"]
        for number, _, side in (part.partition(".") for part in place.split("/")[1:]):
            body = body[int(number) - 1][cast("Block", side or "body")]
        return body

    def row(self, key: str, place: str, state: str, stopping: bool) -> tuple[States, States]:
        """The states at the end of a body that begins in a state and, if the run goes on after a stop (`stopping`), inside it."""
        claim = self.claimed(self.rows.get(key, NOTHING)["bodies"], key, place, state)
        return set(claim["ends"]), set(claim["stops"]) if stopping else set()

    def claim(
        self, key: str, place: str, node: Instruction, state: str, stopping: bool
    ) -> LoopClaim:
        """What is claimed of a loop that begins in a state."""
        return self.claimed(self.rows.get(key, NOTHING)["loops"], key, place, state)

    def claimed(
        self, claims: dict[str, dict[str, Claim]], key: str, place: str, state: str
    ) -> Claim:
        """One claim. Raises Wrong where it is missing."""
        claim = claims.get(place, {}).get(state)
        if claim is None:
            raise Wrong(
                f"plan `{key}`, `{place}`: nothing is claimed of {self.machine.name} from the state `{state}` on"
            )
        return claim

    def symbol(self, step: Instruction) -> Symbol | None:
        """The symbol that the machine reads for a step, cached; None: the step is not read."""
        if id(step) not in self.symbols:
            self.symbols[id(step)] = self.machine.symbol(step)
        return self.symbols[id(step)]

    def read(self, where: str, states: Iterable[str], symbol: Symbol) -> States:
        """The states after a symbol. Raises Wrong where one of them refuses it."""
        after = {end for state in states for end in self.machine.after(state, symbol)}
        if None in after:
            raise Wrong(
                f"{where}: {self.machine.name} may be in a state that refuses `{symbol}`: {sorted(states)}"
            )
        return {end for end in after if end is not None}

    def walk(
        self, key: str, place: str, body: Body, states: States, stopping: bool
    ) -> tuple[States, States]:
        """The states at the end of a body that begins in some states and, if `stopping`, the states on its way."""
        passed = set(states) if stopping else set()
        for number, node in enumerate(body, 1):
            op, at, results = node["op"], f"{place}/{number}", None
            if op == "step" and (symbol := self.symbol(node)) is not None:
                states = self.read(f"plan `{key}`, line {node['line']}", states, symbol)
            elif op == "if":
                results = [
                    self.walk(key, f"{at}.{side}", node[side], states, stopping)
                    for side in live(node)
                ]
            elif op == "call" and self.machine.enters(self.plans[node["plan"]]):
                results = [self.row(node["plan"], "", state, stopping) for state in states]
            elif op in ("each", "for", "fork", "iterate"):
                results = [self.loop(key, at, node, state, stopping) for state in states]
            if results is not None:
                states = set().union(*(ends for ends, _ in results))
                passed = passed.union(*(stops for _, stops in results)) if stopping else passed
            passed |= states if stopping else set()
        return states, passed

    def loop(
        self, key: str, place: str, node: Instruction, state: str, stopping: bool
    ) -> tuple[States, States]:
        """The same of a loop that begins in one state."""
        claim = self.claim(key, place, node, state, stopping)
        where, keeps = f"plan `{key}`, line {node['line']}", "keep" in node
        least, most = turns(node)
        if node["op"] == "fork" and most != 1:
            reach, symbols = set(claim["reach"]), self.alphabet(node["body"])
            if not {state}.union(
                *(self.machine.after(start, symbol) for start in reach for symbol in symbols)
            ) <= reach | {None}:
                raise Wrong(
                    f"{where}: branches of the fork may bring {self.machine.name} to a state that is not claimed"
                )
            if "rounds" not in claim:  # any order of any of their steps
                for symbol in symbols:
                    self.read(where, reach, symbol)
                return reach, reach
            for start, pair in (
                (start, pair) for start in reach for pair in combinations(symbols, 2)
            ):
                if self.both(start, *pair) != self.both(start, *reversed(pair)):
                    raise Wrong(
                        f"{where}: {self.machine.name} can tell in `{start}` in which order branches do {pair}"
                    )

        def turn(some_stop: bool, start: str) -> States:
            return set.union(*self.row(key, place, start, some_stop))

        once = partial(turn, keeps)
        result, begun = self.rounds(where, claim["rounds"], state, least, most, once)
        if not stopping or keeps:
            return result, result
        if node["op"] == "fork":  # a branch that stops lets the others go on
            return result, self.rounds(where, claim["stops"], state, 0, most, partial(turn, True))[
                0
            ]
        return result, set().union(*(self.row(key, place, start, True)[1] for start in begun))

    def rounds(
        self,
        where: str,
        claim: list[list[str]],
        state: str,
        least: int,
        most: int | None,
        turn: Callable[[str], States],
    ) -> tuple[States, States]:
        """The states at a loop's end, and where its rounds begin. Set n of the claim has the states after n rounds; the last one
        after more rounds, too, unless it is that of the last round."""
        chain = [set(states) for states in claim]
        if state not in chain[0]:
            raise Wrong(
                f"{where}: the claim about the loop lacks the state `{state}`, in which it begins"
            )
        chain += [] if len(chain) - 1 == most else chain[-1:]
        for before, after in pairwise(chain):
            if not set().union(*(turn(start) for start in before)) <= after:
                raise Wrong(
                    f"{where}: a round of the loop brings {self.machine.name} to a state that is not claimed"
                )
        return set().union(*chain[min(least, len(chain) - 1) :]), set().union(*chain[:-1])

    def both(self, state: str, first: Symbol, second: Symbol) -> set[str | None]:
        """The states after two symbols, one after the other; None: one of them is refused."""
        between = self.machine.after(state, first)
        return set().union(
            *(
                {None} if middle is None else self.machine.after(middle, second)
                for middle in between
            )
        )

    def alphabet(self, body: Body) -> set[Symbol]:
        """Every symbol that may be read in a body, through calls."""
        symbols: set[Symbol] = set()
        for node in body:
            if node["op"] == "call" and self.machine.enters(self.plans[node["plan"]]):
                if (callee := node["plan"]) not in self.alphabets:
                    self.alphabets[callee] = self.alphabet(self.plans[callee]["body"])
                symbols |= self.alphabets[callee]
            if node["op"] == "step" and (symbol := self.symbol(node)) is not None:
                symbols.add(symbol)
            for side in blocks(node):
                symbols |= self.alphabet(node[side])
        return symbols
