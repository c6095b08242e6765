"""Where something stands in a text.

Lines and columns count from 1, columns in code points (never bytes), the end column is
exclusive: the convention of SARIF's `unicodeCodePoints` and of the editors people use.
"""

from __future__ import annotations

from ..named_tuples import NamedTuple


class Span(NamedTuple):
    """A stretch of one file: `path` as the user wrote it, relative to the workspace where possible."""

    path: str
    line: int
    column: int
    end_line: int
    end_column: int

    def __str__(self) -> str:
        return f"{self.path}:{self.line}:{self.column}"
