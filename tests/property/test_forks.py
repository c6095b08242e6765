"""Forks against brute force: every order in which the branches' steps can happen (FDC-16, design 4, `fork`).

Where the order of two steps cannot be told, the verdict is exact. Where it can, the linter may say
that it cannot prove the fork (FDC405), but it never accepts one with a run that the automaton refuses.
"""

from __future__ import annotations

import random

from fdc_toolchain.check import check
from fdc_toolchain.resolve.files import Files
from fdc_toolchain.resolve.link import Linker
from fdc_toolchain.resolve.settings import Settings

from tests.support.plansets import CATALOGUE, SYMBOLS, TOOLS, Machine, TooMany, machine

SETS = 1000
MOST = 150
Word = tuple[str, ...]


def machine_of(rng: random.Random) -> Machine:
    """Some with symbols that commute, some without anything that they refuse outright, some where b must follow a."""
    if rng.random() < 0.4:
        moves = {(0, "a_op"): 1, (1, "b_op"): 0, (0, "c_op"): 0, (1, "c_op"): 1}
        if rng.random() < 0.5:
            moves |= {(0, "b_op"): 0, (1, "a_op"): rng.randrange(2)}
        return Machine(2, 0, {0}, moves)
    made = machine(rng)
    if rng.random() < 0.35:
        for state in range(made.size):
            for symbol in SYMBOLS:
                made.moves.setdefault((state, symbol), rng.randrange(made.size))
    if rng.random() < 0.5:
        for symbol in rng.sample(SYMBOLS, 2):
            for state in range(made.size):
                made.moves[(state, symbol)] = state
    return made


def body(rng: random.Random, level: int = 0) -> list:
    out: list = []
    for _ in range(rng.randint(1, 2)):
        kind = rng.random()
        if level < 2 and kind < 0.3:
            out.append(("fork", rng.randint(1, 3), body(rng, level + 1)))
        elif level < 2 and kind < 0.42:
            out.append(("if", body(rng, level + 1), body(rng, level + 1)))
        elif level < 2 and kind < 0.5:
            out.append(("iterate", 2, body(rng, level + 1)))
        elif kind < 0.6:
            out.append(("call", rng.choice(("own", "part"))))
        elif kind < 0.75:
            out += [("step", "ta"), ("step", "tb")]
        else:
            out.append(("step", rng.choice(tuple(TOOLS))))
    return out


def write(items: list, level: int, lines: list[str]) -> None:
    pad = "  " * level
    for kind, *rest in items:
        if kind == "step":
            lines.append(pad + rest[0])
        elif kind == "call":
            lines.append(f"{pad}call_plan {rest[0]}.plan")
        elif kind == "if":
            lines.append(f'{pad}if "x" == "y"')
            write(rest[0], level + 1, lines)
            lines.append(f"{pad}else")
            write(rest[1], level + 1, lines)
        else:
            lines.append(pad + ('fork _x in "y"' if kind == "fork" else "iterate") + f" max {rest[0]}")
            write(rest[1], level + 1, lines)


def shuffles(left: Word, right: Word) -> set[Word]:
    if not left or not right:
        return {left + right}
    return {(left[0], *rest) for rest in shuffles(left[1:], right)} | {(right[0], *rest) for rest in shuffles(left, right[1:])}


def runs(items: list, part: list) -> set[Word]:
    """What the runs spell."""
    out: set[Word] = {()}

    def limited(words: set[Word]) -> set[Word]:
        if len(words) > MOST or any(len(word) > 6 for word in words):
            raise TooMany
        return words

    for kind, *rest in items:
        if kind == "step":
            symbol = TOOLS[rest[0]]
            inner = {(symbol,) if symbol else ()}
        elif kind == "call":
            inner = runs(part, []) if rest[0] == "part" else {()}
        elif kind == "if":
            inner = runs(rest[0], part) | runs(rest[1], part)
        elif kind == "iterate":
            once = runs(rest[1], part)
            inner = once | {a + b for a in once for b in once}
        else:
            once = runs(rest[1], part)
            inner, several = {()}, {()}
            for _ in range(rest[0]):
                several = limited({word for a in several for b in once for word in shuffles(a, b)})
                inner |= several
        out = limited({a + b for a in out for b in limited(inner)})
    return out


def refuses(m: Machine, words: set[Word]) -> bool:
    for word in words:
        state: int | None = m.start
        for symbol in word:
            state = m.moves.get((state, symbol)) if state is not None else None
        if state is None or state not in m.accept:
            return True
    return False


def test_no_fork_is_accepted_that_some_order_of_its_steps_breaks():
    proved = refused = unproved = needless = 0
    for seed in range(SETS):
        rng = random.Random(seed)
        m = machine_of(rng)
        items = [("fork", rng.randint(2, 3), body(rng, 1)), *body(rng)]
        part = [("step", rng.choice(tuple(TOOLS))) for _ in range(rng.randint(1, 2))]
        try:
            expected = refuses(m, runs(items, part))
        except TooMany:
            continue
        lines: list[str] = ["use fsm m.json"]
        write(items, 0, lines)
        parts: list[str] = []
        write(part, 0, parts)
        files = Files("/nonexistent")
        files.seen |= {
            "fdc_tools.json": CATALOGUE, "m.json": m.json(), "a.plan": ("\n".join(lines) + "\n").encode(),
            "part.plan": ("\n".join(parts) + "\n").encode(), "own.plan": b"use fsm own.json\nta\n",
            "own.json": b'{"states": ["S"], "alphabet": ["a_op"], "transitions": {"S": {"a_op": "S"}}, '
            b'"start_state": "S", "accept_states": ["S"]}',
        }  # fmt: skip
        result = check(Linker("/nonexistent", Settings(), files), ["a.plan"])
        codes = {item.code for item in result.diagnostics if item.code in ("FDC401", "FDC402", "FDC405")}
        where = f"seed {seed}\n" + "\n".join(lines) + f"\n-- part\n{parts}\n{m}"
        if expected:
            assert codes, f"accepted, and some run is refused: {where}"
        if codes & {"FDC401", "FDC402"}:
            assert expected, f"refused for certain, and no run is: {where}"
        proved += not codes
        refused += bool(codes & {"FDC401", "FDC402"})
        unproved += codes == {"FDC405"}
        needless += codes == {"FDC405"} and not expected
    assert min(proved, refused) > 120, (proved, refused)
    assert unproved > 10, "there must be something to prove"
    assert needless < unproved, "what cannot be proved is mostly wrong"
