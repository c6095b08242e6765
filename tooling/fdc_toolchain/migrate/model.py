"""What a migration gives, and what its stages hand each other."""

from __future__ import annotations

from ..diagnostics.diagnostic import Diagnostic
from ..diagnostics.span import Span
from ..linking.catalogue import Tool
from ..named_tuples import NamedTuple

Numbered = tuple[int, str]
"""A line of the old text: its number, and its text without the line end."""

Tools = dict[str, Tool]


class Change(NamedTuple):
    """One thing that was changed: the line of the old text, and a sentence."""

    line: int
    what: str


class Migration(NamedTuple):
    """`text` is None where the plan was refused; `diagnostics` says why. `dialect` names the notation found."""

    dialect: str
    text: bytes | None
    changes: tuple[Change, ...]
    diagnostics: tuple[Diagnostic, ...]


class Refused(Exception):
    """Ends a migration: going on would be guessing. Caught in this room."""

    def __init__(self, line: int, text: str, message: str, help_: str | None = None) -> None:
        super().__init__(message)
        self.line = line
        self.text = text
        self.help = help_

    def diagnostic(self, path: str) -> Diagnostic:
        """The refusal as a finding about the old text."""
        bare = self.text.rstrip()
        column = len(bare) - len(bare.lstrip()) + 1
        span = Span(path, self.line, column, self.line, max(column + 1, len(bare) + 1))
        return Diagnostic(span, "FDC119", str(self), help=self.help)


class Unknown(Refused):
    """A line that is neither a step nor a comment."""


class Draft:
    """The new text while it is written: its lines, the changes, the parameters that it needs."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.changes: list[Change] = []
        self.params: dict[str, int] = {}
        self.bound: set[str] = set()
        self.loops = 0

    def put(self, text: str, indent: int = 0) -> None:
        """Adds a line; a blank one carries no indentation."""
        self.lines.append(" " * indent + text if text else "")

    def say(self, line: int, what: str) -> None:
        """Notes a change of a line of the old text, once."""
        change = Change(line, what)
        if change not in self.changes:
            self.changes.append(change)
