"""Opens every citation again and checks that the quoted text stands exactly where it says (EXP-17).

The check shares nothing with the extraction but the definition of a line: it reads the file as
it is now, beneath the folder, and compares characters.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from .answering.quotes import Lines
from .retrieval.citations import Citation

_MARKS = re.compile(r"[\s>#*/;%!|:'-]*\Z")
"""What may precede quoted prose on a continued line: indentation, and the marks of quotes and comments."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A citation that does not hold, and why."""

    path: str
    line: int
    why: str


@dataclass(slots=True)
class Check:
    """How many citations were opened, which of them hold, and what is wrong with the others."""

    checked: int = 0
    held: list[Citation] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)


def check(
    folder: str | int,
    citations: Iterable[Citation],
    pages: Mapping[str, tuple[str, ...]] | None = None,
) -> Check:
    """Opens the file of each citation below `folder` and compares the text at its span. `pages`: the lines of pages of
    the web by their addresses, as they were read."""
    out = Check()
    files = Lines(folder, pages)
    for citation in citations:
        out.checked += 1
        lines = files.of(citation.path)
        why = lines if isinstance(lines, str) else _wrong(lines, citation)
        if why:
            out.failures.append(Failure(citation.path, citation.line, why))
        else:
            out.held.append(citation)
    return out


def _wrong(lines: tuple[str, ...], citation: Citation) -> str | None:
    parts = citation.text.split("\n")
    if not citation.text.strip():
        return "the quotation is empty"
    if not 1 <= citation.line <= citation.end_line <= len(lines):
        return f"the file has {len(lines)} lines"
    if citation.end_line - citation.line + 1 != len(parts):
        return "the quotation has not as many lines as its place"
    last = len(parts) - 1
    for number, part in enumerate(parts):
        line = lines[citation.line - 1 + number]
        start = citation.column - 1 if number == 0 else _resumes(line, part)
        if start is None or start < 0 or line[start : start + len(part)] != part:
            return "the quoted text is not there"
        after = start + len(part)
        if (after != citation.end_column - 1) if number == last else line[after:].strip():
            return "the quoted text is not there"
    return None


def _resumes(line: str, part: str) -> int | None:
    at = line.find(part)
    while at >= 0:
        if _MARKS.match(line[:at]):
            return at
        at = line.find(part, at + 1)
    return None
