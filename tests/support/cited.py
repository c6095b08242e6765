"""Checks the quotations of a written report of research, from its text alone (EXP-17)."""

from __future__ import annotations

import re
from collections.abc import Mapping

from fdc_packs.research.answering.quotes import Lines
from fdc_packs.research.cite import Check, Failure
from fdc_packs.research.retrieval.citations import Citation

_QUOTED_LINE = re.compile(
    r"(?:> |- |  - )(?P<text>.+) (?P<fence>`+) ?(?P<path>.+?):(?P<line>\d+)(?:-(?P<end>\d+))? ?(?P=fence)$"
)
_MARKUP = re.compile(r"[\s>#*/;%!|\\-]+")
_LABEL = re.compile(r"\*[^*]+\*: ")


def check_report(
    folder: str | int, markdown: str, pages: Mapping[str, tuple[str, ...]] | None = None
) -> Check:
    """Every quoted line is looked for in its file.

    White space and the marks of Markdown and comments are not compared: a report writes a sentence on one line.
    """
    out = Check()
    files = Lines(folder, pages)
    for row in markdown.split("\n"):
        found = _QUOTED_LINE.match(row)
        if found is None:
            continue
        out.checked += 1
        path, line = found["path"], int(found["line"])
        end = int(found["end"] or line)
        lines = files.of(path)
        if isinstance(lines, str):
            out.failures.append(Failure(path, line, lines))
        elif not 1 <= line <= end <= len(lines):
            out.failures.append(Failure(path, line, f"the file has {len(lines)} lines"))
        elif not _quotes(found["text"], " ".join(lines[line - 1 : end])):
            out.failures.append(Failure(path, line, "the quoted text is not there"))
        else:
            out.held.append(Citation(path, line, 1, end, 1, found["text"]))
    return out


def _quotes(said: str, there: str) -> bool:
    """Whether a quotation, with or without the label that a report may put before it, is in the text."""
    return any(_plain(text) in _plain(there) for text in (said, _LABEL.sub("", said, count=1)))


def _plain(text: str) -> str:
    """What both the file and a rendering of it have: no white space, marks or escapes."""
    return _MARKUP.sub("", text)
