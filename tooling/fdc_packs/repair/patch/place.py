"""Where in a text a hunk fits: to the letter, else but for white space, else nearly (HYP-36). One place, or none.

A place that is only as good as another one is not a place, unless the number of a diff's header is nearer to it than to the
others. Other numbers decide between places that fit to the letter, for then text and number say the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from .hunk import Hunk, Op
from .text import Edit, Text

TIERS = ("exact", "whitespace", "fuzzy", "merge")
MARGIN = 0.05
"""A place must be better than the next one by this much: what is nearly as good is as good."""
MOST_PAIRS = 200_000
"""Pairs of different lines that are compared letter by letter; a longer search is given up."""
LONGEST = 1000


class Placed(NamedTuple):
    """What a hunk does to the text, how well it fitted (an index of TIERS), and the lines that it speaks of."""

    tier: int
    edits: tuple[Edit, ...]
    window: tuple[int, int]


class Misplaced(NamedTuple):
    """A hunk has no place: `tier` says how well it fits in the places that it has, len(TIERS) where it has none."""

    tier: int
    why: str


def place(text: Text, hunk: Hunk, similarity: float) -> Placed | Misplaced:
    """The one place of a hunk in a text."""
    old = hunk.old
    if hunk.ends is not None and hunk.ends[0] != (text.final or not text.lines):
        said = (
            "is ended, and the file's is not" if hunk.ends[0] else "is not ended, and the file's is"
        )
        return Misplaced(0, f"the answer says that the last line {said}")
    if not old:
        at = hunk.at - 1 if text.lines and hunk.at is not None else 0
        last = len(text.lines) - (not text.final)
        if text.lines and (hunk.at is None or (text.bom and not at) or at > last):
            return Misplaced(0, "nothing in a section says where its new lines belong")
        return _ended(text, hunk, 0, at, [line for _, line in hunk.ops])
    places = [
        at for at in _windows(text, hunk, len(old)) if list(text.lines[at : at + len(old)]) == old
    ]
    if len(places) > 1 and hunk.at is not None and hunk.at - 1 in places:
        places = [hunk.at - 1]
    tier = 0
    if not places:
        bare = [line.strip() for line in old]
        stripped = [line.strip() for line in text.lines]
        places = [
            at for at in _windows(text, hunk, len(old)) if stripped[at : at + len(old)] == bare
        ]
        tier = 1
    if not places:
        found = _nearly(text, hunk, similarity)
        if isinstance(found, Misplaced):
            return found
        places, tier = [found], 2
    if len(places) > 1 and hunk.near is not None:
        first, second = sorted((abs(at + 1 - hunk.near), at) for at in places)[:2]
        places = [first[1]] if first[0] < second[0] else places
    if len(places) > 1:
        lines = ", ".join(str(at + 1) for at in places[:5])
        return Misplaced(
            tier, f"a section fits equally well at lines {lines}{', …' if len(places) > 5 else ''}"
        )
    there = text.lines[places[0] : places[0] + len(old)]
    added = _indented(old, there, [line for mark, line in hunk.ops if mark == "+"])
    if added is None:
        return Misplaced(
            tier,
            f"the indentation of a section does not say what that of its new lines is at line {places[0] + 1}",
        )
    return _ended(text, hunk, tier, places[0], added)


def _ended(text: Text, hunk: Hunk, tier: int, at: int, added: list[str]) -> Placed | Misplaced:
    """The edits of a hunk at its place. Its new lines end as the answer says, where its old lines end as those that are there;
    as the file's lines do, where the answer's line ends are those of the sender.
    """
    marks = [mark for mark, _ in hunk.ops]
    crs = hunk.crs or (False,) * len(marks)
    told = ["\r\n" if cr else "\n" for mark, cr in zip(marks, crs, strict=True) if mark != "+"]
    fresh = ["\r\n" if cr else "\n" for mark, cr in zip(marks, crs, strict=True) if mark == "+"]
    width = len(told)
    there = list(text.ends[at : at + width])
    if there and at + width == len(text.lines) and not text.final:
        told, there = told[:-1], there[:-1]
    if hunk.wire == "mixed" and told != there:
        return Misplaced(len(TIERS), "the lines of a section do not end as those of the file do")
    ends: Sequence[str] = fresh
    if told != there:
        ends = ()
    elif not told and hunk.wire != "mixed":  # nothing says whose line ends these are
        ends = ()
        exact = hunk.ends is not None or not width
        kinds = set(text.ends[:-1] if text.lines and not text.final else text.ends)
        if exact and fresh and (len(kinds) > 1 or (hunk.wire == "lf" and "\r\n" in kinds)):
            return Misplaced(0, "nothing in a section says how its new lines end")
    return Placed(tier, edits_of(hunk.ops, at, added, ends), (at, at + width))


def _windows(text: Text, hunk: Hunk, width: int) -> Sequence[int]:
    last = len(text.lines) - width
    if last < 0:
        return ()
    return (
        (last,) if hunk.ends else range(last + 1)
    )  # who speaks of the end of the file means its last lines


def edits_of(
    ops: Sequence[Op], at: int, added: Sequence[str], ends: Sequence[str] = ()
) -> tuple[Edit, ...]:
    """What operations change that begin at a line; `added` are the lines that come, as they are to be, `ends` their ends."""
    edits: list[Edit] = []
    number = 0
    first, lines = at, list[str]()
    for mark, _ in (*ops, (" ", "")):
        if mark == "+":
            lines.append(added[number])
            number += 1
        elif mark == "-":
            at += 1
        else:
            if at > first or lines:
                edits.append(
                    Edit(first, at, tuple(lines), tuple(ends[number - len(lines) : number]))
                )
            at += 1
            first, lines = at, []
    return tuple(edits)


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def _indented(old: Sequence[str], there: Sequence[str], added: list[str]) -> list[str] | None:
    """The new lines as the text indents: as the answer's old lines are to those that are there. None where that says nothing."""
    pairs = {
        (_indent(ours), _indent(line))
        for ours, line in zip(old, there, strict=True)
        if ours.strip()
    }
    if all(ours == theirs for ours, theirs in pairs):
        return added
    table = dict(pairs)
    known = len(table) == len(pairs)
    deeper = {
        theirs.removesuffix(ours) if theirs.endswith(ours) else None for ours, theirs in pairs
    }
    shallower = {
        ours.removesuffix(theirs) if ours.endswith(theirs) else None for ours, theirs in pairs
    }
    more, less = (next(iter(one)) if len(one) == 1 else None for one in (deeper, shallower))
    out = []
    for line in added:
        indent = _indent(line)
        if not line.strip():
            out.append(line)
        elif known and indent in table:
            out.append(table[indent] + line.lstrip())
        elif more is not None:
            out.append(more + line)
        elif less is not None and line.startswith(less):
            out.append(line.removeprefix(less))
        else:
            return None
    return out


def _nearly(text: Text, hunk: Hunk, similarity: float) -> int | Misplaced:
    nowhere = Misplaced(len(TIERS), "the lines that a section replaces are not in the file")
    old = [line.strip() for line in hunk.old]
    lines = [line.strip() for line in text.lines]
    if len(set(old)) * len(set(lines)) > MOST_PAIRS:
        return Misplaced(
            len(TIERS),
            f"{nowhere.why} to the letter, and there are too many lines to look for similar ones",
        )
    goes = [
        at for at, mark in enumerate(mark for mark, _ in hunk.ops if mark != "+") if mark == "-"
    ]
    seen: dict[tuple[str, str], float] = {}

    def like(at: int, line: str) -> float:
        pair = (old[at], line)
        if pair not in seen:
            seen[pair] = _ratio(*pair)
        return seen[pair]

    scores: list[tuple[float, int]] = []
    for start in _windows(text, hunk, len(old)):
        window = lines[start : start + len(old)]
        weights = [max(len(ours), len(line), 1) for ours, line in zip(old, window, strict=True)]
        most = sum(
            w * _most(ours, line) for w, ours, line in zip(weights, old, window, strict=True)
        )
        if most < (similarity - MARGIN) * sum(weights):
            continue
        score = sum(
            w * like(at, line) for at, (w, line) in enumerate(zip(weights, window, strict=True))
        ) / sum(weights)
        scores.append((score, start))
    scores.sort(reverse=True)
    if not scores or scores[0][0] < similarity:
        return nowhere
    best, start = scores[0]
    if len(scores) > 1 and scores[1][0] > best - MARGIN:
        return Misplaced(
            2, f"a section fits about equally well at lines {start + 1} and {scores[1][1] + 1}"
        )
    if any(like(at, lines[start + at]) < similarity for at in goes):
        return Misplaced(
            len(TIERS),
            f"a line that a section removes is too unlike the one in the file (about line {start + 1})",
        )
    return start


def _most(one: str, other: str) -> float:
    """No less than their ratio, for nothing."""
    total = len(one) + len(other)
    return 2.0 * min(len(one), len(other)) / total if total else 1.0


def _ratio(one: str, other: str) -> float:
    if one == other:
        return 1.0
    if max(len(one), len(other)) > LONGEST:
        return 0.0
    return SequenceMatcher(None, one, other, autojunk=False).ratio()
