"""Sums of products of sizes: `2 x |args.files| + 1`. Sizes are never negative."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import ceil

Monomial = tuple[str, ...]


MOST_TERMS = 500
LARGEST = 10**30


class TooLarge(Exception):
    """A formula has more terms, or a larger number, than anybody could use."""


class Formula:
    """An upper bound. Immutable; coefficients are above zero, keys are sorted names of sizes."""

    __slots__ = ("terms",)

    def __init__(self, terms: Mapping[Monomial, Fraction]) -> None:
        self.terms = {names: number for names, number in terms.items() if number > 0}
        if len(self.terms) > MOST_TERMS or any(one > LARGEST for one in self.terms.values()):
            raise TooLarge

    def __add__(self, other: Formula) -> Formula:
        if not other.terms:
            return self
        terms = dict(self.terms)
        for names, number in other.terms.items():
            terms[names] = terms.get(names, Fraction(0)) + number
        return Formula(terms)

    def __mul__(self, other: Formula) -> Formula:
        if len(self.terms) * len(other.terms) > 4 * MOST_TERMS:
            raise TooLarge
        terms: dict[Monomial, Fraction] = {}
        for one, first in self.terms.items():
            for two, second in other.terms.items():
                names = tuple(sorted((*one, *two)))
                terms[names] = terms.get(names, Fraction(0)) + first * second
        return Formula(terms)

    def __bool__(self) -> bool:
        return bool(self.terms)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Formula) and self.terms == other.terms

    def __hash__(self) -> int:
        return hash(frozenset(self.terms.items()))

    def either(self, other: Formula) -> Formula:
        """At least as much as each of the two."""
        terms = dict(self.terms)
        for names, number in other.terms.items():
            terms[names] = max(number, terms.get(names, number))
        return Formula(terms)

    @property
    def number(self) -> Fraction | None:
        """The value where no size is in it, else None."""
        return self.terms.get((), Fraction(0)) if not self.terms.keys() - {()} else None

    @property
    def names(self) -> frozenset[str]:
        """The names of the sizes in it."""
        return frozenset(name for names in self.terms for name in names)

    def value(self, sizes: Mapping[str, float]) -> float:
        """The number for these sizes. Raises KeyError where one is missing."""
        total = 0.0
        for names, number in self.terms.items():
            product = float(number)
            for name in names:
                product *= sizes[name]
            total += product
        return total

    def __str__(self) -> str:
        rows = sorted(self.terms.items(), key=lambda row: (-len(row[0]), row[0]))
        return " + ".join(_shown(names, number) for names, number in rows) or "0"


def _shown(names: Monomial, number: Fraction) -> str:
    if not names:
        return str(ceil(number))
    product = " x ".join(names)
    return product if number == 1 else f"{number} x {product}"


def constant(number: int | Fraction) -> Formula:
    """The formula that is one number; 0 for what is below it."""
    return Formula({(): Fraction(number)})


def size(name: str) -> Formula:
    """The formula that is one size."""
    return Formula({(name,): Fraction(1)})


ZERO = constant(0)
ONE = constant(1)
