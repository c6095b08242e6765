"""The calculus of concepts: its operators, what is well formed and what follows.

    calculus.compose(alphabet, "time and not space; time -> cause")
    calculus.decompose(alphabet, 210)

A concept is two sets of labels and, in print, two products of primes. Five other ways to calculate the same are laid down beside
every alphabet (`data/calculus/implementations/`); the tests hold this one against them. Nothing here reads or writes anything.
"""

from __future__ import annotations

from typing import Any

from ..model import Alphabet
from . import primes
from .concepts import (
    Basis,
    CalculusError,
    Concept,
    EmptyComposition,
    UnknownPrimitive,
    basis_of,
)
from .expression import Statement, meaning_of, statements_of
from .inference import Table, clauses, closure, table_for
from .operators import ArityError, Rule, rules_of
from .wellformed import violations

__all__ = [
    "ArityError", "Basis", "CalculusError", "Concept", "EmptyComposition", "UnknownPrimitive", "basis_of", "clauses",
    "closure", "compare", "compose", "decompose", "meaning_of", "primes", "statements_of", "violations",
]  # fmt: skip


def compose(alphabet: Alphabet, text: str) -> dict[str, object]:
    """What statements over an alphabet's labels come to (ALPH-73 to 79).

    Gives `expression`; `rules`, those that the text states; `alternatives` of every other statement, each with its
    `subjects`, its labels `positive` and `negative`, the products of their primes `number` and `denied_number`, `violations`
    (kind, labels, reason) and `follows` (sentences of what follows from it, also by the rules). Raises CalculusError.
    """
    basis = basis_of(alphabet)
    rules, said = dict[Rule, None](), list[Statement]()
    for one in statements_of(basis, text):
        if one.conclusion is None:
            said.append(one)
        else:
            rules |= dict.fromkeys(rules_of(one.meaning, one.conclusion))
    table = table_for(alphabet, list(rules))
    found = [row for one in said for row in _told(alphabet, basis, one, table)]
    told = [f"{one.condition} -> {one.conclusion}" for one in rules]
    return {"expression": text, "rules": told, "alternatives": found}


def decompose(alphabet: Alphabet, what: int | str, denied: int = 1) -> dict[str, object]:
    """The primitives of a number, or of an expression; the same fields as `compose`. `denied` is the number of what is
    denied. Raises CalculusError for a number that is not a composition of this alphabet."""
    text = str(what).strip()
    if not text.lstrip("-").isdigit():
        return compose(alphabet, text)
    basis = basis_of(alphabet)
    concept = Concept(basis.factors(_whole(text)), basis.factors(denied))
    if not concept.labels:
        raise EmptyComposition("1 is the composition of nothing, which is not a concept")
    found = _told(alphabet, basis, Statement(frozenset([concept])), table_for(alphabet))
    expression = text if denied == 1 else f"{text} / {denied}"
    return {"expression": expression, "rules": [], "alternatives": found}


def compare(alphabet: Alphabet, first: str, second: str) -> dict[str, object]:
    """What two expressions of one alternative each have to do with each other (ALPH-73): whether one contains the other, or is
    a kind of it, and what they have in common. Raises CalculusError."""
    basis = basis_of(alphabet)
    one, two = _single(basis, first), _single(basis, second)
    both = one.common(two)
    return {
        "first": str(one), "second": str(two), "contains": one.contains(two), "is_contained": two.contains(one),
        "is_kind_of": one.is_kind_of(two), "has_kind": two.is_kind_of(one),
        "common": {
            "positive": sorted(both.positive), "negative": sorted(both.negative),
            "number": basis.number(both.positive), "denied_number": basis.number(both.negative),
        },
        "together_consistent": one.composed(two).consistent,
    }  # fmt: skip


def _single(basis: Basis, text: str) -> Concept:
    meaning = meaning_of(basis, text)
    if len(meaning) > 1:
        raise CalculusError(f"`{text}` has {len(meaning)} alternatives, and one is compared")
    return next(iter(meaning))


def _whole(text: str) -> int:
    try:
        return int(text)
    except ValueError as error:  # Python reads 4,300 digits, a composition of some 800 primitives
        raise CalculusError(
            f"a number of {len(text)} digits is not read: {error}".split(":")[0]
        ) from error


def _told(
    alphabet: Alphabet, basis: Basis, statement: Statement, table: Table
) -> list[dict[str, Any]]:
    alternatives = []
    for concept in sorted(
        statement.meaning, key=lambda one: (sorted(one.positive), sorted(one.negative))
    ):
        found = closure(concept, table)
        alternatives.append(
            {
                "subjects": list(statement.subjects),
                "positive": sorted(concept.positive),
                "negative": sorted(concept.negative),
                "number": basis.number(concept.positive),
                "denied_number": basis.number(concept.negative),
                "violations": [violation._asdict() for violation in violations(alphabet, concept)],
                "follows": [
                    found.why(one)[-1]
                    for one in sorted(found.steps)
                    if found.steps[one].kind != "given"
                ],
            }
        )
    return alternatives
