"""Which lines are suspect, from which tests ran them: Ochiai's formula (Abreu, Zoeteweij and van Gemund, 2007). Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple


class Suspect(NamedTuple):
    """A line, counted from 1, and how suspect it is: 0 to 1."""

    path: str
    line: int
    score: float


def rank(spectra: Sequence[Any]) -> list[Suspect]:
    """The lines that a failing test ran, the most suspect first; `spectra` as `fdc_packs.repair.tools.spectrum.measure`
    returns them.

    Lines that are as suspect as each other stand by their distance to a line that an error passed through, those of the
    innermost frames first, and then by path and line.
    """
    best: dict[tuple[str, int], float] = {}
    near: dict[str, list[tuple[int, int]]] = {}
    for run in spectra:
        for depth, (path, line) in enumerate(run.get("frames") or ()):
            near.setdefault(path, []).append((line, depth))
        for file in run.get("files") or ():
            for line, failing, passing in file["lines"]:
                score = ochiai(failing, passing, run["failing"])
                if score > 0:
                    place = (str(file["path"]), int(line))
                    best[place] = max(score, best.get(place, 0.0))

    def away(place: tuple[str, int]) -> tuple[int, int]:
        return min(
            ((abs(line - place[1]), depth) for line, depth in near.get(place[0], ())),
            default=(1 << 30, 0),
        )

    order = sorted(best, key=lambda place: (-best[place], *away(place), *place))
    return [Suspect(path, line, best[path, line]) for path, line in order]


def ochiai(failing: int, passing: int, all_failing: int) -> float:
    """How suspect a line is that so many failing and passing tests run: 1 where all failing ones do and no other."""
    ran = failing + passing
    return failing / math.sqrt(all_failing * ran) if failing and all_failing else 0.0
