"""Which lines are suspect: from which tests ran them, where errors passed, what was changed lately. Pure.

Ochiai's formula is that of Abreu, Zoeteweij and van Gemund, 2007.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from .shapes import Spectrum

BESIDE = 2
"""Lines beside a frame's that count as its own: a statement may have several."""
FRAMES, ALONE = 0.2, 0.6
"""How much of a line's score its distance to a frame decides: beside what tests ran, and where no test passes, so that all
lines are run by the same tests (an error at import)."""


class Suspect(NamedTuple):
    """A line, counted from 1, and how suspect it is: 0 to 1."""

    path: str
    line: int
    score: float


def rank(spectra: Sequence[Spectrum]) -> list[Suspect]:
    """The lines that a failing test ran, the most suspect first; `spectra` as `fdc_packs.repair.tools.spectrum.measure`
    returns them.

    Three measures count together: Ochiai's, how near a line is to one that an error passed through (the innermost frames
    most, and above all where no test passes), and whether it was changed lately (`recent`). Lines that are as suspect as
    each other stand by their distance to such a frame, and then by path and line.
    """
    best: dict[tuple[str, int], float] = {}
    near: dict[str, list[tuple[int, int]]] = {}
    for run in spectra:
        known = {file["path"] for file in run.get("files") or ()}
        inside = [frame for frame in run.get("frames") or () if frame[0] in known]
        for depth, (path, line) in enumerate(inside):
            near.setdefault(str(path), []).append((int(line), depth))

    def away(place: tuple[str, int]) -> tuple[int, int]:
        return min(
            ((abs(line - place[1]), depth) for line, depth in near.get(place[0], ())),
            default=(1 << 30, 0),
        )

    for run in spectra:
        recent = run.get("recent") or {}
        weight = (FRAMES if run.get("passing", 1) else ALONE) * bool(near)
        for file in run.get("files") or ():
            for line, failing, passing in file["lines"]:
                score = ochiai(failing, passing, run["failing"])
                place = (str(file["path"]), int(line))
                distance, depth = away(place)
                framed = 1 / (1 + depth / 4) if not distance else 0.7 if distance <= BESIDE else 0.3
                framed = framed if place[0] in near else 0.0
                fresh = any(first <= line <= last for first, last in recent.get(place[0], ()))
                score *= 1 - weight * (1 - framed) - 0.1 * (not fresh) * bool(recent)
                if score > 0:
                    best[place] = max(score, best.get(place, 0.0))
    order = sorted(best, key=lambda place: (-best[place], *away(place), *place))
    return [Suspect(path, line, best[path, line]) for path, line in order]


def ochiai(failing: int, passing: int, all_failing: int) -> float:
    """How suspect a line is that so many failing and passing tests run: 1 where all failing ones do and no other."""
    ran = failing + passing
    return failing / math.sqrt(all_failing * ran) if failing and all_failing else 0.0
