"""A concept as a vector: two axes for each primitive, one for having and one for denying it (ALPH-80).

One axis with +1 and -1 would let a contradiction add up to nothing; with two it stays visible. Vectors are sparse.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from types import MappingProxyType

from .concepts import Basis, CalculusError, Concept, some, tracks_of

Vector = Mapping[int, float]


class VectorCalculus:
    """compose is the greatest coordinate of each axis, a part projects onto the whole without loss."""

    name = "vector"

    def __init__(self, basis: Basis) -> None:
        self.basis = basis
        self._labels = tuple(basis.primes)

    def concept(self, positive: Iterable[str], negative: Iterable[str] = ()) -> Vector:
        tracks = tracks_of(self.basis, positive, negative)
        axes = [2 * self.basis.order[label] for label in tracks.positive]
        axes += [2 * self.basis.order[label] + 1 for label in tracks.negative]
        return MappingProxyType(dict.fromkeys(axes, 1.0))

    def tracks(self, value: Vector) -> Concept:
        far = [axis for axis in value if not 0 <= axis < 2 * len(self._labels)]
        if far:
            raise CalculusError(
                f"a vector has the axis {far[0]}, and the alphabet has {2 * len(self._labels)} axes"
            )
        return Concept(
            frozenset(
                self._labels[axis // 2] for axis, size in value.items() if size and axis % 2 == 0
            ),
            frozenset(
                self._labels[axis // 2] for axis, size in value.items() if size and axis % 2 == 1
            ),
        )

    def compose(self, *values: Vector) -> Vector:
        some(values)
        highest: dict[int, float] = {}
        for value in values:
            for axis, size in value.items():
                highest[axis] = max(highest.get(axis, 0.0), size)
        return MappingProxyType(highest)

    def contains(self, whole: Vector, part: Vector) -> bool:
        had = {axis: size for axis, size in part.items() if axis % 2 == 0}
        return bool(had) and _dot(had, whole) >= _dot(had, had)

    def common(self, one: Vector, two: Vector) -> Vector | None:
        lowest = {axis: min(size, two[axis]) for axis, size in one.items() if two.get(axis)}
        return MappingProxyType(lowest) if lowest else None

    def subtype(self, one: Vector, two: Vector) -> bool:
        return _dot(two, one) >= _dot(two, two)

    def consistent(self, value: Vector) -> bool:
        return not any(
            value.get(axis + 1) for axis, size in value.items() if size and axis % 2 == 0
        )

    def similarity(self, one: Vector, two: Vector) -> float:
        """The cosine of the angle between two concepts, 0 to 1: what no other calculus has."""
        length = math.sqrt(_dot(one, one) * _dot(two, two))
        return _dot(one, two) / length if length else 0.0


def _dot(one: Vector, two: Vector) -> float:
    if len(one) > len(two):
        one, two = two, one
    return math.fsum(size * two.get(axis, 0.0) for axis, size in one.items())
