"""Definitions that are one, written twice: for callers that wait (`async`), and for those that do not."""

from __future__ import annotations

import re

from ..explore.code_search import Tree
from ..explore.unit_spans import Unit

ALIKE = 0.6
"""Two definitions are one where they share this part of their lines."""
_WAITING = re.compile(
    r"(?i:_?async_?|_?sync_?)|\bawait\s+|\ba(?=(?:close|enter|exit|iter|next|open|read|send|write)\b)"
)


def plainly(text: str) -> str:
    """A line of code, or a name, without what only says whether it waits.

    >>> plainly("    async with AsyncClient() as one:"), plainly("await self.aclose()"), plainly("AsyncPool.send")
    ('with Client() as one:', 'self.close()', 'Pool.send')
    """
    return _WAITING.sub("", text).strip(" _")


def are_twins(tree: Tree, one: Unit, other: Unit) -> bool:
    """Whether two definitions have the same name and about the same lines, apart from what says whether they wait. Two of one
    class or module are not: who reads it has the choice."""
    if one.definition is None or other.definition is None:
        return False
    name, same = one.definition.qualified, other.definition.qualified
    if one.path == other.path and name.rpartition(".")[0] == same.rpartition(".")[0]:
        return False
    if plainly(name).lower() != plainly(same).lower():
        return False
    mine, theirs = _lines(tree, one), _lines(tree, other)
    return len(mine & theirs) >= ALIKE * max(len(mine), len(theirs))


def _lines(tree: Tree, unit: Unit) -> set[str]:
    lines = tree.documents[unit.path].lines[unit.line - 1 : unit.end]
    return {plainly(line) for line in lines if line.strip()}
