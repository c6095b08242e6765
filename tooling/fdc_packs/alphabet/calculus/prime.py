"""Leibniz's own: a concept is a pair of whole numbers, products of the primes that it has and that it denies (ALPH-73)."""

from __future__ import annotations

import math
from collections.abc import Iterable

from .concepts import Basis, Concept, some, tracks_of

Pair = tuple[int, int]


class PrimeCalculus:
    """compose is the least common multiple, so that a primitive counts once (ALPH-74); a part divides the whole."""

    name = "prime"

    def __init__(self, basis: Basis) -> None:
        self.basis = basis

    def concept(self, positive: Iterable[str], negative: Iterable[str] = ()) -> Pair:
        tracks = tracks_of(self.basis, positive, negative)
        return self.basis.number(tracks.positive), self.basis.number(tracks.negative)

    def tracks(self, value: Pair) -> Concept:
        return Concept(self.basis.factors(value[0]), self.basis.factors(value[1]))

    def compose(self, *values: Pair) -> Pair:
        some(values)
        return math.lcm(*(value[0] for value in values)), math.lcm(*(value[1] for value in values))

    def contains(self, whole: Pair, part: Pair) -> bool:
        return part[0] > 1 and whole[0] % part[0] == 0

    def common(self, one: Pair, two: Pair) -> Pair | None:
        shared = math.gcd(one[0], two[0]), math.gcd(one[1], two[1])
        return None if shared == (1, 1) else shared

    def subtype(self, one: Pair, two: Pair) -> bool:
        return one[0] % two[0] == 0 and one[1] % two[1] == 0

    def consistent(self, value: Pair) -> bool:
        return math.gcd(*value) == 1
