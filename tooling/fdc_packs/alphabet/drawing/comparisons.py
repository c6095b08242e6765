"""An alphabet beside other inventories of basic concepts (ALPH-85): NSM, Aristotle, WordNet, Cyc. Pure.

A match is exact where a primitive has one of an item's own words, partial where it has a word that is near. What is near
is our reading. A match says that two lists share a word, and not that they mean the same by it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ..calculus.metrics import public
from ..model import Alphabet, normal
from ..texts import text
from ..wordlists import ARISTOTLE, CYC, NSM, WORDNET_TOP, Entry


class Inventory(NamedTuple):
    """A list to compare with, and what to know about it."""

    file: str
    title: str
    about: str
    entries: Sequence[Entry]


INVENTORIES = (
    Inventory(
        "vs_nsm_primes.md", "the semantic primes of NSM",
        "65 primes that Goddard and Wierzbicka (2014) found to have a word in every language that was studied.", NSM,
    ),
    Inventory(
        "vs_aristotle.md", "Aristotle's categories", "The ten kinds of things that are said, from the Categories.", ARISTOTLE,
    ),
    Inventory(
        "vs_wordnet.md", "the top of WordNet",
        "The 25 unique beginners of its nouns. An alphabet that was built from WordNet is not independent of them.", WORDNET_TOP,
    ),
    Inventory(
        "vs_cyc.md", "Cyc's upper ontology",
        "Terms that were published with OpenCyc, as far as public facts go: Cyc as a whole is not public.", CYC,
    ),
)  # fmt: skip


class Match(NamedTuple):
    """What an alphabet has for one item: `exact`, `partial` or `none`, and the labels."""

    item: str
    kind: str
    labels: tuple[str, ...]


def matches(alphabet: Alphabet, entries: Sequence[Entry]) -> list[Match]:
    """The match of each item, in the inventory's order."""
    labels = {normal(one.label) for one in alphabet}
    found = []
    for item, own, near in entries:
        exact = tuple(word for word in own.split() if word in labels)
        partial = tuple(word for word in near.split() if word in labels)
        found.append(
            Match(item, "exact" if exact else "partial" if partial else "none", exact or partial)
        )
    return found


def comparison(alphabet: Alphabet, inventory: Inventory) -> dict[str, object]:
    """The numbers of one comparison: items, exact, partial and none, the matches, and the primitives that match nothing."""
    found = matches(alphabet, inventory.entries)
    matched = {label for one in found for label in one.labels}
    counts = {kind: sum(one.kind == kind for one in found) for kind in ("exact", "partial", "none")}
    return {
        "inventory": inventory.title, "items": len(found), **counts,
        "matches": [{"item": one.item, "match": one.kind, "primitives": list(one.labels)} for one in found],
        "unmatched": sorted(normal(one.label) for one in alphabet if normal(one.label) not in matched),
    }  # fmt: skip


def comparisons(alphabet: Alphabet) -> dict[str, str]:
    """A Markdown file for each inventory, by its name."""
    return {
        inventory.file: text("comparison", inventory, comparison(alphabet, inventory))
        for inventory in INVENTORIES
    }


def swadesh(found: Mapping[str, object], primitives: int) -> str:
    """Swadesh's 200 meanings as a table in Markdown: what a dictionary's definitions say of each with the primitives at hand."""
    return text("swadesh", public(found), found["words"], primitives)
