"""A concept as a graph: a node that points at the concepts it was composed of, down to primitives (ALPH-80).

It is the one calculus that remembers how a concept was composed; parts are shared, not copied.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from .concepts import Basis, Concept, some, tracks_of


@dataclass(frozen=True, eq=False, slots=True)
class Part:
    """A node: the primitives it has and denies itself, and the concepts that it was made of."""

    has: frozenset[str]
    denies: frozenset[str] = frozenset()
    parts: tuple[Part, ...] = ()


class GraphCalculus:
    """compose points at its parts, decompose walks to the leaves, a part is reached."""

    name = "graph"

    def __init__(self, basis: Basis) -> None:
        self.basis = basis

    def concept(self, positive: Iterable[str], negative: Iterable[str] = ()) -> Part:
        return Part(*tracks_of(self.basis, positive, negative))

    def tracks(self, value: Part) -> Concept:
        has: set[str] = set()
        denies: set[str] = set()
        seen: set[int] = set()
        waiting = [value]
        while (
            waiting
        ):  # a list, since compositions of compositions may be deeper than Python's stack
            part = waiting.pop()
            if id(part) not in seen:
                seen.add(id(part))
                has |= part.has
                denies |= part.denies
                waiting += part.parts
        self.basis.check(has | denies)
        return Concept(frozenset(has), frozenset(denies))

    def compose(self, *values: Part) -> Part:
        return Part(frozenset(), frozenset(), some(values))

    def contains(self, whole: Part, part: Part) -> bool:
        wanted = self.tracks(part).positive
        return bool(wanted) and wanted <= self.tracks(whole).positive

    def common(self, one: Part, two: Part) -> Part | None:
        first, second = self.tracks(one), self.tracks(two)
        shared = Part(first.positive & second.positive, first.negative & second.negative)
        return shared if shared.has or shared.denies else None

    def subtype(self, one: Part, two: Part) -> bool:
        narrow, wide = self.tracks(one), self.tracks(two)
        return wide.positive <= narrow.positive and wide.negative <= narrow.negative

    def consistent(self, value: Part) -> bool:
        tracks = self.tracks(value)
        return not tracks.positive & tracks.negative
