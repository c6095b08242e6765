"""Text that goes through files: which file a step may write or read, as far as its path can be made out.

A path is known by how it begins and how it ends; what is computed in between may be anything. Two
of them may be the same file unless their beginnings or their ends forbid it.
"""

from __future__ import annotations

import posixpath
import re

from ....named_tuples import NamedTuple
from ....syntax.values import Ref, Value
from ....text.later_regex import later

_WILD = later(r"[*?\[]")


class Pattern(NamedTuple):
    """Files by the beginning and the end of their paths; `whole`: the beginning is the path."""

    begins: str
    ends: str
    whole: bool = False


ANY = Pattern("", "")
SEEN = Pattern("\0", "")
"""Every file that a command can see: all but those below `{run}/outside/`."""
RUN = "runs/\0/"
"""Begins the paths in the run's own folder, whatever its name is."""
HIDDEN = f"{RUN}outside/"
"""Begins the paths that no command sees."""

_RUNS = "runs/"


def pattern_of(value: Value) -> Pattern:
    """The files that an argument may name."""
    text = value.text
    if "{" not in text and not _WILD.search(text):
        return _literal(posixpath.normpath(text))
    if ".." in text or "//" in text or "./" in text:
        return ANY
    parts = value.parts or ("",)
    first = parts[0]
    if isinstance(first, Ref) and first.path == ("run",):
        after = parts[1] if len(parts) > 1 and isinstance(parts[1], str) else ""
        begins = RUN[:-1] + after
        if len(parts) <= 2 and not isinstance(parts[-1], Ref) and not _WILD.search(after):
            return Pattern(begins, begins, True)
    else:
        begins = first if isinstance(first, str) else ""
        if begins.startswith(_RUNS):  # the folder of a run, which may be this one
            begins = _RUNS
    found = _between(begins, parts[-1] if isinstance(parts[-1], str) else "")
    if found.begins == "." or found.begins.endswith("/."):
        return found._replace(begins=found.begins[:-1])  # a value that is `/x` makes `./x` of it
    return found


def tree_of(value: Value) -> Pattern:
    """The files that a folder or a glob may name, those below a folder included."""
    found = pattern_of(value)
    return Pattern("" if found.begins == "." else found.begins, "")


def pattern_of_glob(glob: str) -> Pattern:
    """The files that a glob of the settings names."""
    return _between(glob, glob) if _WILD.search(glob) else _literal(glob)


def _literal(path: str) -> Pattern:
    if path.startswith(_RUNS):  # a file in the folder of a run, which may be this one
        return Pattern(_RUNS, "/" + path.split("/", 2)[2] if path.count("/") > 1 else "")
    return Pattern(path, path, True)


def _between(begins: str, ends: str) -> Pattern:
    wild = _WILD.search(begins)
    return Pattern(begins[: wild.start()] if wild else begins, re.split(r"[*?\]]", ends)[-1])


def hidden(pattern: Pattern) -> bool:
    """True where no command sees any of the files."""
    return pattern.begins.startswith(HIDDEN)


def meet(pattern: Pattern, other: Pattern) -> bool:
    """True where two patterns may name one file."""
    if pattern.whole and other.whole:
        return pattern.begins == other.begins
    if pattern.begins == "\0" or other.begins == "\0":
        return not hidden(pattern) and not hidden(other)
    if not (pattern.begins.startswith(other.begins) or other.begins.startswith(pattern.begins)):
        return False
    return pattern.ends.endswith(other.ends) or other.ends.endswith(pattern.ends)


def spelled(pattern: Pattern) -> str:
    """The pattern as one text. A path may have any character in it, so the text says how long the beginning is."""
    return f"{'=' if pattern.whole else '*'}{len(pattern.begins)} {pattern.begins}{pattern.ends}"


def read_back(text: str) -> Pattern:
    """The pattern that `spelled` wrote."""
    head, _, rest = text.partition(" ")
    length = int(head[1:])
    return Pattern(rest[:length], rest[length:], head[0] == "=")


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

    def lasting(self) -> Stored:
        """What a later run finds: all but what stands in the folder of this one."""
        out = Stored()
        for pattern, label in self.labels.items():
            if not pattern.begins.startswith(RUN):
                out.put(pattern, label)
        return out
