"""Text that goes through files: which file a step may write or read, as far as its path can be made out.

A path is known by how it begins and how it ends; what is computed in between may be anything. Two
of them may be the same file unless their beginnings or their ends forbid it. Nothing else is assumed:
the order of the steps does not matter, so a loop or a second run cannot read what was overlooked.
"""

from __future__ import annotations

import posixpath
import re
from typing import NamedTuple

from ..syntax.values import Ref, Value

_WILD = re.compile(r"[*?\[]")


class Pattern(NamedTuple):
    """Files by the beginning and the end of their paths; `whole`: the beginning is the path."""

    begins: str
    ends: str
    whole: bool = False


ANY = Pattern("", "")
RUN = "runs/"
"""Where the folder of every run lies."""


def pattern_of(value: Value) -> Pattern:
    """The files that an argument may name."""
    if "{" not in value.text and not _WILD.search(value.text):
        path = posixpath.normpath(value.text)
        return Pattern(path, path, True)
    if ".." in value.text or "//" in value.text or "./" in value.text:
        return ANY
    texts = ["" if isinstance(part, Ref) else part for part in value.parts] or [""]
    first = value.parts[0] if value.parts else ""
    return _between(RUN if isinstance(first, Ref) and first.path == ("run",) else texts[0], texts[-1])


def pattern_of_glob(glob: str) -> Pattern:
    """The files that a glob of the settings names."""
    return _between(glob, glob) if _WILD.search(glob) else Pattern(glob, glob, True)


def _between(begins: str, ends: str) -> Pattern:
    wild = _WILD.search(begins)
    return Pattern(begins[: wild.start()] if wild else begins, re.split(r"[*?\]]", ends)[-1])


def meet(one: Pattern, other: Pattern) -> bool:
    """True where two patterns may name one file."""
    if one.whole and other.whole:
        return one.begins == other.begins
    if not (one.begins.startswith(other.begins) or other.begins.startswith(one.begins)):
        return False
    return one.ends.endswith(other.ends) or other.ends.endswith(one.ends)


def spelled(pattern: Pattern) -> str:
    """The pattern as one text."""
    return "\t".join((pattern.begins, pattern.ends, "=" if pattern.whole else "*"))


def read_back(text: str) -> Pattern:
    """The pattern that `spelled` wrote."""
    begins, ends, whole = text.split("\t")
    return Pattern(begins, ends, whole == "=")


class Stored:
    """Labels by pattern: what may stand in files. Whole paths are looked up, the others gone through.

    `changes` counts what was added.
    """

    def __init__(self) -> None:
        self.labels: dict[Pattern, int] = {}
        self.changes = 0
        self._wide: list[Pattern] = []
        self._known: dict[Pattern, int] = {}

    def put(self, pattern: Pattern, label: int) -> None:
        """Adds a label to the files of a pattern."""
        before = self.labels.get(pattern)
        if before is None and not pattern.whole:
            self._wide.append(pattern)
        if before is None or label & ~before:
            self.labels[pattern] = (before or 0) | label
            self.changes += 1
            self._known.clear()

    def get(self, pattern: Pattern) -> int:
        """The label of all that may stand in the files of a pattern."""
        out = self._known.get(pattern)
        if out is None:
            out = self.labels.get(pattern, 0)
            for one in self._wide if pattern.whole else self.labels:
                if meet(one, pattern):
                    out |= self.labels[one]
            self._known[pattern] = out
        return out
