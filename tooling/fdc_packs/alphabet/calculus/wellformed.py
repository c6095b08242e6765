"""Which compositions make sense (ALPH-78): three kinds of violation, each with its reason.

The relations are the alphabet's own: what a primitive presupposes, and what it contrasts with. Presupposed primitives
presuppose theirs, and the whole chain is in the reason. A cycle of presuppositions ends the walk.
"""

from __future__ import annotations

from typing import NamedTuple

from ..model import Alphabet, normal
from .concepts import Concept

KINDS = ("contradiction", "incomplete", "incompatible")


class Violation(NamedTuple):
    """What is wrong with a composition: the kind, the labels that it is about, and one sentence."""

    kind: str
    labels: tuple[str, ...]
    reason: str


def violations(alphabet: Alphabet, concept: Concept) -> list[Violation]:
    """Everything that is wrong with a concept, in order of kind and label; empty where it is well formed.

    contradiction: a primitive is had and denied, or had while what it presupposes is denied. incomplete: something that
    is presupposed is missing. incompatible: two that contrast are both had. Labels unknown to the alphabet are not judged.
    """
    found = [
        Violation("contradiction", (label,), f"`{label}` is both had and denied")
        for label in sorted(concept.positive & concept.negative)
    ]
    seen: set[tuple[str, ...]] = set()
    for label in sorted(concept.positive):
        for chain in presupposed(alphabet, label):
            needed = chain[-1]
            said = " presupposes ".join(f"`{one}`" for one in chain)
            if needed in concept.negative:
                found.append(
                    Violation("contradiction", (label, needed), f"{said}, which is denied")
                )
            elif needed not in concept.positive:
                found.append(Violation("incomplete", (label, needed), f"{said}, which is missing"))
        primitive = alphabet.labelled(label)
        for name in () if primitive is None else primitive.contrasts:
            other = alphabet.get(name)
            if other is None or not other.in_use or normal(other.label) not in concept.positive:
                continue
            pair = tuple(sorted((label, normal(other.label))))
            if pair not in seen:
                seen.add(pair)
                found.append(
                    Violation(
                        "incompatible",
                        pair,
                        f"`{pair[0]}` contrasts with `{pair[1]}`, and both are had",
                    )
                )
    return sorted(found, key=lambda one: (KINDS.index(one.kind), one.labels))


def presupposed(alphabet: Alphabet, label: str) -> list[tuple[str, ...]]:
    """For everything that a label presupposes, however far: the shortest chain from the label to it."""
    start = alphabet.labelled(label)
    if start is None:
        return []
    chains: dict[str, tuple[str, ...]] = {start.id: (normal(start.label),)}
    waiting = [start]
    for primitive in waiting:  # grows while it is walked: breadth first
        for name in primitive.presupposes:
            other = alphabet.get(name)
            if other is not None and other.in_use and name not in chains:
                chains[name] = (*chains[primitive.id], normal(other.label))
                waiting.append(other)
    return [chain for chain in chains.values() if len(chain) > 1]
