"""Loops that run just so many rounds, however many: powers of what one round does, by repeated squaring.

An `iterate max N` whose condition never holds, or that has none, makes N rounds, N being up to 15 digits. What a
round does from a state does not depend on the round, so N rounds cost the logarithm of N.
"""

from __future__ import annotations

from collections.abc import Callable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    Way = TypeVar("Way")
    Ways = dict[int, tuple[int, Way]]
    """By state: the length of the shortest way there, and the way."""


def states_after(times: int, mask: int, sink: int, turn: Callable[[int], int]) -> int:
    """Where exactly `times` rounds end that begin in the states of `mask`; what is in the sink stays there.

    `turn` says where one round ends. It is asked once for each state that a round begins in, one state at a time.
    """
    rows: dict[int, int] = {}
    frontier, left = mask & ~sink, times
    while frontier and left:
        left -= 1
        after = 0
        for bit in _bits(frontier):
            rows[bit] = turn(bit)
            after |= rows[bit]
        frontier = sum(bit for bit in _bits(after & ~sink) if bit not in rows)
    while times:
        if times & 1:
            mask = _through(rows, mask, sink)
        times >>= 1
        if times:
            rows = {bit: _through(rows, after, sink) for bit, after in rows.items()}
    return mask


def _bits(mask: int) -> list[int]:
    out = []
    while mask:
        low = mask & -mask
        mask ^= low
        out.append(low)
    return out


def _through(rows: dict[int, int], mask: int, sink: int) -> int:
    out = mask & sink
    for bit in _bits(mask & ~sink):
        out |= rows.get(bit, 0)
    return out


def shortest_after(
    times: int, here: Ways[Way], turn: Callable[[int], Ways[Way]], join: Callable[[Way, Way], Way]
) -> Ways[Way]:
    """The shortest ways of exactly `times` rounds from `here`. `turn` gives those of one round from one state; `join` puts
    one way behind another."""
    rows: dict[int, Ways[Way]] = {}
    frontier, left = list(here), times
    while frontier and left:
        left -= 1
        for state in frontier:
            rows[state] = turn(state)
        frontier = sorted({after for state in frontier for after in rows[state]} - set(rows))
    while times:
        if times & 1:
            here = _onward(rows, here, join)
        times >>= 1
        if times:
            rows = {state: _onward(rows, ways, join) for state, ways in rows.items()}
    return here


def _onward(
    rows: dict[int, Ways[Way]], here: Ways[Way], join: Callable[[Way, Way], Way]
) -> Ways[Way]:
    out: Ways[Way] = {}
    for state, (length, way) in here.items():
        for target, (more, behind) in rows.get(state, {}).items():
            known = out.get(target)
            if known is None or length + more < known[0]:
                out[target] = (length + more, join(way, behind))
    return out
