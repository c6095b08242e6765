"""Units of a source tree: which definition, passage or stretch of lines a line belongs to."""

from __future__ import annotations

import os
import re
from bisect import bisect_right
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from fdc_toolchain.api.files import Document

from ..outline.blocks import Outline as Shape
from ..outline.code_outline import Definition, Outline

SECTION = 30
"""Lines of a stretch of code outside of every definition that count as one unit."""
PRIVATE = 1.25
"""Names with an underscore in front are worth so much: those who ask how something is done mean what does it."""
Sort = Literal["", "error", "value"]
"""What a question asks for, if its form says so: a class of errors, or a constant or another value of a module."""
ERRORS, VALUES = 2.0, 2.5
"""What a definition of the sort that is asked for is worth more than other code."""
_ERROR = re.compile(r"(?i:error|exception)")
_HOLD = frozenset(("constant", "variable"))
_STUB = (": ...", " ...")


class Unit(NamedTuple):
    """A definition, or a stretch of lines outside of every one: what a question can be answered with."""

    path: str
    line: int
    end: int
    definition: Definition | None
    score: float
    lines: tuple[tuple[int, float], ...]
    """Lines that have words of the question, with what they are worth."""
    concepts: frozenset[int]
    heading: str = ""
    """What stands over a passage of a document."""


@dataclass(slots=True)
class Gathered:
    """What was found in one unit: concepts by their weights in its names, its prose and its code."""

    definition: Definition | None
    line: int
    end: int
    heading: str = ""
    named: dict[int, float] = field(default_factory=dict)
    first: dict[int, float] = field(default_factory=dict)
    said: dict[int, float] = field(default_factory=dict)
    body: dict[int, float] = field(default_factory=dict)
    lines: dict[int, dict[int, float]] = field(default_factory=dict)


class Spans:
    """Which unit a line belongs to."""

    def __init__(self, document: Document, outlined: Outline | None, shape: Shape | None) -> None:
        self.size = len(document.lines)
        self.title = ""
        self.definitions = (
            []
            if outlined is None
            else [
                one
                for one in outlined.definitions
                if one.kind != "variable" or "." not in one.qualified
            ]
        )
        self.starts = [one.line for one in self.definitions]
        self.docs = {
            line: one
            for one in self.definitions
            for line in range(one.doc, one.line)
            if 0 < one.doc
        }
        self.passages: list[tuple[int, int, str]] = []
        if shape is not None:
            from ..retrieval.retrieve import passages

            self.title = shape.title
            for one in passages(0, shape):
                self.passages.append(
                    (one.line, one.end_line, " / ".join(shape.sections[one.section].path))
                )
            self.starts = [line for line, _, _ in self.passages]

    def at(self, line: int) -> tuple[Definition | None, int, int, str]:
        """The innermost definition around a line, or the passage or stretch of lines; where it begins and ends; its heading."""
        first = bisect_right(self.starts, line) - 1
        if self.passages and first >= 0:
            start, end, heading = self.passages[first]
            return None, start, max(end, line), heading
        if line in self.docs:  # the comment above a definition is its documentation
            one = self.docs[line]
            return one, one.line, one.end, ""
        for number in range(first, -1, -1):
            one = self.definitions[number]
            if one.end >= line:
                return one, one.line, one.end, ""
        start = (line - 1) // SECTION * SECTION + 1
        return None, start, min(start + SECTION - 1, self.size), ""


def worth_of_definition(document: Document, one: Definition, sort: Sort) -> float:
    """What a definition is worth by its form: a private one more, a stub less, and one of the `sort` that is asked for more;
    a class of errors by its name, or by that of its file."""
    factor = 1.0
    if sort == "value" and one.kind in _HOLD:
        factor *= VALUES
    if sort == "error" and one.kind == "class":
        said = f"{os.path.basename(document.path)} {one.name}"
        factor *= ERRORS if _ERROR.search(said) else 1.0
    if one.name.startswith("_"):
        factor *= 0.8 if one.name.startswith("__") else PRIVATE
    if document.lines[one.end - 1].rstrip().endswith(_STUB):
        factor *= 0.6  # it says that something is there, and nothing of it
    return factor
