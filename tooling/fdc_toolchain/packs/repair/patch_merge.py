"""The last way to place a hunk whose context is remembered wrongly: a merge, near the region, then in the file (HYP-37).

The base is what the answer believes to be there, one side is what is there, the other what the answer wants. What goes must be
there to the letter and only once, and so must the lines next to it; elsewhere the context may differ. It is stricter than
`git merge-file`: where it merges, git does and says the same (a test compares them); where git sees a conflict, it gives up.
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher

from .patch_place import Placed, edits_of
from .patch_read import Hunk
from .patch_text import Edit, Text
from .region import Region

AROUND = 5
"""Lines before and behind a region that belong to its window."""
MOST = 2000
"""Lines of a hunk times lines of a window, in thousands, that are compared."""
TIER = 3


def merged(text: Text, hunk: Hunk, region: Region | None) -> Placed | None:
    """The edits of a hunk where a merge has no conflict and its lines stand only once; None elsewhere."""
    windows = [(0, len(text.lines))]
    if region is not None:
        windows.insert(0, (max(0, region.first - 1 - AROUND), min(len(text.lines), region.last + AROUND)))
    for first, stop in windows:
        found = _in(text.lines[first:stop], hunk)
        if found:
            edits = tuple(Edit(first + one.first, first + one.stop, one.lines) for one in found)
            return Placed(TIER, edits, (edits[0].first - 1, edits[-1].stop + 1))
    return None


def _in(there: Sequence[str], hunk: Hunk) -> list[Edit] | None:
    old = hunk.old
    if not old or hunk.ends or hunk.wire == "mixed" or len(old) * len(there) > MOST * 1000:
        return None
    at: dict[int, int] = {}
    for mine, theirs, size in SequenceMatcher(None, old, there, autojunk=False).get_matching_blocks():
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
