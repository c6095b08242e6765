"""What of a post-mortem no one has written yet (FDC-69). Pure."""

from __future__ import annotations

import re
from datetime import date
from typing import NamedTuple

from .postmortem import is_unsaid, read

SECTIONS = (
    "Summary", "What Went Well", "What Could Be Improved", "Root Cause Analysis", "Proposed Corrective Actions",
)  # fmt: skip
"""The sections of a post-mortem (FDC-70), as its template has them."""

LEARNED = SECTIONS[-1]
NOTHING = "Nothing was learned: WHY"
"""How a person says that a task taught nothing."""

_HEADING = re.compile(r"#{1,6}\s+(?:[0-9]+[.)]?\s+)?(.*?)\s*#*")
_NOTHING = re.compile(r"^[ \t]*(?:[-*+] )?nothing was learned:(.*)", re.IGNORECASE | re.MULTILINE)
_MARKS = re.compile(r"\s*(?:(?:[-*+]|[0-9]{1,9}[.)])\s+)?(?:(?:\*\*|__)[^*_]+:(?:\*\*|__)\s*)?")


class Gap(NamedTuple):
    """One place that is still to be written: its line, its section, and what stands there or what is missing."""

    line: int
    section: str
    what: str


def unfilled(text: str) -> list[Gap]:
    """Every gap of a post-mortem, in the order of its lines; empty where all of it is written.

    A gap is a line that is nothing but a text in square brackets (behind a list's mark and a bold label),
    a section in which nothing is written, and one of `SECTIONS` that is not there. So is the last of them where
    it has neither a lesson with its action nor a person's word that nothing was learned.
    """
    gaps: list[Gap] = []
    heads: list[tuple[int, str]] = []
    said: set[str] = set()
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
            and is_unsaid(bare)
            and bare.lower() not in ("[ ]", "[x]")
        ):
            gaps.append(Gap(number, section, bare))
        elif bare:
            said.add(section)
    open_ = {gap.section for gap in gaps}
    names = {name.lower() for _, name in heads}
    for number, name in heads:
        if name in SECTIONS and name not in said and name not in open_:
            gaps.append(Gap(number, name, "nothing is written here"))
    last = text.count("\n") + 1
    gaps += [
        Gap(last, name, "the section is missing") for name in SECTIONS if name.lower() not in names
    ]
    word = any(not is_unsaid(found[1].replace("WHY", "")) for found in _NOTHING.finditer(text))
    if (
        LEARNED not in {gap.section for gap in gaps}
        and not word
        and not read(text, date.min).lessons
    ):
        at = next(number for number, name in heads if name.lower() == LEARNED.lower())
        gaps.append(Gap(at, LEARNED, f"no lesson with an action, and no `{NOTHING}`"))
    return sorted(gaps)
