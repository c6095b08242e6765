"""What an answer says is to be changed: unified diffs, SEARCH/REPLACE sections, ORIGINAL/CHANGED blocks (HYP-35).

An answer may have more than one reading (its lines may carry numbers, or be in fences). Each is handed on; who places them
refuses the answer where two of them would do different things. Prose around a change is passed over, prose alone is no change.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

Op = tuple[str, str]
"""A mark (blank: stays, `-`: goes, `+`: comes) and the line."""

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})[^`]*$")
_NUMBERED = re.compile(r" *(\d{1,9}) \|(?: (.*)|(\r?))$", re.DOTALL)
_HUNK = re.compile(r"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@")
_SECTION = re.compile(r"(?:\*\*|#{1,4} )?(ORIGINAL|CHANGED|NEW) LINES:(?:\*\*)?\s*$")
_MORE = re.compile(
    r"(?:old|new) mode |(?:new|deleted) file mode |(?:rename|copy) (?:from|to) |GIT binary patch|Binary files "
)
_BLANK = ("", "\r")
_OPEN, _MIDDLE, _CLOSE = "<<<<<<< SEARCH", "=======", ">>>>>>> REPLACE"


class PatchRefused(Exception):
    """Nothing was applied. `reason` is one of HYP-34's words, `why` one sentence for whoever wrote the patch."""

    def __init__(self, reason: str, why: str) -> None:
        super().__init__(f"{reason}: {why}")
        self.reason = reason
        self.why = why


class Hunk(NamedTuple):
    """One change. `at`: the line (from 1) at which the answer itself says, without contradiction, that it stands.

    `ends`: whether the old and the new text end their last line; None where the answer does not say. `crs`: of which lines the
    answer says that they end at CRLF; `wire`: how the answer's own lines end, `lf`, `crlf` or `mixed`.
    """

    ops: tuple[Op, ...]
    at: int | None = None
    ends: tuple[bool, bool] | None = None
    crs: tuple[bool, ...] = ()
    wire: str = "lf"

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
            line.rstrip() in (_OPEN, _MIDDLE, _CLOSE) or _SECTION.match(line) for line in lines
        )


def read(answer: str) -> list[Reading]:
    """Every reading of an answer. Raises PatchRefused: `missing-diff` without any change, `patch-apply` for a malformed one."""
    lines = answer.removeprefix("\ufeff").split("\n")
    ended = {line.endswith("\r") for line in lines[:-1]} or {False}
    wire = "mixed" if len(ended) == 2 else "crlf" if True in ended else "lf"
    return [
        reading._replace(hunks=tuple(_ended(hunk, wire) for hunk in reading.hunks))
        for reading in _unnumbered(_readings(lines))
    ]


def _ended(hunk: Hunk, wire: str) -> Hunk:
    """A hunk with its lines and their ends apart."""
    ops = tuple((mark, line.removesuffix("\r")) for mark, line in hunk.ops)
    return hunk._replace(ops=ops, crs=tuple(line.endswith("\r") for _, line in hunk.ops), wire=wire)


def _readings(lines: list[str]) -> list[Reading]:
    if any(line.rstrip() in (_OPEN, _CLOSE) for line in lines):
        pairs, after = _search_replace(lines), False
    elif any(_SECTION.match(line) for line in lines):
        pairs, after = _blocks(lines), True
    else:
        hunks, paths = _unified(lines)
        return [Reading(tuple(hunks), False, tuple(paths), True)]
    inner = [tuple(_inner(side, after) if side else [] for side in pair) for pair in pairs]
    whole = [Hunk(changes(old, new)) for old, new in pairs]
    bare = [Hunk(changes(old, new)) for old, new in inner if old is not None and new is not None]
    if len(bare) == len(pairs) and any(side for pair in pairs for side in pair):
        return [Reading(tuple(whole), True), Reading(tuple(bare))]
    if after and any(_FENCE.match(side[0]) for pair in pairs for side in pair if side):
        raise _malformed(
            "one block has a fence and another has none, or a fence is not closed, or more than once"
        )
    return [Reading(tuple(whole))]


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


def _malformed(why: str) -> PatchRefused:
    return PatchRefused("patch-apply", why)


def _inner(section: Sequence[str], after: bool = False) -> list[str] | None:
    """The lines between the fences of a section that is fenced as a whole; `after`: prose may follow."""
    if len(section) < 2 or not _FENCE.match(section[0]):
        return None
    mark = section[0].strip()[:3]
    closing = [at for at, line in enumerate(section) if at and line.strip() == mark]
    if len(closing) != 1 or not (after or closing[0] == len(section) - 1):
        return None
    return list(section[1 : closing[0]])


# --- SEARCH/REPLACE, ORIGINAL/CHANGED


def _search_replace(lines: list[str]) -> list[tuple[list[str], list[str]]]:
    pairs: list[tuple[list[str], list[str]]] = []
    search: list[str] | None = None
    replace: list[str] | None = None
    for number, line in enumerate(lines, 1):
        mark = line.rstrip()
        if mark == _OPEN:
            if search is not None:
                raise _malformed(f"line {number} of the answer: `{_OPEN}` inside a section")
            search = []
        elif mark == _MIDDLE and search is not None:
            if replace is not None:
                raise _malformed(
                    f"line {number} of the answer: `{_MIDDLE}` for the second time in a section"
                )
            replace = []
        elif mark == _CLOSE:
            if search is None or replace is None:
                raise _malformed(
                    f"line {number} of the answer: `{_CLOSE}` without `{_OPEN}` and `{_MIDDLE}` above it"
                )
            pairs.append((search, replace))
            search = replace = None
        elif replace is not None:
            replace.append(line)
        elif search is not None:
            search.append(line)
        elif line.startswith("@@ ") or _SECTION.match(line):
            raise _malformed(
                f"line {number} of the answer: a patch of another kind beside the sections"
            )
    if search is not None:
        raise _malformed(f"a section without `{_CLOSE}`")
    return pairs


def _blocks(lines: list[str]) -> list[tuple[list[str], list[str]]]:
    heads = [(at, found[1]) for at, line in enumerate(lines) if (found := _SECTION.match(line))]
    if any(line.startswith("@@ ") for line in lines[: heads[0][0]]):
        raise _malformed("a diff beside the blocks: the answer has two patches")
    stop = len(lines)
    whole = False
    if (
        sum(1 for line in lines[: heads[0][0]] if _FENCE.match(line)) % 2
    ):  # the blocks as a whole are in a fence
        stop = max(
            (at for at, line in enumerate(lines) if line.strip() in ("```", "~~~")), default=stop
        )
        whole = stop > heads[-1][0]
        stop = stop if whole else len(lines)
    if [kind == "ORIGINAL" for _, kind in heads] != [True, False] * (len(heads) // 2):
        raise _malformed("`ORIGINAL LINES:` and `CHANGED LINES:` do not alternate")
    bodies = []
    for (at, _), (until, _) in zip(heads, [*heads[1:], (stop, "")], strict=True):
        body = lines[at + 1 : until]
        around = [line in _BLANK for line in body]
        while body and body[0] in _BLANK:
            del body[0]
        while body and body[-1] in _BLANK:
            del body[-1]
        if not (body and _FENCE.match(body[0])):
            last = until == len(lines)
            if last and not whole and not body:
                raise _malformed(
                    "the answer ends with an empty block without a fence: nothing is to be there, or it was cut off"
                )
            if body and (around[:2] == [True, True] or around[-2 - last :] == [True] * (2 + last)):
                raise _malformed(
                    "blank lines at the edge of a block without a fence: part of it, or not"
                )
            if last and not whole and any(line in _BLANK for line in body):
                raise _malformed(
                    "a blank line in a block without a fence: what follows may be code or prose"
                )
            if whole and until == stop and any(_FENCE.match(line) for line in body):
                raise _malformed(
                    "a fence in a block that is in a fence with others: it is not plain where that one ends"
                )
        bodies.append(body)
    return list(zip(bodies[::2], bodies[1::2], strict=True))


# --- unified diffs


def _unified(lines: list[str]) -> tuple[list[Hunk], list[str]]:
    _only_lines(lines)
    found = _counted(lines)
    if found is None and any(
        re.match(r" *\d+ \| ?[-+]", line) for line in lines
    ):  # numbers before the marks
        lines = [
            (numbered[2] or numbered[3] or "") if (numbered := _NUMBERED.match(line)) else line
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
            hunks.append(Hunk(tuple(ops), place if steady and (old or told) else None, ends))
            shift += new - old
            left, behind = True, at
        else:
            if _FENCE.match(line):
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
                raise _malformed("a line without an end is told of before any line")
            unended += ops[-1][0]
        else:
            op = (" ", line) if line in ("", "\r") else (line[0], line[1:])
            if " " in unended or op[0] in unended or (unended and op[0] == " "):
                raise _malformed("a line is said to have no end, and others follow it")
            ops.append(op)
    both = " " in unended
    return ops, (not (both or "-" in unended), not (both or "+" in unended)) if unended else None


def _loose(lines: list[str]) -> tuple[list[Hunk], list[str]] | None:
    """A diff whose headers are wrong or missing: where its hunks stand is left to their text."""
    hunks: list[Hunk] = []
    paths: list[str] = []
    seen = False
    for body, header in _bodies(lines):
        seen = True
        paths += header
        while body and not body[-1].strip("\r"):
            body.pop()
        if body:
            ops, ends = _ops(body)
            hunks.append(Hunk(tuple(ops), None, ends))
    return (hunks, paths) if seen else None


def _bodies(lines: list[str]) -> Iterator[tuple[list[str], list[str]]]:
    """The lines of each hunk, and the paths of the header before it."""
    fence, diff_fence = "", False
    at = 0
    header: list[str] = []
    while at < len(lines):
        line = lines[at]
        marked = _FENCE.match(line)
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
        at += 1
        while at < len(lines) and not lines[at].startswith("@@") and not _is_header(lines, at):
            if lines[at].removesuffix("\r")[:1] not in ("", " ", "-", "+", "\\"):
                break
            body.append(lines[at])
            at += 1
        if body and at < len(lines) and _is_header(lines, at):
            raise _malformed(
                f"lines {at + 1} and {at + 2} of the answer may be a hunk's, or the head of another file"
            )
        yield body, header
        header = []
        rest = at
        while (
            rest < len(lines)
            and not lines[rest].startswith(("@@", "diff --git "))
            and not _is_header(lines, rest)
        ):
            if _FENCE.match(lines[rest]):
                break
            if fence or lines[rest].startswith(("+", "-")):
                raise _malformed(
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
        raise PatchRefused("scope-violation", f"the patch renames `{paths[0]}` to `{paths[1]}`")
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


# --- line numbers


def _unnumbered(readings: list[Reading]) -> list[Reading]:
    """The readings, and each without the numbers in front of its lines where all old lines of a hunk have them."""
    out: list[Reading] = []
    for reading in readings:
        bare = tuple(_bare(hunk) for hunk in reading.hunks)
        if bare == reading.hunks:
            out.append(reading)
        else:
            out += [reading._replace(literal=True), reading._replace(hunks=bare)]
    return out


def _bare(hunk: Hunk) -> Hunk:
    old = [_NUMBERED.match(line) for line in hunk.old if line.strip()]
    numbers = [int(found[1]) for found in old if found]
    if not old or len(numbers) < len(old):
        return hunk
    ops: list[Op] = []
    for mark, line in hunk.ops:
        found = _NUMBERED.match(line)
        ops.append((mark, (found[2] or found[3] or "") if found else line))
    whole = len(numbers) == len(hunk.old) and numbers == list(
        range(numbers[0], numbers[0] + len(numbers))
    )
    again = changes(
        [line for mark, line in ops if mark != "+"], [line for mark, line in ops if mark != "-"]
    )
    return Hunk(again, numbers[0] if whole else None, hunk.ends)
