"""The best units of a search, ordered again by how near their text means the question (the extra `semantic`)."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING

from fdc_toolchain.api.models import embedded

if TYPE_CHECKING:
    from .code_search import Search
    from .unit_spans import Unit

DEPTH = 30
"""Units that are ordered again."""
SHARE = 0.5
"""What the meaning counts; the rest is what the words count. Chosen on the development part of benchmarks/research."""
TOKENS, QUESTION_TOKENS, LINES = 128, 64, 40


def reranked(search: Search, question: str) -> Search:
    """The same search, its best units in the order of words and meaning together; those further down stay as they are."""
    key = ("reranked", search.concepts, search.names, search.code, question)
    with search.tree.lock:  # all tracks ask at once; one does the work
        known = search.tree.kept.get(key)
        if known is None:
            known = search.tree.kept[key] = _ordered(search, question)
        return known


def _ordered(search: Search, question: str) -> Search:
    units = search.units()
    head, rest = units[:DEPTH], units[DEPTH:]
    out = copy.copy(search)
    if len(head) > 1:
        near = (
            embedded([_text(search, unit) for unit in head], TOKENS)
            @ embedded([question], QUESTION_TOKENS)[0]
        )
        low, high, most = float(near.min()), float(near.max()), head[0].score
        least = rest[0].score if rest else 0.0
        worth = [
            SHARE * (float(one) - low) / ((high - low) or 1.0)
            + (1 - SHARE) * unit.score / (most or 1.0)
            for one, unit in zip(near, head)
        ]
        head = [
            unit._replace(score=round(max(most * value, least), 6))
            for value, unit in zip(worth, head)
        ]
        out.ordered(sorted(head, key=lambda one: (-one.score, one.path, one.line)) + rest)
    return out


def _text(search: Search, unit: Unit) -> str:
    lines = search.tree.documents[unit.path].lines[unit.line - 1 : min(unit.end, unit.line + LINES)]
    name = unit.definition.qualified if unit.definition is not None else unit.heading
    return "\n".join([f"{unit.path} {name}", *lines])
