"""The shape of a document as values: pieces of lines, blocks of prose or code, sections with their headings."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple


class Piece(NamedTuple):
    """A stretch of one line: `line` counts from 1, `start` and `end` are offsets in it."""

    line: int
    start: int
    end: int


@dataclass(slots=True)
class Block:
    """A paragraph (`text`), list item (`item`), table cell (`cell`) or code line group (`code`).

    `label` is what the block is about where its own words do not say it: a row's first cell, a
    defined term. `header` is the heading of a cell's column.
    """

    kind: str
    section: int
    pieces: list[Piece]
    label: str = ""
    header: str = ""

    @property
    def context(self) -> str:
        """What stands around the block in a table or a list of terms."""
        return f"{self.label} {self.header}".strip()

    @property
    def line(self) -> int:
        return self.pieces[0].line

    @property
    def end_line(self) -> int:
        return self.pieces[-1].line


@dataclass(slots=True)
class Section:
    """A heading with the headings above it, outermost first, and its line (0 before the first heading)."""

    line: int
    path: tuple[str, ...]


@dataclass(slots=True)
class Outline:
    """A document's sections and its blocks in the order of the text."""

    title: str
    sections: list[Section] = field(default_factory=lambda: [Section(0, ())])
    blocks: list[Block] = field(default_factory=list)


class Row(NamedTuple):
    """One line as the scanner sees it. `text` starts at offset `start` of the line; `heading` is a level or 0."""

    line: int
    start: int
    text: str
    heading: int = 0
