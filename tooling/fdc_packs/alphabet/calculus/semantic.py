"""Semantic decomposition (ALPH-81): the features of a concept looked up in the alphabet, and what is missing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from ..model import Alphabet, normal
from .concepts import Concept
from .wellformed import Violation, violations


class Decomposition(NamedTuple):
    """What a concept comes to: a concept of primitives, the features that no primitive stands for, and what is wrong."""

    name: str
    concept: Concept
    gaps: tuple[str, ...]
    violations: tuple[Violation, ...]

    @property
    def kind(self) -> str:
        """`expressible` with no gap, `inexpressible` with gaps only, `partial` between."""
        if not self.gaps:
            return "expressible" if self.concept.labels else "inexpressible"
        return "partial" if self.concept.labels else "inexpressible"


def decomposition(
    alphabet: Alphabet, name: str, features: Iterable[str], aliases: Mapping[str, str] | None = None
) -> Decomposition:
    """Features (`time`, `not space`, `-space`) as primitives.

    `aliases` gives another label for a feature, such as its synonym; it is used where the feature itself is no primitive.
    """
    positive: set[str] = set()
    negative: set[str] = set()
    gaps = []
    for feature in features:
        label, denied = feature_of(feature)
        primitive = alphabet.labelled(label) or alphabet.labelled((aliases or {}).get(label, label))
        if primitive is None:
            gaps.append(label)
        else:
            (negative if denied else positive).add(normal(primitive.label))
    concept = Concept(frozenset(positive), frozenset(negative))
    return Decomposition(
        name, concept, tuple(dict.fromkeys(gaps)), tuple(violations(alphabet, concept))
    )


def feature_of(text: str) -> tuple[str, bool]:
    """A feature as its label, and whether it is denied."""
    label = normal(text)
    for sign in ("not ", "-", "~", "¬"):
        if label.startswith(sign) and len(label) > len(sign):
            return label[len(sign) :].strip(), True
    return label, False
