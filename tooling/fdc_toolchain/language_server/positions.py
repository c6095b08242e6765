"""Places of fdc and places of editors.

fdc counts lines and columns from 1, columns in characters; an editor counts from 0, columns mostly in UTF-16 units.
Whatever an editor sends, a place in the text comes out of it.
"""

from __future__ import annotations

from lsprotocol import types

from .. import api


class Lines:
    """The lines of one text. `unit` is what the editor counts columns in: `utf-16`, `utf-8` or `utf-32`."""

    def __init__(self, text: str, unit: str = "utf-16") -> None:
        folded = text.removeprefix("\ufeff").replace("\r\n", "\n") if "\r" in text else text
        self.lines = folded.removeprefix("\ufeff").split("\n")
        self.marked = text.startswith("\ufeff")
        self.unit = unit

    def line(self, number: int) -> str:
        """A line by its number, from 1; empty where there is none."""
        return self.lines[number - 1] if 0 < number <= len(self.lines) else ""

    def position(self, line: int, column: int) -> types.Position:
        """The editor's place of ours."""
        if line > len(self.lines):
            return types.Position(len(self.lines), 0)
        text = self.line(line)[: max(column - 1, 0)]
        mark = self._units("\ufeff") if self.marked and line == 1 else 0
        return types.Position(max(line - 1, 0), self._units(text) + mark)

    def range(self, span: api.Span) -> types.Range:
        """The editor's stretch of ours."""
        start = self.position(span.line, span.column)
        return types.Range(start, self.position(span.end_line, span.end_column))

    def place(self, position: types.Position) -> tuple[int, int]:
        """Our line and column of an editor's place; the end of the line where it has no such column."""
        number = min(position.line + 1, len(self.lines))
        text = self.line(number)
        left = position.character - (self._units("\ufeff") if self.marked and number == 1 else 0)
        if text.isascii() or self.unit == "utf-32":
            return number, max(min(left, len(text)), 0) + 1
        column = 1
        for character in text:
            left -= self._units(character)
            if left < 0:
                break
            column += 1
        return number, column

    def end(self) -> types.Position:
        """The place behind the last character."""
        return self.position(len(self.lines), len(self.lines[-1]) + 1)

    def _units(self, text: str) -> int:
        if text.isascii() or self.unit == "utf-32":
            return len(text)
        if self.unit == "utf-8":
            return len(text.encode("utf-8", "surrogatepass"))
        return len(text.encode("utf-16-le", "surrogatepass")) // 2


def holds(span: api.Span, line: int, column: int) -> bool:
    """True where a place lies in a stretch of one line, its end included: a cursor stands behind a word too."""
    return span.line == line and span.column <= column <= span.end_column
