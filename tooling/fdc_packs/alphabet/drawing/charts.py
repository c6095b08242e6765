"""How an alphabet came about, as drawings: growth, acceptance, coverage, the graph of its relationships. Pure.

A history is a list of rows, the oldest first: iteration, proposed, accepted, rejected, refined, deferred, total, coverage,
consistency. What a row lacks is not drawn.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from ..model import Alphabet, Primitive
from . import charts_svg as svg
from .charts_svg import Series

History = Sequence[Mapping[str, Any]]
MOST_BARS = 40
"""Longer histories are drawn in groups of iterations."""
MOST_NODES = 220
"""Of larger alphabets the best connected are drawn, and the drawing says so."""


def growth(history: History, *, alone: bool = True) -> str:
    """The number of primitives after each iteration."""
    totals = [_number(row, "total") for row in history]
    ticks = svg.nice(max((value for value in totals if value is not None), default=0))
    one = Series("primitives", "one", totals)
    body = svg.head("Primitives") + _plane(history, ticks) + svg.line(one, ticks[-1], area=True)
    return svg.drawing(
        "Primitives after each iteration", body, alone=alone, describe=_summary([one])
    )


def acceptance(history: History, *, alone: bool = True) -> str:
    """What became of the candidates of each iteration: accepted, refined, deferred, rejected."""
    size = max(1, math.ceil(len(history) / MOST_BARS))
    groups = [history[start : start + size] for start in range(0, len(history), size)]
    names = [_name(group) for group in groups]
    series = [
        Series(kind, colour, [sum(_number(row, kind) or 0 for row in group) for group in groups])
        for kind, colour in (
            ("accepted", "one"),
            ("refined", "two"),
            ("rejected", "three"),
            ("deferred", "four"),
        )
    ]
    sums = [sum(one.values[number] or 0 for one in series) for number in range(len(groups))]
    ticks = svg.nice(max(sums, default=0))
    body = (
        svg.head("Candidates", series)
        + svg.plane(names, ticks)
        + svg.stacks(series, names, ticks[-1])
    )
    if not history:
        body += _nothing()
    return svg.drawing(
        "What became of the candidates", body, alone=alone, describe=_summary(series, whole=True)
    )


def coverage(history: History, *, alone: bool = True) -> str:
    """The coverage of the test concepts and the consistency after each iteration."""
    series = [
        Series("coverage", "one", [_number(row, "coverage") for row in history]),
        Series("consistency", "two", [_number(row, "consistency") for row in history]),
    ]
    lines = "".join(svg.line(one, 1.0) for one in reversed(series))
    body = (
        svg.head("Coverage and consistency", series)
        + _plane(history, [0, 0.25, 0.5, 0.75, 1], percent=True)
        + lines
    )
    return svg.drawing(
        "Coverage and consistency after each iteration",
        body,
        alone=alone,
        describe=_summary(series),
    )


def _plane(history: History, ticks: Sequence[float], *, percent: bool = False) -> str:
    names = [str(row.get("iteration", number)) for number, row in enumerate(history, 1)]
    return svg.plane(names, ticks, percent=percent) + ("" if history else _nothing())


def _nothing() -> str:
    return svg.text(
        svg.WIDTH / 2, svg.HEIGHT / 2, "no iteration yet", kind="faint", anchor="middle"
    )


def _number(row: Mapping[str, Any], key: str) -> float | None:
    value = row.get(key)
    return (
        float(value)
        if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
        else None
    )


def _name(group: History) -> str:
    first, last = group[0].get("iteration", ""), group[-1].get("iteration", "")
    return str(first) if len(group) == 1 else f"{first}–{last}"


def _summary(series: Sequence[Series], *, whole: bool = False) -> str:
    """What someone who does not see the drawing is told."""
    parts = []
    for one in series:
        known = [value for value in one.values if value is not None]
        if known:
            ends = f"{known[0]:g} at first, {known[-1]:g} at last"
            parts.append(f"{one.name}: {f'{sum(known):g} in all' if whole else ends}")
    return "; ".join(parts) or "no iteration yet"


_KINDS = (
    ("contrasts", "contrasts with", "three"),
    ("presupposes", "presupposes", "one"),
    ("composes", "composes with", "four"),
)


def graph(alphabet: Alphabet, *, alone: bool = True) -> str:
    """The primitives in a ring, domain by domain, with their relationships across it. Presupposing points inwards at what
    is presupposed."""
    shown = _shown(alphabet)
    slots: list[tuple[str, Primitive | None]] = []
    for domain, inside in alphabet.domains.items():
        mine = [one for one in inside if one.id in shown]
        if mine:
            slots += [(domain, None), *((one.label, one) for one in mine)]
    radius = max(90.0, len(slots) * 13 / (2 * math.pi))
    longest = max((len(_short(name)) for name, _ in slots), default=8)
    side = 2 * (radius + 16 + 6.6 * longest)
    middle = side / 2
    places: dict[str, tuple[float, float]] = {}
    labels = []
    for number, (name, one) in enumerate(slots):
        angle = 2 * math.pi * number / len(slots) - math.pi / 2
        x, y = middle + radius * math.cos(angle), middle + radius * math.sin(angle)
        labels.append(_label(x, y, angle, _short(name), bold=one is None))
        if one is not None:
            places[one.id] = x, y
            about = svg.escape(_about(one))
            labels.append(
                f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" class="f-one"><title>{about}</title></circle>'
            )
    body = (
        "".join(_edges(alphabet, places, middle)) + "".join(labels) + _legend(alphabet, shown, side)
    )
    if not slots:
        body += svg.text(middle, middle, "no primitive yet", kind="faint", anchor="middle")
    return svg.drawing(
        "Relationships of the primitives", _TIP + body, width=side, height=side + 52, alone=alone,
        describe=f"{len(shown)} primitives of {len(alphabet.domains)} domains",
    )  # fmt: skip


def _short(name: str) -> str:
    return name if len(name) < 19 else name[:17] + "…"


_TIP = (
    '<defs><marker id="tip" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="6" markerHeight="6" orient="auto">'
    '<path d="M0 1L10 5L0 9Z" class="f-one"/></marker></defs>'
)


def _shown(alphabet: Alphabet) -> set[str]:
    def links(one: Primitive) -> int:
        return (
            len(one.contrasts)
            + len(one.presupposes)
            + len(one.composes)
            + len(alphabet.dependants.get(one.id, ()))
        )

    return {one.id for one in sorted(alphabet, key=lambda one: (-links(one), one.id))[:MOST_NODES]}


def _label(x: float, y: float, angle: float, name: str, *, bold: bool) -> str:
    turn = math.degrees(angle)
    left = math.cos(angle) < 0
    around = f' transform="rotate({turn + 180 if left else turn:.1f} {x:.1f} {y:.1f})"'
    kind, anchor = "bold" if bold else "", "end" if left else "start"
    return svg.text(x + (-8 if left else 8), y + 4, name, kind=kind, anchor=anchor, more=around)


def _about(one: Primitive) -> str:
    return (
        f"{one.label} ({one.id}, {one.prime}): {one.definition}"
        if one.definition
        else f"{one.label} ({one.id}, {one.prime})"
    )


def _edges(
    alphabet: Alphabet, places: Mapping[str, tuple[float, float]], middle: float
) -> list[str]:
    found = []
    done: set[tuple[str, str, str]] = set()
    for one in alphabet:
        for field, words, colour in reversed(_KINDS):
            for other in getattr(one, field):
                if one.id not in places or other not in places or other == one.id:
                    continue
                pair = (
                    (field, one.id, other)
                    if field == "presupposes"
                    else (field, *sorted((one.id, other)))
                )
                if pair in done:
                    continue
                done.add((pair[0], pair[1], pair[2]))
                (x, y), (u, v) = places[one.id], places[other]
                # bent towards the middle, so that neighbours are seen to be linked
                bend = [(a + b) / 2 * 0.45 + middle * 0.55 for a, b in ((x, u), (y, v))]
                dash = {
                    "contrasts": ' stroke-dasharray="4 3"',
                    "presupposes": ' marker-end="url(#tip)"',
                }.get(field, "")
                target = alphabet.get(other)
                said = svg.escape(f"{one.label} {words} {target.label if target else other}")
                found.append(
                    f'<path d="M{x:.1f} {y:.1f}Q{bend[0]:.1f} {bend[1]:.1f} {u:.1f} {v:.1f}" '
                    f'class="edge {field} s-{colour}"{dash}><title>{said}</title></path>'
                )
    return found


def _legend(alphabet: Alphabet, shown: set[str], side: float) -> str:
    parts, x = [], 14.0
    for field, words, colour in _KINDS:
        dash = ' stroke-dasharray="4 3"' if field == "contrasts" else ""
        parts.append(f'<path d="M{x:.1f} {side + 10:.1f}h18" class="line s-{colour}"{dash}/>')
        parts.append(svg.text(x + 23, side + 14, words, kind="faint"))
        x += 40 + 5.8 * len(words)
    if len(shown) < len(alphabet):
        parts.append(
            svg.text(
                14,
                side + 34,
                f"the {len(shown)} best connected of {len(alphabet)} primitives",
                kind="faint",
            )
        )
    return "".join(parts)
