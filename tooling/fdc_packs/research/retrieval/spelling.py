"""What a word that no document has may have meant: a word they do have, as they write it."""

from __future__ import annotations

import re

from fdc_toolchain.api.text import distance

from .question import Concept
from .retrieve import Index
from .stems import Stemmer

_WORD = re.compile(r"[^\W_]+")


def respell(index: Index, concept: Concept) -> str | None:
    """The nearest word of the documents to a concept that they do not have, or None. Ties go to the more frequent.

    A word with the same beginning counts as nearest; else one within a third of its letters.
    """
    if len(concept.word) < 4 or not concept.word.isalpha():
        return None
    stem = "".join(Stemmer()([concept.word])[0])
    best: tuple[int, int, str] | None = None
    for known, count in index.vocabulary(stem[0]):
        if not known.isalpha() or abs(len(known) - len(stem)) > 3:
            continue
        if len(stem) >= 5 and (
            known.startswith(stem) or (len(known) >= 5 and stem.startswith(known))
        ):
            found = (0, -count, known)
        else:
            limit = max(1, len(stem) // 3 - 1)
            apart = distance(stem, known, limit)
            if apart > limit:
                continue
            found = (apart, -count, known)
        if best is None or found < best:
            best = found
    return best and _as_written(index, best[2])


def _as_written(index: Index, stem: str) -> str:
    """A stem as the first passage that has it writes the word."""
    for passage in sorted(index.hits(stem)):
        words = list(
            dict.fromkeys(
                word.lower() for word in _WORD.findall(index.text(index.passages[passage]))
            )
        )
        for word, stems in zip(words, Stemmer()(words)):
            if stems == [stem]:
                return word
    return stem
