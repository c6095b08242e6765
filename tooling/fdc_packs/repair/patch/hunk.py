"""What a patch is made of: hunks of marked lines, readings of an answer, and why an answer is refused."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

Op = tuple[str, str]
"""A mark (blank: stays, `-`: goes, `+`: comes) and the line."""
FENCE = re.compile(r" {0,3}(`{3,}|~{3,})[^`]*$")
NUMBERED = re.compile(r" *(\d{1,9}) \|(?: (.*)|(\r?))$", re.DOTALL)
SECTION = re.compile(r"(?:\*\*|#{1,4} )?(ORIGINAL|CHANGED|NEW) LINES:(?:\*\*)?\s*$")
OPEN, MIDDLE, CLOSE = "<<<<<<< SEARCH", "=======", ">>>>>>> REPLACE"


class PatchRefused(Exception):
    """Nothing was applied. `reason` is one of HYP-34's words, `why` one sentence for the author of the patch."""

    def __init__(self, reason: str, why: str) -> None:
        super().__init__(f"{reason}: {why}")
        self.reason = reason
        self.why = why


class Hunk(NamedTuple):
    """One change. `at`: the line (from 1) at which the answer itself says, without contradiction, that it stands.

    `ends`: whether the old and the new text end their last line; None where the answer does not say. `crs`: of which lines the
    answer says that they end at CRLF; `wire`: how the answer's own lines end, `lf`, `crlf` or `mixed`. `near`: the line that a
    header names, right or not: of places that are as good as each other the nearest to it is meant.
    """

    ops: tuple[Op, ...]
    at: int | None = None
    ends: tuple[bool, bool] | None = None
    crs: tuple[bool, ...] = ()
    wire: str = "lf"
    near: int | None = None

    @property
    def old(self) -> list[str]:
        """The lines that must be there."""
        return [line for mark, line in self.ops if mark != "+"]

    @property
    def new(self) -> list[str]:
        """The lines that are to be there."""
        return [line for mark, line in self.ops if mark != "-"]


class Reading(NamedTuple):
    """One way to read an answer. `literal`: it counts only where it fits to the letter. `paths`: the files that it names.

    `ordered`: its hunks must stand in the file in their order.
    """

    hunks: tuple[Hunk, ...]
    literal: bool = False
    paths: tuple[str, ...] = ()
    ordered: bool = False

    def like_marks(self, lines: Sequence[str]) -> bool:
        """True where lines of the file look like those that bound this reading's sections: no section of it can be trusted."""
        return not self.ordered and any(
            line.rstrip() in (OPEN, MIDDLE, CLOSE) or SECTION.match(line) for line in lines
        )


def changes(old: Sequence[str], new: Sequence[str]) -> tuple[Op, ...]:
    """What leads from the old lines to the new ones."""
    head = 0
    while head < min(len(old), len(new)) and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < min(len(old), len(new)) - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    before, after = old[head : len(old) - tail], new[head : len(new) - tail]
    ops: list[Op] = [(" ", line) for line in old[:head]]
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, before, after).get_opcodes():
        if tag == "equal":
            ops += [(" ", line) for line in before[i1:i2]]
        else:
            ops += [("-", line) for line in before[i1:i2]] + [("+", line) for line in after[j1:j2]]
    return (*ops, *((" ", line) for line in old[len(old) - tail :]))


def malformed(why: str) -> PatchRefused:
    """The refusal of a patch that is not of its form."""
    return PatchRefused("patch-apply", why)
