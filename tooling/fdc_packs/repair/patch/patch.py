"""A model's answer applied to one text: the whole of it, where it says, or not at all.

    read it (patch_read)  ->  find each hunk's one place (patch_place, patch_merge)
                          ->  hold it to its region (region)  ->  apply (patch_text)

`merge_diff` (`workspace/`) is the tool of plans, for SEARCH/REPLACE to the letter; this one reads what models write, in
three formats, and is for one text and one region. Neither guesses.
"""

from __future__ import annotations

from typing import NamedTuple

from fdc_toolchain.api.text import unified

from .hunk import Hunk, PatchRefused, Reading
from .merge import Merge, merged
from .place import TIERS, Misplaced, place
from .read import read
from .region import Region, bundled
from .text import BOM, Edit, Text, edited, put_together, take_apart

__all__ = ["Patched", "PatchRefused", "apply_patch", "unified"]


class Patched(NamedTuple):
    """The text afterwards, the lines (from 1) of the text before that were touched, and how the patch fitted: one of TIERS.

    A place between two lines, where lines came in, is `(n + 1, n)`.
    """

    text: str
    spans: tuple[tuple[int, int], ...]
    how: str


def apply_patch(
    original: str,
    answer: str,
    *,
    region: Region | None = None,
    similarity: float = 0.8,
    merge: Merge | None = None,
) -> Patched:
    """The text with the change that an answer asks for (HYP-35, 36); what fits nowhere is merged by `merge`, if at all (HYP-37).

    Raises PatchRefused: `missing-diff` where the answer has no change (T-40), `empty-diff` where it changes nothing (T-43),
    `scope-violation` where it touches a line outside of `region` or another file (HYP-14, 16), `patch-apply` where it is
    malformed or has no place, or more than one. Raises ValueError for a similarity that is not in [0, 1], and nothing else.
    """
    if not 0 <= similarity <= 1:
        raise ValueError(f"a similarity is a number from 0 to 1, not {similarity}")
    readings = read(answer)
    text = take_apart(
        original,
        not any(
            line.startswith(BOM) for one in readings for hunk in one.hunks for line in hunk.old
        ),
    )
    for reading in readings:
        _right_file(reading, region)
        if reading.like_marks(text.lines):
            raise PatchRefused(
                "patch-apply",
                "the file has lines like those that bound a section; a unified diff can change it",
            )
    if all(not any(_changes(hunk) for hunk in reading.hunks) for reading in readings):
        raise PatchRefused("empty-diff", "the patch changes nothing")
    placed = [_place_all(text, reading, similarity, region, merge) for reading in readings]
    best = min(tier for tier, _ in placed)
    outcomes = {outcome for tier, outcome in placed if tier == best}
    patches = [outcome for outcome in outcomes if not isinstance(outcome, str)]
    if not patches or len(patches) < len(outcomes):
        raise PatchRefused(
            "patch-apply", min(outcome for outcome in outcomes if isinstance(outcome, str))
        )
    if len(patches) > 1:
        raise PatchRefused(
            "patch-apply", "the answer can be read in two ways that change different lines"
        )
    edits, final = patches[0]
    spans = tuple((edit.first + 1, edit.stop) for edit in edits)
    if region is not None and bundled(region, spans):
        line = next(span[0] for span in spans if bundled(region, [span]))
        about = f"lines {region.first} to {region.last} of `{region.path}`"
        raise PatchRefused(
            "scope-violation",
            f"the patch changes the text at line {line}, the hypothesis is about {about}",
        )
    result = put_together(edited(text, edits, final))
    if result == original:
        raise PatchRefused("empty-diff", "the patch changes nothing")
    return Patched(result, spans, TIERS[best])


def _right_file(reading: Reading, region: Region | None) -> None:
    if len(set(reading.paths)) > 1:
        named = ", ".join(f"`{name}`" for name in reading.paths)
        raise PatchRefused("scope-violation", f"the patch is for several files: {named}")
    for name in reading.paths if region else ():
        ours, theirs = f"/{region.path}" if region else "", f"/{name.removeprefix('./')}"
        if not (ours.endswith(theirs) or theirs.endswith(ours)):
            raise PatchRefused(
                "scope-violation",
                f"the patch is for `{name}` and the hypothesis is about `{ours[1:]}`",
            )


def _changes(hunk: Hunk) -> bool:
    sides = [
        [(op[1], cr) for op, cr in zip(hunk.ops, hunk.crs, strict=True) if op[0] != other]
        for other in "+-"
    ]
    return sides[0] != sides[1] or (hunk.ends is not None and hunk.ends[0] != hunk.ends[1])


def _place_all(
    text: Text, reading: Reading, similarity: float, region: Region | None, merge: Merge | None
) -> tuple[int, str | tuple[tuple[Edit, ...], bool | None]]:
    """How well a reading fits, and its edits and whether the text is ended then; or why it does not fit."""
    worst = 0
    edits: list[Edit] = []
    windows: list[tuple[int, int]] = []
    final: bool | None = None
    for hunk in reading.hunks:
        if text.bom and any(line.startswith(BOM) for _, line in hunk.ops):
            return (
                0,
                "the file begins with a byte order mark; the new lines have one, and the old ones have none",
            )
        found = place(text, hunk, similarity)
        if isinstance(found, Misplaced) and found.tier == len(TIERS) and merge is not None:
            found = merged(text, hunk, region, merge) or found
        if isinstance(found, Misplaced):
            return (len(TIERS) if reading.literal and found.tier else found.tier), found.why
        worst = max(worst, found.tier)
        edits += found.edits
        windows.append(found.window)
        if hunk.ends is not None and (hunk.ends[0] != hunk.ends[1] or not text.lines):
            final = hunk.ends[1]
    if reading.literal and worst:
        return len(TIERS), "the lines that a section replaces are not in the file"
    edits.sort()
    for one, other in zip(edits, edits[1:], strict=False):
        if one.stop > other.first or (one.first, one.stop) == (other.first, other.stop):
            return worst, f"two sections change the same place, line {other.first + 1}"
    if reading.ordered and windows != sorted(windows):
        return worst, "the hunks are not in the order of the file"
    windows.sort()
    for before, behind in zip(windows, windows[1:], strict=False):
        if before[1] > behind[0] or before == behind:
            return worst, f"two sections speak of the same line, {behind[0] + 1}"
    return worst, (tuple(edits), final)
