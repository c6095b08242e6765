"""One question, answered in one way, and how many of several were answered."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from benchmarks.research.questions import Question
from benchmarks.research.ways import Answer


class Row(NamedTuple):
    """One question, answered in one way. `rank` is that of the first place with a line that answers it; 0: none."""

    question: Question
    way: str
    rank: int
    answer: Answer


def within(rows: Iterable[Row], limit: int) -> int:
    """How many have the answer within the first places."""
    return sum(0 < row.rank <= limit for row in rows)
