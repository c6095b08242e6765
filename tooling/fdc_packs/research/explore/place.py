"""A place that a strategy names, and what all strategies ask: which definitions a question is about, which paths count."""

from __future__ import annotations

from typing import NamedTuple

from fdc_toolchain.api.text import matches

from ..outline.code_outline import Definition
from .code_search import Search
from .unit_spans import Unit

SUBJECTS = 6
"""Definitions that a track follows."""
FEWEST = 3
STRONG = 0.45
"""The part of the best definition's score that another needs to be a subject too."""


class Place(NamedTuple):
    """A line, what kind of find it is, which definition it tells of (and where that stands), and what it is worth."""

    path: str
    line: int
    kind: str
    subject: str
    home: str
    description: str
    score: float
    said: str = ""
    """The whole sentence that begins or stands there, where it is one."""


def subjects(search: Search, within: str, most: int = SUBJECTS) -> list[Unit]:
    """The definitions that the words are about."""
    found = [
        unit for unit in search.units() if unit.definition is not None and inside(unit.path, within)
    ]
    if not found:
        return []
    least = STRONG * found[0].score
    return [
        unit for number, unit in enumerate(found[:most]) if unit.score >= least or number < FEWEST
    ]


def inside(path: str, within: str) -> bool:
    """Whether a path is one that a track looks at; an empty glob is every path."""
    return not within or matches(path, within) or path.startswith(within.rstrip("/") + "/")


def home(path: str, definition: Definition) -> str:
    """Where a definition stands, as it is cited."""
    return f"{path}:{definition.line}"
