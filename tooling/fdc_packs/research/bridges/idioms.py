"""Phrases by which people say what code has a word for: `too many` is a limit, `at the same time` is concurrent."""

from __future__ import annotations

import os
from functools import cache

from ..retrieval.question import Concept, terms
from ..retrieval.stems import Stemmer, stem

WEIGHT = 0.6
"""What a word of code is worth for a phrase of people."""
TELLS = 1.2
"""What the rarity of such a word counts: more than a word of the question, of which code may have none. Other than 1, so that it
decides nothing of how sure an answer is."""


@cache
def _table() -> dict[str, list[tuple[tuple[str, ...], tuple[str, ...]]]]:
    """By the stem of its first word: the stems of each phrase of `idioms.txt`, and what code calls it; longest first."""
    out: dict[str, list[tuple[tuple[str, ...], tuple[str, ...]]]] = {}
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "idioms.txt")
    with open(path, encoding="utf-8") as file:
        lines = [line.partition(":") for line in file]
    phrases = Stemmer()([" ".join(terms(phrase)) for phrase, _, _ in lines])
    for parts, (_, _, words) in zip(phrases, lines):
        out.setdefault(parts[0], []).append((tuple(parts), tuple(words.split())))
    for rows in out.values():
        rows.sort(key=lambda row: -len(row[0]))
    return out


def idioms(question: str) -> list[Concept]:
    """What code may call the phrases of a question.

    >>> [concept.word for concept in idioms("What happens when too many files are open at the same time?")]
    ['limit', 'concurrent']
    """
    words = [stem(word) for word in terms(question)]
    out = []
    at = 0
    while at < len(words):
        for parts, names in _table().get(words[at], ()):
            if tuple(words[at : at + len(parts)]) == parts:
                out.append(Concept(names[0], tuple((one, WEIGHT) for one in names), weight=TELLS))
                at += len(parts) - 1
                break
        at += 1
    return out
