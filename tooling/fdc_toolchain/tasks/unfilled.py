"""Finds the parts of a post-mortem that are not filled in (FDC-69). Pure."""

from __future__ import annotations

import re
from datetime import date

from ..named_tuples import NamedTuple
from .postmortem import is_placeholder, read

SECTIONS = (
    "Summary", "What Went Well", "What Could Be Improved", "Root Cause Analysis", "Proposed Corrective Actions",
)  # fmt: skip
"""The sections of a post-mortem (FDC-70), as its template has them."""

LEARNED = SECTIONS[-1]
NOTHING = "Nothing was learned: WHY"
"""The form in which a person states that a task taught nothing."""

_HEADING = re.compile(r"#{1,6}\s+(?:[0-9]+[.)]?\s+)?(.*?)\s*#*")
_NOTHING = re.compile(r"^[ \t]*(?:[-*+] )?nothing was learned:(.*)", re.IGNORECASE | re.MULTILINE)
_MARKS = re.compile(r"\s*(?:(?:[-*+]|[0-9]{1,9}[.)])\s+)?(?:(?:\*\*|__)[^*_]+:(?:\*\*|__)\s*)?")


class Gap(NamedTuple):
    """One part that is not filled in: its line, its section, and the placeholder or what is missing."""

    line: int
    section: str
    what: str


def unfilled(text: str) -> list[Gap]:
    """Every gap of a post-mortem, in the order of its lines; empty where all of it is written.

    A gap is a line that has only a text in square brackets (after a list mark and a bold label),
    an empty section, and a missing one of `SECTIONS`. So is the last of them if it has neither a
    lesson with its action nor the statement that nothing was learned.
    """
    gaps: list[Gap] = []
    heads: list[tuple[int, str]] = []
    written_sections: set[str] = set()
    section, fenced = "", False
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith(("```", "~~~")):
            fenced = not fenced
        heading = None if fenced else _HEADING.fullmatch(line.strip())
        if heading is not None:
            section = heading[1]
            heads.append((number, section))
            continue
        marks = _MARKS.match(line)
        bare = line[marks.end() if marks else 0 :].strip()
        if (
            not fenced
            and bare.startswith("[")
            and is_placeholder(bare)
            and bare.lower() not in ("[ ]", "[x]")
        ):
            gaps.append(Gap(number, section, bare))
        elif bare:
            written_sections.add(section)
    open_ = {gap.section for gap in gaps}
    names = {name.lower() for _, name in heads}
    for number, name in heads:
        if name in SECTIONS and name not in written_sections and name not in open_:
            gaps.append(Gap(number, name, "nothing is written here"))
    last = text.count("\n") + 1
    gaps += [
        Gap(last, name, "the section is missing") for name in SECTIONS if name.lower() not in names
    ]
    word = any(not is_placeholder(match[1].replace("WHY", "")) for match in _NOTHING.finditer(text))
    if (
        LEARNED not in {gap.section for gap in gaps}
        and not word
        and not read(text, date.min).lessons
    ):
        at = next(number for number, name in heads if name.lower() == LEARNED.lower())
        gaps.append(Gap(at, LEARNED, f"no lesson with an action, and no `{NOTHING}`"))
    return sorted(gaps)
