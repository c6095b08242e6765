"""Changes of files that a task spells out: one text for another, or a text at the end or the beginning of a file."""

from __future__ import annotations

import os
import re
from difflib import SequenceMatcher

from ..linking.project.regular_file import read
from ..named_tuples import NamedTuple
from ..text.merge_diff import CLOSE, MIDDLE, OPEN, NoMerge, apply

MOST_BYTES = 1 << 20
"""Bytes of a file that is changed."""
MOST_LINES = 200
"""Lines of a diff; a change that needs more is not spelled out in a plan."""

_TEXT = r"(?:\"([^\"\n]+)\"|“([^”\n]+)”|`([^`\n]+)`|(?<!\w)'([^'\n]+)'(?!\w))"
_OF = r"(?:(?:the|all|an?|each|every|any|new|text|word|string|name|phrase|line|sentence|(?:occurrence|use)s?|of)\s+)*"
_REPLACED = re.compile(
    rf"\b(?:replace|substitute|change|rename)\s+{_OF}{_TEXT}\s+(?:with|by|to|into)\s+{_OF}{_TEXT}",
    re.IGNORECASE,
)
_ANOTHER = re.compile(
    rf"(?:,|\s)(?:\s|and\b)*{_TEXT}\s+(?:with|by|to|into)\s+{_OF}{_TEXT}", re.IGNORECASE
)
"""One more, behind a replacement."""
_ADDED = re.compile(
    rf"\b(append|add|put|insert|prepend)\s+{_OF}(?:\"([^\"\n]+)\"|“([^”\n]+)”)\s+(?:(?:as|at|in|on|to)\s+(?:the\s+)?"
    r"(?:very\s+)?(end|bottom|beginning|start|top|(?:last|first)\s+line)(?:\s+of)?|to)\b",
    re.IGNORECASE,
)
_REMOVED = re.compile(
    rf"\b(?:remove|delete|drop|strike)\s+{_OF}{_TEXT}\s+(?:from|in)\b", re.IGNORECASE
)
_LINE = re.compile(r"\blines?\s", re.IGNORECASE)
_FRONT = re.compile(r"prepend|beginning|start|top|first", re.IGNORECASE)
_HOLE = re.compile(r"\{([A-Za-z_]\w*(?:\.\w+)*)\}")


class Edit(NamedTuple):
    """A change, and where the task says it: `old` for `new`; without `old`, `new` is a line at the end, or in `front`;
    `lines`: lines that are `old` are removed."""

    start: int
    end: int
    old: str
    new: str
    front: bool = False
    lines: bool = False

    def made(self, text: str) -> str:
        """A file's text after the change."""
        if self.lines:
            return "".join(one for one in text.splitlines(True) if one.rstrip("\n") != self.old)
        if self.old:
            return text.replace(self.old, self.new)
        if self.front:
            return f"{self.new}\n{text}"
        return f"{text}{'' if text.endswith(chr(10)) or not text else chr(10)}{self.new}\n"


def edits(task: str) -> list[Edit]:
    """The changes that a task spells out, in its order."""
    found = []
    for row in _REPLACED.finditer(task):
        start: re.Match[str] | None = row
        while start is not None:
            texts = [one for one in start.groups() if one is not None]
            found.append(Edit(start.start(), start.end(), texts[0], texts[1]))
            start = _ANOTHER.match(task, start.end())
    for row in _REMOVED.finditer(task):
        old = next(one for one in row.groups() if one is not None)
        lines = _LINE.search(task[row.start() : row.end() - len(old)]) is not None
        found.append(Edit(row.start(), row.end(), old, "", lines=lines))
    for row in _ADDED.finditer(task):
        front = _FRONT.search(f"{row[1]} {row[4] or ''}") is not None
        found.append(Edit(row.start(), row.end(), "", row[2] or row[3], front))
    return sorted(found)


def spelled(root: str, path: str, changes: list[Edit]) -> list[str]:
    """The lines of SEARCH and REPLACE sections that make the changes in a file; none where they change nothing, or where a plan
    cannot say it."""
    try:
        text = read(os.path.join(root, path), MOST_BYTES + 1).decode("utf-8")
    except (OSError, UnicodeDecodeError):
        return []
    if any(
        two.old and two.old in one.new
        for at, one in enumerate(changes)
        for two in changes[at + 1 :]
    ):
        return []  # the order would matter
    new = text
    for one in changes:
        new = one.made(new)
    if len(text) > MOST_BYTES or new == text or "\r" in text or "{{" in text or not text:
        return []
    lines = _sections(text.split("\n"), new.split("\n"))
    try:
        right = len(lines) <= MOST_LINES and apply(text, "\n".join(lines))[0] == new
    except NoMerge:
        return []
    return [_HOLE.sub(r"{{\1}}", line) for line in lines] if right else []


def _sections(old: list[str], new: list[str]) -> list[str]:
    """A section for each stretch that differs, with as many lines around it as make it the only one."""
    hunks: list[tuple[int, int, int, int]] = []
    for kind, first, last, begin, end in SequenceMatcher(None, old, new, False).get_opcodes():
        if kind == "equal":
            continue
        before, after = _around(old, first, last)
        hunk = (first - before, last + after, begin - before, end + after)
        while hunks and hunk[0] < hunks[-1][1]:  # two that overlap are one
            top = hunks.pop()
            more = max(0, top[0] - hunk[0])
            hunk = (top[0] - more, max(top[1], hunk[1]), top[2] - more, max(top[3], hunk[3]))
        hunks.append(hunk)
    out = []
    for first, last, begin, end in hunks:
        out += [OPEN, *old[first:last], MIDDLE, *new[begin:end], CLOSE]
    return out


def _around(lines: list[str], first: int, last: int) -> tuple[int, int]:
    """How many lines before and after a stretch make it one that is there once."""
    before = after = 0
    while _times(lines, first - before, last + after) != 1:
        if first > before and (before <= after or last + after == len(lines)):
            before += 1
        elif last + after < len(lines):
            after += 1
        else:
            break
    return before, after


def _times(lines: list[str], first: int, last: int) -> int:
    """How often a stretch of lines is there; an empty one is nowhere."""
    wanted = lines[first:last]
    if not wanted:
        return 0
    size = len(wanted)
    return sum(
        lines[at] == wanted[0] and lines[at : at + size] == wanted
        for at in range(len(lines) - size + 1)
    )
