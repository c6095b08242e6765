"""Finds questions and reads that come before an action which came first in the other plan."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable

from .walk import Walked


def asked_too_early(before: Walked, after: Walked) -> Iterable[str]:
    """Questions and reads before an action that came first in the other plan."""
    places: list[dict[str, list[int]]] = [{}, {}]
    for side, acted in zip(places, (before.acted, after.acted), strict=True):
        for place, what in enumerate(acted):
            side.setdefault(what, []).append(place)

    def behind(side: int, what: str, place: int) -> int:
        rows = places[side].get(what, [])
        return len(rows) - bisect_left(rows, place)

    known: dict[tuple[int, int], bool] = {}
    for name, (place, told) in after.seen.items():
        if name in before.seen:
            pair = before.seen[name][0], place
            if pair not in known:
                first = dict.fromkeys(before.acted[: pair[0]])
                known[pair] = any(behind(1, it, place) > behind(0, it, pair[0]) for it in first)
            if known[pair]:
                yield f"now before an action that came first: {told}"
