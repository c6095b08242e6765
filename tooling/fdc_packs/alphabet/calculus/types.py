"""A concept as a type: a feature structure over the lattice nothing < had, denied < clash (ALPH-80).

Composing is unification, which here never fails: a feature that is had and denied becomes CLASH, so that an inconsistent
composition can be shown with its reason and not only refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from .concepts import Basis, CalculusError, Concept, some, tracks_of

HAD, DENIED, CLASH = 1, 2, 3
Features = Mapping[str, int]


class TypeCalculus:
    """compose joins feature by feature, common meets, subtype is subsumption."""

    name = "type"

    def __init__(self, basis: Basis) -> None:
        self.basis = basis

    def concept(self, positive: Iterable[str], negative: Iterable[str] = ()) -> Features:
        tracks = tracks_of(self.basis, positive, negative)
        return self.compose(
            dict.fromkeys(tracks.positive, HAD), dict.fromkeys(tracks.negative, DENIED)
        )

    def tracks(self, value: Features) -> Concept:
        for label, feature in value.items():
            if feature not in (HAD, DENIED, CLASH):
                raise CalculusError(
                    f"the feature `{label}` is {feature}, which is no value of a feature"
                )
        self.basis.check(value)
        return Concept(
            frozenset(label for label, feature in value.items() if feature & HAD),
            frozenset(label for label, feature in value.items() if feature & DENIED),
        )

    def compose(self, *values: Features) -> Features:
        some(values)
        joined: dict[str, int] = {}
        for value in values:
            for label, feature in value.items():
                joined[label] = joined.get(label, 0) | feature
        return MappingProxyType(joined)

    def contains(self, whole: Features, part: Features) -> bool:
        had = [label for label, feature in part.items() if feature & HAD]
        return bool(had) and all(whole.get(label, 0) & HAD for label in had)

    def common(self, one: Features, two: Features) -> Features | None:
        met = {
            label: feature & two.get(label, 0)
            for label, feature in one.items()
            if feature & two.get(label, 0)
        }
        return MappingProxyType(met) if met else None

    def subtype(self, one: Features, two: Features) -> bool:
        return all(one.get(label, 0) & feature == feature for label, feature in two.items())

    def consistent(self, value: Features) -> bool:
        return CLASH not in value.values()
