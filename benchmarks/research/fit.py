"""`python -m benchmarks.research.fit`: how sure an answer is, fitted anew on the tuned questions and those to develop on.

Prints the weights of `FITTED` in `fdc_packs.research.answering.found`, and for each level how often it was right where the
weights came from the other packages.
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tooling"))

from fdc_packs.research.answering import found  # noqa: E402
from fdc_packs.research.explore.mapped import searched, tree_of  # noqa: E402
from fdc_packs.research.retrieval.library import Opened  # noqa: E402
from fdc_packs.research.retrieval.library import read as shelf_of  # noqa: E402

from benchmarks.research.questions import DEVELOPMENT, QUESTIONS, Question, absent, read, unpacked  # noqa: E402

FIT_ON = ("tuned", "large", "development")
STEPS, RIDGE = 30, 1.0


class Seen(NamedTuple):
    """A question that the regression judges: its package, the signs, whether a shown place answers it, whether any could."""

    package: str
    signs: tuple[float, ...]
    right: bool
    absent: bool


def seen(questions: Sequence[Question], folder: Path) -> list[Seen]:
    """What the questions about one package tell."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    tree = tree_of(shelf_of(Opened(str(folder), handle, handle), True), "**")
    os.close(handle)
    out = []
    for question in questions:
        search = searched(tree, question.ask)
        answer = found.find_places(tree, search, question.ask)
        if not search.units() or "stands there" in answer.why or "found by" in answer.why:
            continue  # nothing to judge, or judged by its names
        right = any(
            place.path == path and first <= line <= last
            for place in answer.places
            for line, _ in place.code
            for path, first, last in question.answers
        )
        signs = found.signs(search, search.units())
        out.append(Seen(question.package, signs, right, not question.answers))
    return out


def fitted(rows: Sequence[Seen]) -> list[float]:
    """The weights of a logistic regression with a ridge, the bias first; Newton's method."""
    size = len(rows[0].signs) + 1
    weights = [0.0] * size
    for _ in range(STEPS):
        slope = [-RIDGE * weight * (at > 0) for at, weight in enumerate(weights)]
        bend = [[RIDGE * (i == j and i > 0) for j in range(size)] for i in range(size)]
        for row in rows:
            signs = (1.0, *row.signs)
            share = found.likely(row.signs, weights)
            for i in range(size):
                slope[i] += (row.right - share) * signs[i]
                for j in range(size):
                    bend[i][j] += share * (1 - share) * signs[i] * signs[j]
        weights = [weight + step for weight, step in zip(weights, solved(bend, slope))]
    return weights


def solved(matrix: list[list[float]], right: list[float]) -> list[float]:
    """The solution of a system of linear equations, by Gauss."""
    rows = [[*row, value] for row, value in zip(matrix, right)]
    for at in range(len(rows)):
        best = max(range(at, len(rows)), key=lambda i: abs(rows[i][at]))
        rows[at], rows[best] = rows[best], rows[at]
        for other in range(len(rows)):
            if other != at:
                part = rows[other][at] / rows[at][at]
                rows[other] = [one - part * two for one, two in zip(rows[other], rows[at])]
    return [row[-1] / row[at] for at, row in enumerate(rows)]


def report(rows: Sequence[Seen], say: Callable[[str], None]) -> None:
    """The weights, and how often each level was right with weights of the other packages."""
    say("FITTED = " + str(tuple(round(one, 2) for one in fitted(rows))))
    judged: list[tuple[float, Seen]] = []
    for package in dict.fromkeys(row.package for row in rows):
        weights = fitted([row for row in rows if row.package != package])
        judged += [(found.likely(r.signs, weights), r) for r in rows if r.package == package]
    above = math.inf
    for name, least in (*found.LEVELS, (found.NONE, 0.0)):
        here = [row for share, row in judged if least <= share < above]
        right, none = sum(row.right for row in here), sum(row.absent for row in here)
        say(f"{name}: {right} of {len(here)} are right; {none} have no answer")
        above = least


def main() -> None:
    """Fits on the tuned parts and the development part."""
    rows: list[Seen] = []
    for path in (QUESTIONS, DEVELOPMENT):
        asked, packages = read(path)
        for name, package in packages.items():
            mine = [q for q in [*asked, *absent(path)] if q.package == name and q.part in FIT_ON]
            rows += seen(mine, unpacked(package)) if mine else []
    report(rows, print)


if __name__ == "__main__":
    main()
