"""What a grounding set is worth: its size, how near it is to the least, and how much it says that no one looked at."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..wordlists import NSM, SWADESH
from .grounding import ROOTS, ROUNDS, Grounding, least_cost
from .lexicon import Ground, Lexicon


def report(lexicon: Lexicon, roots: int = ROOTS, rounds: int = ROUNDS) -> dict[str, object]:
    """The figures of a dictionary's grounding set, and its members in their rank. `held_out`: words that were no roots and
    stand in no definition that was unfolded from them. `swadesh`: a second set was made without his meanings as roots."""
    usual = (roots, rounds) == (ROOTS, ROUNDS)
    found = lexicon.beginners if usual else lexicon.ground(roots, rounds=rounds)
    cost, least = _cost(lexicon, found), least_cost(lexicon.uses, lexicon.prices, found.words)
    outside = [place for place in range(len(lexicon.words)) if place not in found.words]
    known = Ground(lexicon, found.members).grounded
    listed = lexicon.places(SWADESH)
    without = Ground(lexicon, lexicon.ground(roots, listed, rounds).members).grounded
    labels = {*lexicon.labels(found.members)}
    return {
        "source": lexicon.source,
        "dictionary": lexicon.read,
        "read": len(lexicon.words),
        "roots": min(roots, len(lexicon.words)),
        "words": len(found.words),
        "kernel": found.kernel,
        "members": len(found.members),
        "cost": round(cost, 2),
        "bound": round(least, 2),
        "above_bound": round(cost / least - 1, 4) if least else 0.0,
        "held_out": {
            "words": len(outside),
            "expressible": sum(place in known for place in outside),
        },
        "swadesh": {
            "words": len(listed),
            "expressible": sum(place in without for place in listed),
        },
        "primes": _primes(lexicon, labels),
        "ranked": lexicon.labels(found.members),
    }


def _cost(lexicon: Lexicon, found: Grounding) -> float:
    return sum(lexicon.prices[place] for place in sorted(found.members))


def _primes(lexicon: Lexicon, labels: Iterable[str]) -> dict[str, Any]:
    """The semantic primes of NSM that have a member by one of their own words, and how many a dictionary has no word for."""
    have = set(labels)
    shared = [item for item, own, _ in NSM if have & set(own.split())]
    undefined = [item for item, own, _ in NSM if own and not lexicon.places(own.split())]
    return {"items": len(NSM), "shared": shared, "without_an_entry": len(undefined)}
