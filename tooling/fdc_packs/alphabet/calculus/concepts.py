"""What every calculus works on: a basis of primitives with their primes, and concepts with two tracks (ALPH-73 to 75)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from functools import cached_property
from types import MappingProxyType
from typing import NamedTuple

from ..model import Alphabet, normal
from .primes import strangers


class CalculusError(ValueError):
    """One sentence that says why something cannot be composed, decomposed or derived."""


class UnknownPrimitive(CalculusError):
    """A label, or a prime, that no primitive in use has."""


class EmptyComposition(CalculusError):
    """A composition of nothing: it would be a part of every concept."""


class Concept(NamedTuple):
    """A concept as the labels that it has and the labels that it denies."""

    positive: frozenset[str]
    negative: frozenset[str] = frozenset()

    def __str__(self) -> str:
        return " + ".join(
            [*sorted(self.positive), *(f"not {label}" for label in sorted(self.negative))]
        )

    @property
    def labels(self) -> frozenset[str]:
        """Every label that occurs in it."""
        return self.positive | self.negative

    def composed(self, *others: Concept) -> Concept:
        """Everything that this and the others have and deny; order and repetition do not matter (ALPH-74)."""
        return Concept(
            self.positive.union(*(one.positive for one in others)),
            self.negative.union(*(one.negative for one in others)),
        )

    def contains(self, part: Concept) -> bool:
        """Whether this has all that `part` has: its number is divisible; never so for a part that has nothing."""
        return bool(part.positive) and part.positive <= self.positive

    def common(self, other: Concept) -> Concept:
        """What both have and what both deny: the greatest common divisors."""
        return Concept(self.positive & other.positive, self.negative & other.negative)

    def is_kind_of(self, other: Concept) -> bool:
        """Whether this has all that the other has, and denies all that it denies."""
        return other.positive <= self.positive and other.negative <= self.negative

    @property
    def consistent(self) -> bool:
        """Whether nothing is both had and denied (ALPH-75)."""
        return self.positive.isdisjoint(self.negative)


_BLOCK = 64
"""So many primes are tried one by one at the bottom of the tree; fewer cost more divisors, more cost more trials."""


class Node(NamedTuple):
    """A product over a range of primes: with its two halves, or at the bottom with the primes themselves."""

    product: int
    primes: tuple[int, ...]
    left: Node | None = None
    right: Node | None = None


class Basis:
    """The primitives of one alphabet in their order: label and prime each.

    Raises CalculusError where a number is not prime, or two primitives share one.
    """

    def __init__(self, primes: Mapping[str, int]) -> None:
        self.primes: Mapping[str, int] = MappingProxyType(
            {normal(label): prime for label, prime in primes.items()}
        )
        self.labels: Mapping[int, str] = MappingProxyType(
            {prime: label for label, prime in self.primes.items()}
        )
        for label, prime in self.primes.items():
            if self.labels[prime] != label:
                raise CalculusError(
                    f"`{label}` and `{self.labels[prime]}` have the same prime, {prime}"
                )
        for prime in strangers(self.labels):
            raise CalculusError(
                f"`{self.labels[prime]}` has the number {prime}, which is not prime"
            )

    @cached_property
    def order(self) -> Mapping[str, int]:
        """The place of each label: the axis of a vector, the feature of a structure."""
        return {label: place for place, label in enumerate(self.primes)}

    @cached_property
    def tree(self) -> Node:
        """The products of all primes by halves, with which a number is factorised without trying every prime."""
        primes = sorted(self.labels)
        blocks = [
            tuple(primes[start : start + _BLOCK]) for start in range(0, len(primes), _BLOCK)
        ] or [()]
        level = [Node(math.prod(block), block) for block in blocks]
        while len(level) > 1:
            pairs = zip(level[::2], level[1::2])
            odd = level[-1:] if len(level) % 2 else []
            level = [Node(a.product * b.product, (), a, b) for a, b in pairs] + odd
        return level[0]

    def check(self, labels: Iterable[str]) -> list[str]:
        """The labels as the basis writes them. Raises UnknownPrimitive, naming each that is not there."""
        found = [normal(label) for label in labels]
        unknown = [label for label in dict.fromkeys(found) if label not in self.primes]
        if unknown:
            names = ", ".join(f"`{label}`" for label in unknown)
            raise UnknownPrimitive(f"no primitive in use is called {names}")
        return found

    def number(self, labels: Iterable[str]) -> int:
        """The product of the labels' primes, each once (ALPH-74). Raises UnknownPrimitive."""
        return math.prod(self.primes[label] for label in set(self.check(labels)))

    def factors(self, number: int) -> frozenset[str]:
        """The labels whose primes divide a number.

        Raises CalculusError for a number below 1, one that holds a prime twice, and one with a prime of no primitive.
        """
        if number < 1:
            raise CalculusError(
                f"{number} is not a composition: compositions are products of primes"
            )
        labels, rest = [], number
        waiting = [(self.tree, number)]
        while waiting:
            node, part = waiting.pop()
            # the parent's common divisor, not the whole number: it shrinks on the way down
            common = math.gcd(part, node.product)
            if common == 1:
                continue
            if node.left is None or node.right is None:
                found = [prime for prime in node.primes if common % prime == 0]
                labels += [self.labels[prime] for prime in found]
                rest //= math.prod(found)
                continue
            waiting += [(node.right, common), (node.left, common)]
        if rest > 1:
            twice = [label for label in labels if rest % self.primes[label] == 0]
            if twice:
                raise CalculusError(
                    f"{number} holds the prime of `{twice[0]}` more than once: a primitive is in or it is not"
                )
            raise UnknownPrimitive(
                f"{number} has the factor {rest}, of which no primitive in use has a prime"
            )
        return frozenset(labels)


def basis_of(alphabet: Alphabet) -> Basis:
    """The basis of an alphabet: its primitives in use. Raises CalculusError."""
    if "basis" not in alphabet.memo:
        alphabet.memo["basis"] = Basis({one.label: one.prime for one in alphabet})
    found: Basis = alphabet.memo["basis"]
    return found


def tracks_of(basis: Basis, positive: Iterable[str], negative: Iterable[str]) -> Concept:
    """A concept of known labels. Raises UnknownPrimitive, EmptyComposition."""
    concept = Concept(frozenset(basis.check(positive)), frozenset(basis.check(negative)))
    if not concept.labels:
        raise EmptyComposition(
            "a concept needs at least one primitive: nothing would be a part of everything"
        )
    return concept
