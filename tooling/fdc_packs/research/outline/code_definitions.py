"""The outline of a source file, as every reader of a language gives it."""

from __future__ import annotations

import re
from typing import NamedTuple

TROUBLE = re.compile(
    r"\b(?:raise|throw|throws|except|catch|rescue|panic!?|unwrap_or_else|Err\(|errors?\.New|reject\()"
)
WORDS = re.compile(r"\w{2}")


class Definition(NamedTuple):
    """Something with a name: where it stands, where it ends, and the line of its first words of documentation (0: none)."""

    name: str
    qualified: str
    kind: str
    line: int
    end: int
    doc: int = 0


class Outline(NamedTuple):
    """A file's definitions by line, the lines that use a name, that import, that are prose, and that handle errors.

    `declared`: names with the lines where C and C++ only declare them, `int pour(int);`.
    """

    definitions: tuple[Definition, ...]
    uses: dict[str, tuple[int, ...]]
    imports: frozenset[int]
    prose: frozenset[int]
    trouble: frozenset[int]
    how: str
    declared: frozenset[tuple[str, int]] = frozenset()


def remark_above(line: int, prose: set[int], lines: tuple[str, ...]) -> int:
    """The first line with words of the comment above a definition; 0 where there is none. A block may end a line above it."""
    above = line
    if line > 2 and not lines[line - 2].strip() and lines[line - 3].rstrip().endswith("*/"):
        above -= 1
    while above - 1 in prose:
        above -= 1
    return next((number for number in range(above, line) if WORDS.search(lines[number - 1])), 0)
