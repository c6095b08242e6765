"""What counts go round by: a rest by a number that the file takes elsewhere, or that the calendar has for a name."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from .known import Known

ELSEWHERE, NAMED = 0.1, 0.35
PERIODS = {
    "weekday": 7,
    "isoweekday": 7,
    "month": 12,
    "hour": 24,
    "minute": 60,
    "second": 60,
    "angle": 360,
    "degrees": 360,
}
"""By a word of a name: how many values there are of what it names."""
_WORD = re.compile(r"[A-Za-z][a-z]+")


def of(known: Known, node: ast.BinOp, tight: bool) -> Iterator[tuple[str, float]]:
    """The rests that a sum may lack, each with how common that is. `tight`: what is around the sum binds as a rest does."""
    named = {PERIODS[word] for word in _WORD.findall(known.segment(node)) if word in PERIODS}
    start, end = known.start(node), known.end(node)
    held = known.text[start - 1 : start] + known.text[end : end + 1] == "()"
    for size in sorted(known.moduli | named):
        form = f"({known.segment(node)}) % {size}"
        yield f"({form})" if tight and not held else form, NAMED if size in named else ELSEWHERE
