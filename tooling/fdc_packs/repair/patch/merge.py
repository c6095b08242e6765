"""The last way to place a hunk whose context is remembered wrongly: a merge, near the region, then in the file (HYP-37).

The base is what the answer believes to be there, one side is what is there, the other what the answer wants. `git merge-file`
merges them, and a conflict is not a patch. Git alone would merge at one of two like places, so what goes must be there to the
letter and only once, and so must the lines next to it; elsewhere the context may differ.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from difflib import SequenceMatcher

from .hunk import Hunk
from .place import Placed, edits_of
from .region import Region
from .text import Edit, Text, edited

AROUND = 5
"""Lines before and behind a region that belong to its window."""
MOST = 2000
"""Lines of a hunk times lines of a window, in thousands, that are compared."""
TIER = 3

Merge = Callable[[str, str, str], str | None]
"""What is there, what is believed to be there, what is wanted: the three as one text, or None for a conflict."""


def merged(text: Text, hunk: Hunk, region: Region | None, merge: Merge) -> Placed | None:
    """The edits of a hunk where a merge has no conflict and its lines stand only once; None elsewhere."""
    windows = [(0, len(text.lines))]
    if region is not None:
        windows.insert(
            0, (max(0, region.first - 1 - AROUND), min(len(text.lines), region.last + AROUND))
        )
    for first, stop in windows:
        window = text.lines[first:stop]
        found = _in(window, hunk)
        if found and merge(_joined(window), _joined(hunk.old), _joined(hunk.new)) == _joined(
            _after(window, found)
        ):
            edits = tuple(Edit(first + one.first, first + one.stop, one.lines) for one in found)
            return Placed(TIER, edits, (edits[0].first - 1, edits[-1].stop + 1))
    return None


def _joined(lines: Sequence[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _after(lines: Sequence[str], edits: Sequence[Edit]) -> Sequence[str]:
    return edited(Text("", tuple(lines), ("\n",) * len(lines), True), edits).lines


def _in(there: Sequence[str], hunk: Hunk) -> list[Edit] | None:
    old = hunk.old
    if not old or hunk.ends or hunk.wire == "mixed" or len(old) * len(there) > MOST * 1000:
        return None
    at: dict[int, int] = {}
    for mine, theirs, size in SequenceMatcher(
        None, old, there, autojunk=False
    ).get_matching_blocks():
        at.update((mine + n, theirs + n) for n in range(size))
    found: list[Edit] = []
    for edit in edits_of(hunk.ops, 0, [line for mark, line in hunk.ops if mark == "+"]):
        beside = range(edit.first - 1, edit.stop + 1)
        if beside[0] < 0 or beside[-1] >= len(old) or any(number not in at for number in beside):
            return None
        places = [at[number] for number in beside]
        apart = places != list(range(places[0], places[0] + len(places)))
        if apart or any(there.count(old[number]) != 1 for number in beside):
            return None
        found.append(Edit(places[0] + 1, places[-1], edit.lines))
    return found or None
