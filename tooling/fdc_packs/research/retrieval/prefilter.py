"""Leaves out of a large collection the documents that cannot matter to a question, before they are indexed.

An index costs about a third of a second for each megabyte; looking for a beginning of a word costs a
thousandth of that. Small collections are indexed whole.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from fdc_toolchain.api.files import Document

from .question import Concept
from .stems import Stemmer

WHOLE = 8_000_000
"""Bytes up to which a collection is indexed whole."""
KEPT = 6_000_000
"""Bytes of documents that are kept of a larger one."""


def narrow(documents: Sequence[Document], concepts: Sequence[Concept]) -> list[Document]:
    """The documents that say most about the concepts, in their order; all of them where they are few."""
    if sum(document.size for document in documents) <= WHOLE:
        return list(documents)
    counts = _counts(documents, concepts)
    average = sum(document.size for document in documents) / len(documents)
    scores = [0.0] * len(documents)
    for column in counts:
        having = sum(1 for count in column if count)
        rarity = math.log(1 + (len(documents) - having + 0.5) / (having + 0.5))
        for number, count in enumerate(column):
            if count:
                scores[number] += (
                    rarity * count / (count + 1.2 * (0.5 + 0.5 * documents[number].size / average))
                )
    order = sorted(
        (number for number, score in enumerate(scores) if score),
        key=lambda number: (-scores[number], number),
    )
    kept = []
    total = 0
    for number in order:
        if total + documents[number].size <= KEPT:
            total += documents[number].size
            kept.append(number)
    return [documents[number] for number in sorted(kept)]


def _counts(documents: Sequence[Document], concepts: Sequence[Concept]) -> list[list[float]]:
    """For each concept and document, how often the beginnings of its words occur, weighted."""
    stemmer = Stemmer()
    finders = [
        [
            (_beginning(stems), weight)
            for (_, weight), stems in zip(
                concept.variants, stemmer([text for text, _ in concept.variants])
            )
            if stems
        ]
        for concept in concepts
    ]
    out: list[list[float]] = [[] for _ in concepts]
    for document in documents:
        text = "\n".join(document.lines).lower()
        for column, found in zip(out, finders):
            column.append(max((weight * _count(text, what) for what, weight in found), default=0.0))
    return out


def _beginning(stems: list[str]) -> str | re.Pattern[str]:
    """What to look for: the beginning of the first stem, which its inflected forms share."""
    if not stems[0].isascii():
        return "".join(stems) if all(len(stem) == 1 for stem in stems) else stems[0]
    start = max(stems, key=len)
    start = start[:-1] if start[-1] in "iey" and len(start) > 3 else start
    return start if len(start) > 3 else re.compile(rf"\b{re.escape(start)}")


def _count(text: str, what: str | re.Pattern[str]) -> int:
    return text.count(what) if isinstance(what, str) else len(what.findall(text))
