"""Whether what a plan asks or looks at is asked before something that was done first in another plan."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable

from .walk import Walked


def asked_too_early(before: Walked, after: Walked) -> Iterable[str]:
    """What is asked or looked at before something is done that was done first in the other plan."""
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
                yield f"before something that was done first: {told}"
