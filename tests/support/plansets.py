"""Random plan sets with their meaning by brute force: the reference that the prover is held to.

A set is plans that call each other without cycle, each perhaps with an automaton of its own.
The generator keeps its own small tree, writes the text from it, and enumerates the runs from
it, so that nothing of the product is in the reference: not the parser, not the linker, not the
summaries. A run is a tuple of items, one for each step or call; an item is the symbol that it
spells, or None.
"""

from __future__ import annotations

import json
import random
from dataclasses import dataclass, field

SYMBOLS = ("a_op", "b_op", "c_op")
TOOLS = {"ta": "a_op", "tb": "b_op", "tc": "c_op", "tn": None}
MOST_RUNS = 4000


class TooMany(Exception):
    """The set has more runs than are worth enumerating."""


CATALOGUE = json.dumps(
    {
        "format": 1,
        "name": "letters",
        "tools": {
            name: {
                "summary": name,
                "action": action,
                "effect": "pure",
                "trust": "trusted",
                "parameters": [],
            }
            for name, action in TOOLS.items()
        },
    }
).encode()


@dataclass
class Machine:
    """A random partial automaton over SYMBOLS."""

    size: int
    start: int
    accept: set[int]
    moves: dict[tuple[int, str], int]

    def json(self) -> bytes:
        """As an automaton file; every state is named, whether reachable or not."""
        names = [f"S{number}" for number in range(self.size)]
        transitions = {name: {} for name in names}
        for (state, symbol), target in self.moves.items():
            transitions[names[state]][symbol] = names[target]
        return json.dumps(
            {
                "states": names,
                "alphabet": list(SYMBOLS),
                "transitions": transitions,
                "start_state": names[self.start],
                "accept_states": [names[state] for state in sorted(self.accept)],
            }
        ).encode()


@dataclass
class PlanSet:
    """`bodies[i]` calls only plans of higher number; plan 0 is the root. `machines[i]` None: a fragment."""

    bodies: list[list]
    machines: list[Machine | None]
    unbounded: int
    files: dict[str, bytes] = field(default_factory=dict)


def machine(rng: random.Random) -> Machine:
    """A random automaton of two to four states."""
    size = rng.randint(2, 4)
    moves = {
        (state, symbol): rng.randrange(size)
        for state in range(size)
        for symbol in SYMBOLS
        if rng.random() < 0.75
    }
    accept = {state for state in range(size) if rng.random() < 0.6} or {rng.randrange(size)}
    return Machine(size, rng.randrange(size), accept, moves)


def plan_set(seed: int, *, kept: bool = False) -> PlanSet:
    """The plan set of a seed. `kept`: every `for` is a fork of one branch, and most keep its failure."""
    rng = random.Random(seed)
    count = rng.choice((1, 1, 2, 2, 3, 4))
    machines = [
        machine(rng) if number == 0 or rng.random() < 0.35 else None for number in range(count)
    ]
    bodies = [_body(rng, number, count, rng.randint(1, 3)) for number in range(count)]
    if kept:
        bodies = [_with_forks(body) for body in bodies]
    made = PlanSet(bodies, machines, 5)
    for number, body in enumerate(bodies):
        lines = [f"use fsm m{number}.json"] if machines[number] else []
        _write(body, 0, lines)
        made.files[f"p{number}.plan"] = ("\n".join(lines) + "\n").encode()
        if machines[number]:
            made.files[f"m{number}.json"] = machines[number].json()
    return made


def _body(rng: random.Random, number: int, count: int, size: int, depth: int = 0) -> list:
    out: list = []
    for _ in range(size):
        kind = rng.random()
        if depth < 2 and kind < 0.14:
            out.append(("each", _body(rng, number, count, rng.randint(1, 2), depth + 1)))
        elif depth < 2 and kind < 0.24:
            out.append(
                ("for", rng.randint(1, 3), _body(rng, number, count, rng.randint(1, 2), depth + 1))
            )
        elif depth < 2 and kind < 0.34:
            word = rng.choice(("iterate", "iterate", "exact"))
            out.append(
                (word, rng.randint(1, 3), _body(rng, number, count, rng.randint(1, 2), depth + 1))
            )
        elif depth < 2 and kind < 0.48:
            orelse = _body(rng, number, count, 1, depth + 1) if rng.random() < 0.5 else []
            out.append(("if", _body(rng, number, count, rng.randint(1, 2), depth + 1), orelse))
        elif kind < 0.62 and number + 1 < count:
            out.append(("call", rng.randrange(number + 1, count)))
        else:
            out.append(("step", rng.choice(("ta", "ta", "tb", "tb", "tc", "tn"))))
    return out


def _with_forks(body: list) -> list:
    out: list = []
    for item in body:
        parts = [_with_forks(part) if isinstance(part, list) else part for part in item]
        if parts[0] == "for":
            parts = ["kept" if item[1] != 2 else "fork", 1, parts[2]]
        out.append(tuple(parts))
    return out


def _write(body: list, level: int, lines: list[str]) -> None:
    pad = "  " * level
    for item in body:
        if item[0] == "step":
            lines.append(f"{pad}{item[1]}")
        elif item[0] == "call":
            lines.append(f"{pad}call_plan p{item[1]}.plan")
        elif item[0] == "each":
            lines.append(f"{pad}for_each_file *.x")
            _write(item[1], level + 1, lines)
        elif item[0] in ("for", "fork", "kept"):
            head, tail = ("fork", " keep failures") if item[0] == "kept" else (item[0], "")
            lines.append(f'{pad}{head} _i in "x" max {item[1]}{tail}')
            _write(item[2], level + 1, lines)
        elif item[0] in ("iterate", "exact"):
            lines.append(
                f"{pad}iterate max {item[1]}" + ' until cited("x")' * (item[0] == "iterate")
            )
            _write(item[2], level + 1, lines)
        else:
            lines.append(f'{pad}if cited("x")')
            _write(item[1], level + 1, lines)
            if item[2]:
                lines.append(f"{pad}else")
                _write(item[2], level + 1, lines)


def runs(made: PlanSet, number: int) -> set[tuple[str | None, ...]]:
    """Every run of a plan, loops over files unrolled `unbounded` times."""
    memo: dict[tuple[int, bool], tuple[set, set]] = {}

    def plan(which: int, stopping: bool) -> tuple[set, set]:
        if (which, stopping) not in memo:
            memo[which, stopping] = body(made.bodies[which], stopping)
        return memo[which, stopping]

    def join(left: set, right: set) -> set:
        if len(left) * len(right) > MOST_RUNS * 4:
            raise TooMany
        out = {a + b for a in left for b in right}
        if len(out) > MOST_RUNS:
            raise TooMany
        return out

    def power(inner: set, least: int, most: int) -> set:
        out: set = set()
        turn: set = {()}
        for count in range(most + 1):
            if count >= least:
                out |= turn
            if count < most:
                turn = join(turn, inner)
        return out

    def rounds(items: list, least: int, most: int, stopping: bool) -> tuple[set, set]:
        ends, stops = body(items, stopping)
        return power(ends, least, most), join(
            power(ends, 0, most - 1), stops
        ) if stopping else set()

    def inside(item: tuple, stopping: bool) -> tuple[set, set]:
        """The runs of one item to its end, and (`stopping`) those that stop somewhere in it."""
        if item[0] == "step":
            return {(TOOLS[item[1]],)}, set()
        if item[0] == "call":
            ends, stops = ({()}, {()}) if made.machines[item[1]] else plan(item[1], stopping)
            return {(None, *run) for run in ends}, {(None, *run) for run in stops}
        if item[0] == "each":
            return rounds(item[1], 0, made.unbounded, stopping)
        if item[0] in ("for", "fork"):
            return rounds(item[2], 0, item[1], stopping)
        if item[0] == "iterate":
            return rounds(item[2], 1, item[1], stopping)
        if item[0] == "exact":
            return rounds(item[2], item[1], item[1], stopping)
        if item[0] == "kept":
            ends, stops = body(item[2], True)
            return {()} | ends | stops, set()
        (then, stops), (orelse, others) = body(item[1], stopping), body(item[2], stopping)
        return then | orelse, stops | others

    def body(items: list, stopping: bool) -> tuple[set, set]:
        out: set = {()}
        stopped: set = {()}
        for item in items:
            ends, stops = inside(item, stopping)
            stopped |= join(out, stops) if stopping else set()
            out = join(out, ends)
            stopped |= out if stopping else set()
        return out, stopped if stopping else set()

    return plan(number, False)[0]


def verdict(made: PlanSet, number: int) -> tuple[int | None, int | None]:
    """(items before the earliest refused step, length of the shortest unaccepted whole run); None where there is none."""
    m = made.machines[number]
    assert m is not None
    refused: int | None = None
    unfinished: int | None = None
    for run in runs(made, number):
        state: int | None = m.start
        for at, symbol in enumerate(run):
            if symbol is None:
                continue
            state = m.moves.get((state, symbol))
            if state is None:
                refused = at if refused is None else min(refused, at)
                break
        else:
            if state not in m.accept:
                unfinished = len(run) if unfinished is None else min(unfinished, len(run))
    return refused, unfinished


def exits(made: PlanSet, number: int) -> int:
    """The states in which the runs of a plan can end, as a mask; one bit more for runs that are refused."""
    m = made.machines[number]
    assert m is not None
    mask = 0
    for run in runs(made, number):
        state: int | None = m.start
        for symbol in run:
            if symbol is not None and state is not None:
                state = m.moves.get((state, symbol))
        mask |= 1 << (m.size if state is None else state)
    return mask


def judged(made: PlanSet) -> list[int]:
    """The plans with an automaton that the root reaches, itself first."""
    seen: list[int] = []

    def visit(number: int) -> None:
        if number in seen:
            return
        seen.append(number)
        work = list(made.bodies[number])
        while work:
            item = work.pop()
            if item[0] == "call":
                visit(item[1])
            elif item[0] == "each":
                work += item[1]
            elif item[0] in ("for", "iterate", "exact", "fork", "kept"):
                work += item[2]
            elif item[0] == "if":
                work += item[1] + item[2]

    visit(0)
    return [number for number in seen if made.machines[number]]
