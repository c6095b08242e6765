"""The shape of a document: its sections and blocks, with the lines and columns they stand on.

A line scanner for Markdown, reStructuredText, AsciiDoc, Org and plain text. It is not a
renderer: it only has to tell prose from headings, code, tables and markup, and to say
exactly where each piece of prose stands. (A full Markdown parser reads about 1.5 MB a second, a
tenth of this, knows one of the five notations, and gives lines but no columns.)
"""

from __future__ import annotations

from collections.abc import Iterable

from .blocks import Outline, Row
from .line_scanner import Scanner
from .notation import DIALECTS, MARKDOWN, PLAIN


def outline(path: str, lines: tuple[str, ...]) -> Outline:
    """The outline of a text document. `path` only chooses the notation, and the title where the text has none."""
    name = path.rsplit("/", 1)[-1]
    extension = "." + name.rsplit(".", 1)[-1].lower() if "." in name else ""
    rows = [Row(number, 0, line) for number, line in enumerate(lines, 1)]
    made = extension == ".pdf" or path.startswith(
        ("http://", "https://")
    )  # of these the text was made here, as Markdown
    return scan_rows(
        name, rows, DIALECTS.get(extension, MARKDOWN if made or _looks_marked(lines) else PLAIN)
    )


def scan_rows(name: str, rows: Iterable[Row], dialect: str) -> Outline:
    """The outline of rows that were cut out of something else (comments out of a program)."""
    return Scanner(name, list(rows), dialect).run()


def _looks_marked(lines: tuple[str, ...]) -> bool:
    return sum(1 for line in lines[:400] if line.startswith(("## ", "### ", "```"))) >= 2
