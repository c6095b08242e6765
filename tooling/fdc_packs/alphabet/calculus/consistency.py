"""The six rules that every change of an alphabet must keep (ALPH-49 to 54): of the whole, or of what a change touches.

violations(alphabet)                      every broken rule
violations_near(alphabet, {"PRM_0007"})   those that a change of these primitives can have broken
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

from ..circles import shortest_circle
from ..model import Alphabet, Primitive

RULES = ("ids", "circularity", "redundancy", "references", "iterations", "contrasts")


class Violation(NamedTuple):
    """A broken rule: which, the primitives it is about, and a sentence."""

    rule: str
    ids: tuple[str, ...]
    why: str


def violations(alphabet: Alphabet) -> list[Violation]:
    """Every violation, in a fixed order."""
    return [
        *_collisions(alphabet, alphabet),
        *_circles(alphabet),
        *_each(alphabet, alphabet),
        *_equal(alphabet, alphabet),
    ]


def violations_near(alphabet: Alphabet, changed: Collection[str]) -> list[Violation]:
    """The violations that involve one of the changed primitives (ALPH-63); all that a change of a sound alphabet can cause."""
    found = [one for one in (alphabet.get(name) for name in sorted(changed)) if one is not None]
    mine = [one for one in found if one.in_use]
    touched = {one.id for one in mine}
    gone = {name for name in changed if name not in touched}
    for name in sorted(gone):  # who refers to what is not in use
        mine += [
            one
            for one in (alphabet.get(user) for user in alphabet.dependants.get(name, ()))
            if one is not None
        ]
        mine += [
            one
            for one in alphabet
            if name in one.contrasts or name in one.composes or name in one.derivation
        ]
    unique = list({one.id: one for one in mine}.values())
    near = [*_collisions(alphabet, unique), *_circles_through(alphabet, unique)]
    return [*near, *_each(alphabet, unique), *_equal(alphabet, unique)]


def violations_between(before: int, after: int) -> list[Violation]:
    """ALPH-53: an iteration follows the one before it."""
    if after == before + 1:
        return []
    return [Violation("iterations", (), f"iteration {after} cannot follow iteration {before}")]


def _collisions(alphabet: Alphabet, some: Iterable[Primitive]) -> Iterator[Violation]:
    """ALPH-49. Ids are keys, so it is primes and labels that can meet."""
    seen: set[Violation] = set()
    for one in some:
        for other in alphabet.twins(one):
            first, second = sorted((one, other), key=lambda row: row.id)
            prime = first.prime == second.prime
            what = f"have the prime {first.prime}" if prime else f"are both called `{first.label}`"
            found = Violation("ids", (first.id, second.id), f"{first.id} and {second.id} {what}")
            if found not in seen:
                seen.add(found)
                yield found


def _each(alphabet: Alphabet, some: Iterable[Primitive]) -> Iterator[Violation]:
    """ALPH-51, 52, 54: what a primitive refers to, how it contrasts, by what it is recorded to be expressed."""
    for one in some:
        for kind, others in (
            ("presupposes", one.presupposes), ("contrasts with", one.contrasts),
            ("composes with", one.composes), ("is derived from", one.derivation),
        ):  # fmt: skip
            for name in others:
                if not _used(alphabet, name):
                    what = "is not in use" if alphabet.get(name) else "does not exist"
                    why = f"{one.id} {kind} {name}, which {what}"
                    yield Violation("references", (one.id, name), why)
        for name in one.contrasts:
            other = alphabet.get(name)
            if other is None:
                continue
            faults = {
                "contrasts with itself": one.id == name,
                f"contrasts with {name}, and not the other way round": one.id not in other.contrasts
                and one.id != name,
                f"and {name} contrast, and one presupposes the other": name in one.presupposes
                or one.id in other.presupposes,
            }
            for why in (why for why, found in faults.items() if found):
                yield Violation("contrasts", (one.id, name), f"{one.id} {why}")
        if one.derivation and all(_used(alphabet, name) for name in one.derivation):
            why = f"{one.id} is recorded to be expressed by {', '.join(one.derivation)}"
            yield Violation("redundancy", (one.id, *one.derivation), why)


def _used(alphabet: Alphabet, name: str) -> bool:
    one = alphabet.get(name)
    return one is not None and one.in_use


def _equal(alphabet: Alphabet, some: Iterable[Primitive]) -> Iterator[Violation]:
    """ALPH-51, C-26: two primitives of one definition say one thing."""
    seen: set[tuple[str, str]] = set()
    for one in some:
        for other in alphabet.defined_as(one):
            pair = (min(one.id, other.id), max(one.id, other.id))
            if other.id != one.id and pair not in seen:
                seen.add(pair)
                yield Violation("redundancy", pair, f"{pair[0]} and {pair[1]} have one definition")


def _circles(alphabet: Alphabet) -> Iterator[Violation]:
    """ALPH-50: a circle of presuppositions for each knot of them, the shortest through its first member."""
    import networkx

    edges = ((one.id, other) for one in alphabet for other in _needs(alphabet, one.id))
    knots = networkx.strongly_connected_components(networkx.DiGraph(edges))
    for first in sorted(min(knot) for knot in knots):
        circle = _shortest(alphabet, first)
        if circle:
            yield _circle(circle)


def _shortest(alphabet: Alphabet, start: str) -> list[str]:
    return shortest_circle(start, lambda name: _needs(alphabet, name))


def _circles_through(alphabet: Alphabet, some: Iterable[Primitive]) -> Iterator[Violation]:
    seen: set[frozenset[str]] = set()
    for one in some:
        circle = _shortest(alphabet, one.id)
        if circle and frozenset(circle) not in seen:
            seen.add(frozenset(circle))
            yield _circle(circle)


def _circle(path: list[str]) -> Violation:
    at = path.index(min(path))
    path = path[at:] + path[:at]
    return Violation("circularity", tuple(path), f"{' presupposes '.join([*path, path[0]])}")


def _needs(alphabet: Alphabet, name: str) -> tuple[str, ...]:
    one = alphabet.get(name)
    return one.presupposes if one is not None and one.in_use else ()


def score(alphabet: Alphabet, found: Collection[Violation]) -> float:
    """`consistency_score`: the part of the primitives in use that no violation names."""
    if not len(alphabet):
        return 1.0
    named = {name for one in found for name in one.ids}
    return round(1.0 - len(named & {one.id for one in alphabet}) / len(alphabet), 4)
