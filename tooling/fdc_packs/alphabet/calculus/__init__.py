"""The calculus of concepts: five implementations of one algebra, its operators, what is well formed and what follows.

    calculus.compose(alphabet, "time and not space")
    calculus.decompose(alphabet, 210)

Nothing in this folder reads or writes anything.
"""

from __future__ import annotations

from typing import Any

from ..model import Alphabet
from . import primes
from .concepts import (
    Basis,
    Calculus,
    CalculusError,
    Concept,
    EmptyComposition,
    UnknownPrimitive,
    basis_of,
)
from .expression import meaning_of
from .graphs import GraphCalculus
from .inference import Closure, clauses, closure, table_for
from .operators import ArityError, Meaning, Rule, Rules
from .prime import PrimeCalculus
from .semantic import Decomposition, decomposition
from .sets import SetCalculus
from .types import TypeCalculus
from .vectors import VectorCalculus
from .wellformed import Violation, completed, violations

__all__ = [
    "IMPLEMENTATIONS", "ArityError", "Basis", "Calculus", "CalculusError", "Closure", "Concept", "Decomposition",
    "EmptyComposition", "GraphCalculus", "Meaning", "PrimeCalculus", "Rule", "Rules", "SetCalculus", "TypeCalculus",
    "UnknownPrimitive", "VectorCalculus", "Violation", "basis_of", "clauses", "closure", "completed", "compose",
    "decompose", "decomposition", "meaning_of", "primes", "violations",
]  # fmt: skip

IMPLEMENTATIONS = (PrimeCalculus, SetCalculus, TypeCalculus, VectorCalculus, GraphCalculus)


def compose(alphabet: Alphabet, text: str) -> dict[str, Any]:
    """What an expression over an alphabet's labels comes to (ALPH-73 to 79).

    Gives `expression`; `alternatives`, each with its labels `positive` and `negative` and the products of their primes
    `number` and `denied_number`, `violations` (kind, labels, reason) and `follows` (sentences of what follows from it).
    Raises CalculusError.
    """
    basis = basis_of(alphabet)
    return _told(alphabet, basis, text, meaning_of(basis, text))


def decompose(alphabet: Alphabet, what: int | str, denied: int = 1) -> dict[str, Any]:
    """The primitives of a number, or of an expression; the same fields as `compose`. `denied` is the number of what is
    denied. Raises CalculusError for a number that is no composition of this alphabet."""
    text = str(what).strip()
    if not text.lstrip("-").isdigit():
        return compose(alphabet, text)
    basis = basis_of(alphabet)
    concept = Concept(basis.factors(_whole(text)), basis.factors(denied))
    if not concept.labels:
        raise EmptyComposition("1 is the composition of nothing, which is no concept")
    return _told(
        alphabet, basis, text if denied == 1 else f"{text} / {denied}", frozenset([concept])
    )


def _whole(text: str) -> int:
    try:
        return int(text)
    except ValueError as error:  # Python reads 4,300 digits, a composition of some 800 primitives
        raise CalculusError(
            f"a number of {len(text)} digits is not read: {error}".split(":")[0]
        ) from error


def _told(alphabet: Alphabet, basis: Basis, text: str, meaning: Meaning) -> dict[str, Any]:
    rules = table_for(alphabet)
    alternatives = []
    for concept in sorted(meaning, key=lambda one: (sorted(one.positive), sorted(one.negative))):
        found = closure(concept, rules)
        alternatives.append(
            {
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
    return {"expression": text, "alternatives": alternatives}
