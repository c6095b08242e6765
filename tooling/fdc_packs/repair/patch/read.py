"""What an answer says is to be changed: unified diffs, SEARCH/REPLACE sections, ORIGINAL/CHANGED blocks (HYP-35).

An answer may have more than one reading (its lines may carry numbers, or be in fences). Each is handed on; who places them
refuses the answer where two of them would do different things. Prose around a change is passed over, prose alone is not a change.
"""

from __future__ import annotations

from collections.abc import Sequence

from .hunk import (
    CLOSE,
    FENCE,
    MIDDLE,
    NUMBERED,
    OPEN,
    SECTION,
    Hunk,
    Op,
    Reading,
    changes,
    malformed,
)
from .unified_diff import read_unified

_BLANK = ("", "\r")


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
    if any(line.rstrip() in (OPEN, CLOSE) for line in lines):
        pairs, after = _search_replace(lines), False
    elif any(SECTION.match(line) for line in lines):
        pairs, after = _blocks(lines), True
    else:
        hunks, paths = read_unified(lines)
        return [Reading(tuple(hunks), False, tuple(paths), True)]
    inner = [tuple(_inner(side, after) if side else [] for side in pair) for pair in pairs]
    whole = [Hunk(changes(old, new)) for old, new in pairs]
    bare = [Hunk(changes(old, new)) for old, new in inner if old is not None and new is not None]
    if len(bare) == len(pairs) and any(side for pair in pairs for side in pair):
        return [Reading(tuple(whole), True), Reading(tuple(bare))]
    if after and any(FENCE.match(side[0]) for pair in pairs for side in pair if side):
        raise malformed(
            "one block has a fence and another has none, or a fence is not closed, or more than once"
        )
    return [Reading(tuple(whole))]


def _inner(section: Sequence[str], after: bool = False) -> list[str] | None:
    """The lines between the fences of a section that is fenced as a whole; `after`: prose may follow."""
    if len(section) < 2 or not FENCE.match(section[0]):
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
        if mark == OPEN:
            if search is not None:
                raise malformed(f"line {number} of the answer: `{OPEN}` inside a section")
            search = []
        elif mark == MIDDLE and search is not None:
            if replace is not None:
                raise malformed(
                    f"line {number} of the answer: `{MIDDLE}` for the second time in a section"
                )
            replace = []
        elif mark == CLOSE:
            if search is None or replace is None:
                raise malformed(
                    f"line {number} of the answer: `{CLOSE}` without `{OPEN}` and `{MIDDLE}` above it"
                )
            pairs.append((search, replace))
            search = replace = None
        elif replace is not None:
            replace.append(line)
        elif search is not None:
            search.append(line)
        elif line.startswith("@@ ") or SECTION.match(line):
            raise malformed(
                f"line {number} of the answer: a patch of another kind beside the sections"
            )
    if search is not None:
        raise malformed(f"a section without `{CLOSE}`")
    return pairs


def _blocks(lines: list[str]) -> list[tuple[list[str], list[str]]]:
    heads = [(at, found[1]) for at, line in enumerate(lines) if (found := SECTION.match(line))]
    if any(line.startswith("@@ ") for line in lines[: heads[0][0]]):
        raise malformed("a diff beside the blocks: the answer has two patches")
    stop = len(lines)
    whole = False
    if (
        sum(1 for line in lines[: heads[0][0]] if FENCE.match(line)) % 2
    ):  # the blocks as a whole are in a fence
        stop = max(
            (at for at, line in enumerate(lines) if line.strip() in ("```", "~~~")), default=stop
        )
        whole = stop > heads[-1][0]
        stop = stop if whole else len(lines)
    if [kind == "ORIGINAL" for _, kind in heads] != [True, False] * (len(heads) // 2):
        raise malformed("`ORIGINAL LINES:` and `CHANGED LINES:` do not alternate")
    bodies = []
    for (at, _), (until, _) in zip(heads, [*heads[1:], (stop, "")], strict=True):
        body = lines[at + 1 : until]
        around = [line in _BLANK for line in body]
        while body and body[0] in _BLANK:
            del body[0]
        while body and body[-1] in _BLANK:
            del body[-1]
        if not (body and FENCE.match(body[0])):
            last = until == len(lines)
            if last and not whole and not body:
                raise malformed(
                    "the answer ends with an empty block without a fence: nothing is to be there, or it was cut off"
                )
            if body and (around[:2] == [True, True] or around[-2 - last :] == [True] * (2 + last)):
                raise malformed(
                    "blank lines at the edge of a block without a fence: part of it, or not"
                )
            if last and not whole and any(line in _BLANK for line in body):
                raise malformed(
                    "a blank line in a block without a fence: what follows may be code or prose"
                )
            if whole and until == stop and any(FENCE.match(line) for line in body):
                raise malformed(
                    "a fence in a block that is in a fence with others: it is not plain where that one ends"
                )
        bodies.append(body)
    return list(zip(bodies[::2], bodies[1::2], strict=True))


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
    old = [NUMBERED.match(line) for line in hunk.old if line.strip()]
    numbers = [int(found[1]) for found in old if found]
    if not old or len(numbers) < len(old):
        return hunk
    ops: list[Op] = []
    for mark, line in hunk.ops:
        found = NUMBERED.match(line)
        ops.append((mark, (found[2] or found[3] or "") if found else line))
    whole = len(numbers) == len(hunk.old) and numbers == list(
        range(numbers[0], numbers[0] + len(numbers))
    )
    again = changes(
        [line for mark, line in ops if mark != "+"], [line for mark, line in ops if mark != "-"]
    )
    return Hunk(again, numbers[0] if whole else None, hunk.ends)
