"""Forks against brute force: every order in which the branches' steps can happen (FDC-16, design 4, `fork`).

Where the order of two steps cannot be told, the verdict is exact. Where it can, the linter may say
that it cannot prove the fork (FDC405), but it never accepts one with a run that the automaton refuses.
With `keep failures` a branch may stop anywhere, and the run goes on from there (LGTM-38).
"""

from __future__ import annotations

import random
from typing import NamedTuple

import pytest
from fdc_toolchain.check import check
from fdc_toolchain.linking.link import Linker
from fdc_toolchain.linking.project.files import Files
from fdc_toolchain.linking.project.settings import Settings

from tests.support.plansets import CATALOGUE, SYMBOLS, TOOLS, Machine, TooMany, machine
from tests.support.profiles import quick_and_whole, share

SETS = share(1000)
KEPT_SETS = share(600)
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


def body(rng: random.Random, level: int = 0, keeps: float = 0.0) -> list:
    out: list = []
    for _ in range(rng.randint(1, 2)):
        kind = rng.random()
        if level < 2 and kind < 0.3:
            out.append((fork(rng, keeps), rng.randint(1, 3), body(rng, level + 1, keeps)))
        elif level < 2 and kind < 0.42:
            out.append(("if", body(rng, level + 1, keeps), body(rng, level + 1, keeps)))
        elif level < 2 and kind < 0.5:
            out.append(("iterate", 2, body(rng, level + 1, keeps)))
        elif kind < 0.6:
            out.append(("call", rng.choice(("own", "part"))))
        elif kind < 0.75:
            out += [("step", "ta"), ("step", "tb")]
        else:
            out.append(("step", rng.choice(tuple(TOOLS))))
    return out


def fork(rng: random.Random, keeps: float) -> str:
    return "kept" if keeps and rng.random() < keeps else "fork"


def write(items: list, level: int, lines: list[str]) -> None:
    pad = "  " * level
    for kind, *rest in items:
        if kind == "step":
            lines.append(pad + rest[0])
        elif kind == "call":
            lines.append(f"{pad}call_plan {rest[0]}.plan")
        elif kind == "if":
            lines.append(f'{pad}if cited("x")')
            write(rest[0], level + 1, lines)
            lines.append(f"{pad}else")
            write(rest[1], level + 1, lines)
        else:
            head = "iterate" if kind == "iterate" else 'fork _x in "y"'
            lines.append(f"{pad}{head} max {rest[0]}" + " keep failures" * (kind == "kept"))
            write(rest[1], level + 1, lines)


def shuffles(left: Word, right: Word) -> set[Word]:
    if not left or not right:
        return {left + right}
    return {(left[0], *rest) for rest in shuffles(left[1:], right)} | {
        (right[0], *rest) for rest in shuffles(left, right[1:])
    }


class Words(NamedTuple):
    """What the runs of a body spell that come to its end, and what those may have spelled that stop in it."""

    ends: set[Word]
    stops: set[Word]


def runs(items: list, part: list, *, stopping: bool = False) -> Words:
    """Both, by enumeration of every order and, where that matters (`stopping`), of every place to stop."""
    out = Words({()}, {()} if stopping else set())

    def limited(words: set[Word]) -> set[Word]:
        if len(words) > MOST or any(len(word) > 6 for word in words):
            raise TooMany
        return words

    def joined(first: set[Word], second: set[Word]) -> set[Word]:
        return limited({a + b for a in first for b in limited(second)})

    def at_once(branch: set[Word], most: int) -> set[Word]:
        found, several = {()}, {()}
        for _ in range(most):
            several = limited({word for a in several for b in branch for word in shuffles(a, b)})
            found |= several
        return found

    for kind, *rest in items:
        if kind == "step":
            symbol = TOOLS[rest[0]]
            word = (symbol,) if symbol else ()
            inner = Words({word}, {(), word})
        elif kind == "call":
            inner = runs(part, [], stopping=stopping) if rest[0] == "part" else Words({()}, set())
        elif kind == "if":
            then, orelse = (
                runs(rest[0], part, stopping=stopping),
                runs(rest[1], part, stopping=stopping),
            )
            inner = Words(then.ends | orelse.ends, then.stops | orelse.stops)
        elif kind == "iterate":
            once = runs(rest[1], part, stopping=stopping)
            inner = Words(
                joined(once.ends, once.ends), once.stops | joined(once.ends, once.stops)
            )  # it says no `until`
        else:
            once = runs(rest[1], part, stopping=stopping or kind == "kept")
            some_stop = (
                at_once(once.ends | once.stops, rest[0]) if stopping or kind == "kept" else set()
            )
            inner = Words(some_stop if kind == "kept" else at_once(once.ends, rest[0]), some_stop)
        ends = joined(out.ends, inner.ends)
        out = Words(ends, out.stops | joined(out.ends, inner.stops) | ends if stopping else set())
    return out


def refuses(m: Machine, words: set[Word]) -> bool:
    for word in words:
        state: int | None = m.start
        for symbol in word:
            state = m.moves.get((state, symbol)) if state is not None else None
        if state is None or state not in m.accept:
            return True
    return False


@pytest.mark.parametrize("sets", quick_and_whole(SETS // 4, SETS))
def test_no_fork_is_accepted_that_some_order_of_its_steps_breaks(sets: int):
    proved, refused, unproved, needless = judged(sets, 0.0)
    assert min(proved, refused) > sets // 10, (proved, refused)
    assert unproved > sets // 100, "there must be something to prove"
    assert needless < unproved, "what cannot be proved is mostly wrong"


@pytest.mark.parametrize("sets", quick_and_whole(KEPT_SETS // 4, KEPT_SETS))
def test_no_fork_is_accepted_that_some_stopped_branches_break(sets: int):
    """LGTM-38: the same where branches may stop anywhere and their failures are kept."""
    proved, refused, unproved, _ = judged(sets, 0.7)
    assert min(proved, refused) > sets // 10, (proved, refused)
    assert unproved < refused, (
        "where branches may stop, a wrong order is mostly one that a stop makes"
    )


def judged(sets: int, keeps: float) -> tuple[int, int, int, int]:
    """How many of the sets were proved, refused certainly, not proved, and not proved though nothing is wrong."""
    proved = refused = unproved = needless = 0
    for seed in range(sets):
        rng = random.Random(seed)
        m = machine_of(rng)
        items = [(fork(rng, keeps), rng.randint(2, 3), body(rng, 1, keeps)), *body(rng, 0, keeps)]
        part = [("step", rng.choice(tuple(TOOLS))) for _ in range(rng.randint(1, 2))]
        try:
            expected = refuses(m, runs(items, part).ends)
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
        codes = {
            item.code for item in result.diagnostics if item.code in ("FDC401", "FDC402", "FDC405")
        }
        where = f"seed {seed}\n" + "\n".join(lines) + f"\n-- part\n{parts}\n{m}"
        if expected:
            assert codes, f"accepted, and some run is refused: {where}"
        if codes & {"FDC401", "FDC402"}:
            assert expected, f"refused certainly, and no run is: {where}"
        proved += not codes
        refused += bool(codes & {"FDC401", "FDC402"})
        unproved += codes == {"FDC405"}
        needless += codes == {"FDC405"} and not expected
    return proved, refused, unproved, needless
