"""What a measurement says, computed from its rows: nothing here is true of another measurement than the one at hand."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product

from benchmarks.research.questions import PARTS
from benchmarks.research.row import Row, within

OURS, PLAIN = "fdc explore", ("ripgrep", "BM25", "embedding")
RERANKED = f"{OURS} --rerank"
LIMITS = ((1, "the first place"), (5, "the first five"))


def chance(better: int, worse: int) -> float:
    """How likely a difference of at least that much is where neither way is better (exact sign test, two-sided).

    >>> [round(chance(*pair), 3) for pair in ((0, 0), (5, 5), (9, 1), (1, 9))]
    [1.0, 1.0, 0.021, 0.021]
    """
    count = better + worse
    if not count:
        return 1.0
    tail = (
        sum(math.comb(count, number) for number in range(max(better, worse), count + 1)) / 2**count
    )
    return min(1.0, 2 * tail)


def remarks(rows: Sequence[Row], missing: str = "") -> list[str]:
    """The remarks as Markdown list items. `missing`: how to get the reranker, where it is not installed."""
    out = []
    for part in PARTS:
        ways = _by_way(_of(part, rows))
        if OURS in ways:
            out += [_against(part, ways, name) for name in ways if name.startswith(PLAIN)]
            out.append(_verdict(part, ways))
    ways = _by_way(rows)
    out += _others(ways, missing)
    out += _citations(rows)
    return [f"- {one}" for one in out if one]


def confidence(rows: Sequence[Row]) -> list[str]:
    """Of the answers with each confidence, how many are right: one of the places that are shown answers."""
    out = []
    for part, level in product(PARTS, ("High", "Moderate", "Low")):
        here = [row for row in _of(part, rows) if row.answer.sure == level]
        for name, some in _by_way(here).items():
            if name.startswith(OURS):
                right = within(some, 5)
                share = f"{right / len(some):.0%}"
                said = f"{right} of {len(some)} are right ({share})"
                out.append(f"- `{name}` says {level}, {part}: {said}.")
    return out


def refused(rows: Sequence[Row], without: Sequence[Row]) -> list[str]:
    """How often it says that it does not find it, where there is an answer and where there is none."""
    out = []
    for part in PARTS:
        for name, some in _by_way(_of(part, without)).items():
            said = sum(row.answer.sure == "None" for row in some)
            asked = [row for row in _of(part, rows) if row.way == name]
            too_often = [row for row in asked if row.answer.sure == "None"]
            text = f"- `{name}`, {part}, says that it does not find it for {said} of {len(some)} questions without an answer"
            if asked:
                nearest = f"of which {within(too_often, 5)} have it among the nearest"
                text += f", and for {len(too_often)} of {len(asked)} with one, {nearest}"
            out.append(f"{text}.")
    return out


def _of(part: str, rows: Sequence[Row]) -> list[Row]:
    return [row for row in rows if row.question.part == part]


def _by_way(rows: Sequence[Row]) -> dict[str, list[Row]]:
    out: dict[str, list[Row]] = {}
    for row in rows:
        out.setdefault(row.way, []).append(row)
    return out


def _against(part: str, ways: dict[str, list[Row]], name: str) -> str:
    """How `fdc explore` does beside another way, question by question."""
    said = []
    for limit, called in LIMITS:
        ours, theirs = within(ways[OURS], limit), within(ways[name], limit)
        better, worse = _apart(ways[OURS], ways[name], limit)
        alone = f"{better} questions won, {worse} lost; chance alone: {chance(better, worse):.2g}"
        said.append(f"in {called} {ours} against {theirs} ({alone})")
    return f"`{OURS}` beside {name}, {part} ({len(ways[OURS])} questions): {'; '.join(said)}."


def _apart(ours: Sequence[Row], theirs: Sequence[Row], limit: int) -> tuple[int, int]:
    """The questions that one way has within the limit and the other has not, and the other way round."""
    other = {row.question.id: 0 < row.rank <= limit for row in theirs}
    pairs = [(0 < row.rank <= limit, other[row.question.id]) for row in ours]
    return sum(one and not two for one, two in pairs), sum(two and not one for one, two in pairs)


def _verdict(part: str, ways: dict[str, list[Row]]) -> str:
    plain = [name for name in ways if name.startswith(PLAIN)]
    ours = {limit: within(ways[OURS], limit) for limit, _ in LIMITS}
    lost = [
        f"{name} in {called}"
        for name in plain
        for limit, called in LIMITS
        if ours[limit] <= within(ways[name], limit)
    ]
    if not plain:
        return ""
    if lost:
        return f"**On the {part} part `{OURS}` does not beat {', '.join(lost)}.**"
    return f"**On the {part} part `{OURS}` beats {', '.join(plain)}, in the first place and in the first five.**"


def _others(ways: dict[str, list[Row]], missing: str) -> list[str]:
    out = []
    for name, rows in ways.items():
        if OURS in ways and name.startswith("fdc") and name != OURS:
            counts = [
                f"{within(rows, limit)} in {called} ({OURS}: {within(ways[OURS], limit)})"
                for limit, called in LIMITS
            ]
            seconds = _mean([row.answer.seconds for row in rows]) / (
                _mean([row.answer.seconds for row in ways[OURS]]) or 1.0
            )
            read = _mean([row.answer.read for row in rows]) / (
                _mean([row.answer.read for row in ways[OURS]]) or 1.0
            )
            said = f"{' and '.join(counts)}, over all {len(rows)} questions, in {seconds:.2g} times its CPU seconds"
            out.append(f"`{name}` has {said}, with {read:.2g} times as much to read.")
    if missing:
        out.append(
            f"There is no row with the reranker: it is not installed here. `make bench-research` installs it ({missing})."
        )
    best: dict[str, bool] = {}
    for row in (row for rows in ways.values() for row in rows):
        best[row.question.id] = best.get(row.question.id, False) or 0 < row.rank <= 5
    out.append(
        f"{sum(not found for found in best.values())} of {len(best)} questions are in the first five of no way at all."
    )
    return out


def _citations(rows: Sequence[Row]) -> list[str]:
    cited, wrong = sum(row.answer.cited for row in rows), sum(len(row.answer.wrong) for row in rows)
    if not cited:
        return []
    return [
        f"{cited - wrong:,} of {cited:,} citations of fdc's hold."
        + (" **That must be all of them.**" if wrong else "")
    ]


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0
