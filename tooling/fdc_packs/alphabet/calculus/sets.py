"""A concept as two sets of labels (ALPH-80)."""

from __future__ import annotations

from collections.abc import Iterable

from .concepts import Basis, Concept, some, tracks_of


class SetCalculus:
    """compose is union, common is intersection, a part is a subset."""

    name = "set"

    def __init__(self, basis: Basis) -> None:
        self.basis = basis

    def concept(self, positive: Iterable[str], negative: Iterable[str] = ()) -> Concept:
        return tracks_of(self.basis, positive, negative)

    def tracks(self, value: Concept) -> Concept:
        return value

    def compose(self, *values: Concept) -> Concept:
        some(values)
        return Concept(
            frozenset().union(*(value.positive for value in values)),
            frozenset().union(*(value.negative for value in values)),
        )

    def contains(self, whole: Concept, part: Concept) -> bool:
        return bool(part.positive) and part.positive <= whole.positive

    def common(self, one: Concept, two: Concept) -> Concept | None:
        shared = Concept(one.positive & two.positive, one.negative & two.negative)
        return shared if shared.labels else None

    def subtype(self, one: Concept, two: Concept) -> bool:
        return two.positive <= one.positive and two.negative <= one.negative

    def consistent(self, value: Concept) -> bool:
        return value.positive.isdisjoint(value.negative)
