"""Reads the unified diffs of an answer, also where the numbers of their headers are wrong or missing (HYP-35)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .hunk import FENCE, NUMBERED, Hunk, Op, PatchRefused, malformed

_HUNK = re.compile(r"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@")
_SIDES = (
    "before|after|old|new|orig|original|modified|fixed|patched|updated|changed|buggy|broken|correct"
    "|corrected|wrong|input|output"
)
_SIDE = re.compile(
    rf"(?:(?<=[/._-])|^)(?:{_SIDES})[/._-]?(?=[/._-]|$|(?<=[/._-]))|[._-](?:{_SIDES}|bak)(?=[/._-]|$)"
    rf"| \((?:{_SIDES})\)$"
)
"""How models tell the two sides of one file apart: `before.c` and `after.c`, `x.py.orig`, `old/x.py` and `new/x.py`."""
_MORE = re.compile(
    r"(?:old|new) mode |(?:new|deleted) file mode |(?:rename|copy) (?:from|to) |GIT binary patch|Binary files "
)


def read_unified(lines: list[str]) -> tuple[list[Hunk], list[str]]:
    """The hunks of a diff, and the paths that it names. Raises PatchRefused for what is not a diff of lines."""
    _only_lines(lines)
    found = _counted(lines)
    if found is None and any(
        re.match(r" *\d+ \| ?[-+]", line) for line in lines
    ):  # numbers before the marks
        lines = [
            (numbered[2] or numbered[3] or "") if (numbered := NUMBERED.match(line)) else line
            for line in lines
        ]
        found = _counted(lines)
    found = found or _loose(lines)
    if found is None:
        raise PatchRefused(
            "missing-diff",
            "the answer has no diff, no SEARCH/REPLACE section and no ORIGINAL/CHANGED block",
        )
    return found


def _is_header(lines: list[str], at: int) -> bool:
    return lines[at].startswith("--- ") and at + 1 < len(lines) and lines[at + 1].startswith("+++ ")


def _counted(lines: list[str]) -> tuple[list[Hunk], list[str]] | None:
    """The diff if all its headers are right: counts, and the new line numbers given the old ones. Such a one has one reading."""
    hunks: list[Hunk] = []
    paths: list[str] = []
    at, shift, left, told, behind = 0, 0, False, False, -1
    while at < len(lines):
        line = lines[at]
        if _is_header(lines, at):
            paths += _named(lines[at], lines[at + 1])
            at, shift, told = at + 2, 0, True
        elif line.startswith("@@"):
            header = _HUNK.match(line)
            if header is None:
                return None
            start, old, fresh, new = (int(part) if part else 1 for part in header.groups())
            body = _take(lines, at + 1, old, new)
            if body is None:
                return None
            ops, ends, at = body
            place = start if old else start + 1
            steady = (fresh if new else fresh + 1) - place == shift
            hunks.append(
                Hunk(tuple(ops), place if steady and (old or told) else None, ends, near=place)
            )
            shift += new - old
            left, behind = True, at
        else:
            if FENCE.match(line):
                left = False
            elif left and (line.startswith(("+", "-")) or (at == behind and line.startswith(" "))):
                return None  # more of the hunk than its header counts
            at += 1
    return (hunks, paths) if hunks else None


def _take(
    lines: list[str], at: int, old: int, new: int
) -> tuple[list[Op], tuple[bool, bool] | None, int] | None:
    body: list[str] = []
    while old or new:
        if at == len(lines):
            return None
        mark = lines[at].removesuffix("\r")[:1] or " "
        if mark not in " +-\\":
            return None
        old -= mark in " -"
        new -= mark in " +"
        if old < 0 or new < 0:
            return None
        body.append(lines[at])
        at += 1
    if at < len(lines) and lines[at].startswith("\\"):
        body.append(lines[at])
        at += 1
    ops, ends = _ops(body)
    return ops, ends, at


def _ops(body: list[str]) -> tuple[list[Op], tuple[bool, bool] | None]:
    ops: list[Op] = []
    unended = ""
    for line in body:
        if line.startswith("\\"):
            if not ops:
                raise malformed("a line without an end is told of before any line")
            unended += ops[-1][0]
        else:
            op = (" ", line) if line in ("", "\r") else (line[0], line[1:])
            if " " in unended or op[0] in unended or (unended and op[0] == " "):
                raise malformed("a line is said to have no end, and others follow it")
            ops.append(op)
    both = " " in unended
    return ops, (not (both or "-" in unended), not (both or "+" in unended)) if unended else None


def _loose(lines: list[str]) -> tuple[list[Hunk], list[str]] | None:
    """A diff whose headers are wrong or missing: where its hunks stand is left to their text."""
    hunks: list[Hunk] = []
    paths: list[str] = []
    seen = False
    for body, header, near in _bodies(lines):
        seen = True
        paths += header
        while body and not body[-1].strip("\r"):
            body.pop()
        if body:
            ops, ends = _ops(body)
            hunks.append(Hunk(tuple(ops), None, ends, near=near))
    return (hunks, paths) if seen else None


def _bodies(lines: list[str]) -> Iterator[tuple[list[str], list[str], int | None]]:
    """The lines of each hunk, the paths of the header before it, and the line at which it says that it begins."""
    fence, diff_fence = "", False
    at = 0
    header: list[str] = []
    while at < len(lines):
        line = lines[at]
        marked = FENCE.match(line)
        begins = line.startswith("@@")
        if marked:
            opening = not fence
            fence = marked[1][:3] if opening else "" if line.strip() == fence else fence
            diff_fence = opening and line.strip()[len(marked[1]) :].strip().lower() in (
                "diff",
                "patch",
            )
            following = next((row for row in lines[at + 1 :] if row.strip()), "")
            bare = (
                diff_fence
                and following.startswith((" ", "-", "+"))
                and not following.startswith(("--- ", "+++ "))
            )
            if not bare:
                at += 1
                continue
            begins = True
        elif _is_header(lines, at):
            header = _named(line, lines[at + 1])
            begins = not lines[at + 2 : at + 3] or not lines[at + 2].startswith("@@")
            at += 1
        if not begins:
            at += 1
            continue
        body: list[str] = []
        said = re.match(r"@@ -(\d{1,9})", line)
        at += 1
        while at < len(lines) and not lines[at].startswith("@@") and not _is_header(lines, at):
            if lines[at].removesuffix("\r")[:1] not in ("", " ", "-", "+", "\\"):
                break
            body.append(lines[at])
            at += 1
        if body and at < len(lines) and _is_header(lines, at):
            raise malformed(
                f"lines {at + 1} and {at + 2} of the answer may be a hunk's, or the head of another file"
            )
        yield body, header, int(said[1]) if said else None
        header = []
        rest = at
        while (
            rest < len(lines)
            and not lines[rest].startswith(("@@", "diff --git "))
            and not _is_header(lines, rest)
        ):
            if FENCE.match(lines[rest]):
                break
            if fence or lines[rest].startswith(("+", "-")):
                raise malformed(
                    f"line {rest + 1} of the answer is in a hunk and begins with neither blank, `+` nor `-`"
                )
            rest += 1


def _named(old: str, new: str) -> list[str]:
    """The file that a header names. Raises PatchRefused for one that makes, deletes or renames a file: lines are changed here."""
    names = [line[4:].split("\t")[0].strip() for line in (old, new)]
    if "/dev/null" in names:
        raise PatchRefused(
            "scope-violation",
            f"the patch {'makes' if names[0] == '/dev/null' else 'deletes'} a file",
        )
    paths = [
        name[2:] if name[:2] in ("a/", "b/") else name for name in names if re.search(r"[/.]", name)
    ]
    if len(set(paths)) > 1:
        said = [_SIDE.sub("", name) for name in paths]
        short, long = sorted(said, key=len)  # one of them may be named from the root
        if short != long and not long.endswith(f"/{short}"):
            raise PatchRefused("scope-violation", f"the patch renames `{paths[0]}` to `{paths[1]}`")
        return [name for name in paths if name == long][:1] or paths[:1]
    return paths[:1]


def _only_lines(lines: list[str]) -> None:
    """Raises PatchRefused where a diff of git does more than change lines."""
    for at, line in enumerate(lines):
        if line.startswith("diff --git "):
            for more in lines[at + 1 : at + 9]:
                if more.startswith(("--- ", "@@", "diff ")):
                    break
                if _MORE.match(more):
                    raise PatchRefused(
                        "scope-violation",
                        f"the patch does more than change lines: `{more.strip()[:80]}`",
                    )
