"""The operators (ALPH-76, 77): and, not, or, if, predication, relation. A meaning is a set of alternatives, concept each.

both = conjoin(atom(basis, "time"), negate(atom(basis, "space")))
either = disjoin(both, atom(basis, "cause"))
"""

from __future__ import annotations

from typing import NamedTuple

from .concepts import Basis, CalculusError, Concept, tracks_of

MOST_ALTERNATIVES = 4096
"""A meaning with more alternatives than this is refused: denying a wide one doubles them for each part."""


class ArityError(CalculusError):
    """An operator with too few or too many operands."""


Meaning = frozenset[Concept]
"""The alternatives of which at least one holds; never empty."""


def atom(basis: Basis, label: str) -> Meaning:
    """The meaning of one primitive. Raises UnknownPrimitive."""
    return frozenset([tracks_of(basis, [label], ())])


def conjoin(*meanings: Meaning) -> Meaning:
    """All of them: every way to choose one alternative of each. Raises ArityError without operands."""
    if not meanings:
        raise ArityError("`and` takes at least one operand")
    found: Meaning = meanings[0]
    for meaning in meanings[1:]:
        _affordable(len(found) * len(meaning))
        found = frozenset(
            Concept(a.positive | b.positive, a.negative | b.negative)
            for a in found
            for b in meaning
        )
    return simplified(found)


def disjoin(*meanings: Meaning) -> Meaning:
    """At least one of them. Raises ArityError without operands."""
    if not meanings:
        raise ArityError("`or` takes at least one operand")
    _affordable(sum(map(len, meanings)))
    return simplified(frozenset().union(*meanings))


def negate(*meanings: Meaning) -> Meaning:
    """None of it. On a primitive the track is changed; anything else goes by De Morgan into alternatives: not (a and b)
    is (not a) or (not b), never the two tracks swapped. Raises ArityError unless there is exactly one operand."""
    if len(meanings) != 1:
        raise ArityError(f"`not` takes exactly one operand, and there are {len(meanings)}")
    return conjoin(*(_denied(concept) for concept in sorted(meanings[0], key=_key)))


def _denied(concept: Concept) -> Meaning:
    none: frozenset[str] = frozenset()
    return frozenset([
        *(Concept(none, frozenset([label])) for label in concept.positive),
        *(Concept(frozenset([label]), none) for label in concept.negative),
    ])  # fmt: skip


def simplified(meaning: Meaning) -> Meaning:
    """Without the alternatives that say more than another one does: a or (a and b) is a."""
    ordered = sorted(meaning, key=lambda concept: len(concept.positive) + len(concept.negative))
    kept: list[Concept] = []
    for concept in ordered:
        if not any(
            one.positive <= concept.positive and one.negative <= concept.negative for one in kept
        ):
            kept.append(concept)
    return frozenset(kept)


def _affordable(count: int) -> None:
    if count > MOST_ALTERNATIVES:
        raise CalculusError(
            f"this has {count} alternatives, and at most {MOST_ALTERNATIVES} are composed"
        )


def _key(concept: Concept) -> tuple[list[str], list[str]]:
    return sorted(concept.positive), sorted(concept.negative)


class Rule(NamedTuple):
    """If all of `condition`, then all of `conclusion`."""

    condition: Concept
    conclusion: Concept


def rules_of(*meanings: Meaning) -> list[Rule]:
    """`condition -> conclusion`: one rule for each alternative of the condition.

    Raises ArityError unless there are two operands, CalculusError where the conclusion has several alternatives.
    """
    if len(meanings) != 2:
        raise ArityError(f"`->` takes exactly two operands, and there are {len(meanings)}")
    condition, conclusion = meanings
    if len(conclusion) != 1:
        raise CalculusError(
            "the right side of `->` has several alternatives: a rule needs one conclusion"
        )
    (one,) = conclusion
    return [Rule(alternative, one) for alternative in sorted(condition, key=_key)]
