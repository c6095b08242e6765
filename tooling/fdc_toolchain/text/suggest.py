"""The nearest known word to one that is unknown."""

from __future__ import annotations

from collections.abc import Iterable

MOST = 100
"""Maximum characters of a word for which similar words are searched."""


def distance(left: str, right: str, limit: int) -> int:
    """Edit distance with adjacent swaps (optimal string alignment), or `limit` + 1 when above `limit`."""
    if abs(len(left) - len(right)) > limit:
        return limit + 1
    before: list[int] = []
    row = list(range(len(right) + 1))
    for i, a in enumerate(left, 1):
        last, before = before, row
        row = [i]
        for j, b in enumerate(right, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (a != b))
            if i > 1 and j > 1 and a == right[j - 2] and left[i - 2] == b:
                cost = min(cost, last[j - 2] + 1)
            row.append(cost)
        if min(row) > limit:
            return limit + 1
    return row[-1]


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The closest of `known` within a third of the word's length, or None. Ties go to the first by name."""
    if len(word) > MOST:
        return None
    limit = max(1, len(word) // 3)
    best: tuple[int, str] | None = None
    for candidate in sorted(known):
        edits = distance(word.lower(), candidate.lower(), limit)
        if edits <= limit and (best is None or edits < best[0]):
            best = (edits, candidate)
    return best and best[1]


def did_you_mean(word: str, known: Iterable[str]) -> str | None:
    """A help sentence, or None when nothing is near."""
    match = nearest(word, known)
    return match and f"did you mean `{match}`?"


def near(word: str, known: Iterable[str], most: int = 5) -> list[str]:
    """The names nearest to a word, the nearest first: those of which it, or a word
    of it, can be a misspelling, and those that have it in them."""
    if len(word) > MOST:
        return []
    small, limit = word.lower(), max(1, len(word) // 3)
    rated = []
    for name in known:
        lowered = name.lower()
        far = min(distance(small, part, limit) for part in (lowered, *lowered.split("_")))
        if far <= limit or (len(small) > 2 and small in lowered):
            rated.append((far, name))
    return [name for _, name in sorted(rated)[:most]]
