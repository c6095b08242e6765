"""How an alphabet came about, as drawings: growth, acceptance, coverage, the graph of its relationships. Pure.

A history is a list of rows, the oldest first: iteration, proposed, accepted, rejected, refined, deferred, total, coverage,
consistency. What a row lacks is not drawn. The drawings are SVG in the colours of the reader's scheme; they have no script, no
font and no address.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from xml.etree import ElementTree as ET

from fdc_toolchain.api.text import visible

from ..model import Alphabet, Primitive

History = Sequence[Mapping[str, object]]
MOST_BARS = 40
"""Longer histories are drawn in groups of iterations."""
MOST_NODES = 220
"""Of larger alphabets the best connected are drawn, and the drawing says so."""
WIDTH, HEIGHT = 360, 220
LEFT, RIGHT, TOP, BOTTOM = 40, 14, 50, 30
"""The room around a chart's plane: figures of the axes, and above it the title and what the colours mean."""
LIGHT = {
    "ink": "#1f2328", "faint": "#59636e", "rim": "#d0d7de", "ground": "#ffffff",
    "one": "#0b6bcb", "two": "#a86400", "three": "#9b3d75", "four": "#7d8590",
}  # fmt: skip
DARK = {
    "ink": "#f0f6fc", "faint": "#a3abb5", "rim": "#3d444d", "ground": "#0d1117",
    "one": "#58a6ff", "two": "#e3b341", "three": "#e085b5", "four": "#7d8590",
}  # fmt: skip
_SHAPE = (
    "svg.chart{font-family:system-ui,'DejaVu Sans',sans-serif;font-size:11px}svg.chart .title{font-size:13px;font-weight:600}"
    "svg.chart .axis{stroke-width:1}svg.chart .line{fill:none;stroke-width:2;stroke-linejoin:round}svg.chart .area{opacity:.15}"
    "svg.chart .bold{font-weight:600}svg.chart .edge{fill:none;stroke-width:1.3;stroke-opacity:.7}"
    "svg.chart .composes{stroke-width:1;stroke-opacity:.3}"
)


def _colours(scheme: Mapping[str, str]) -> str:
    """The rules of one scheme. The colours stand in them as they are: not every viewer of SVG knows CSS variables."""
    rules = [
        ("text", "fill", "ink"),
        (".faint", "fill", "faint"),
        (".axis", "stroke", "rim"),
        (".ground", "fill", "ground"),
    ]
    for name in ("one", "two", "three", "four"):
        rules += [(f".s-{name}", "stroke", name), (f".f-{name}", "fill", name)]
    return "".join(f"svg.chart {what}{{{key}:{scheme[name]}}}" for what, key, name in rules)


PRINTED = f"{_SHAPE}{_colours(LIGHT)}"
"""What every drawing needs in the light scheme alone, for what is made into a picture of points."""
STYLE = f"{PRINTED}@media (prefers-color-scheme:dark){{{_colours(DARK)}}}"
"""The same in the reader's scheme, once in a page."""


class Series(NamedTuple):
    """Values of one kind: its name, its colour (one to four), a value for each place or None where there is none."""

    name: str
    colour: str
    values: Sequence[float | None]


def growth(history: History, *, alone: bool = True) -> str:
    """The number of primitives after each iteration."""
    totals = [_number(row, "total") for row in history]
    ticks = nice(max((value for value in totals if value is not None), default=0))
    root = _svg("Primitives after each iteration", alone)
    return _chart(root, "Primitives", [Series("primitives", "one", totals)], _names(history), ticks)


def acceptance(history: History, *, alone: bool = True) -> str:
    """What became of the candidates of each iteration: accepted, refined, deferred, rejected."""
    size = max(1, math.ceil(len(history) / MOST_BARS))
    groups = [history[start : start + size] for start in range(0, len(history), size)]
    ends = [(group[0].get("iteration", ""), group[-1].get("iteration", "")) for group in groups]
    names = [str(one) if one == other else f"{one}–{other}" for one, other in ends]
    kinds = (("accepted", "one"), ("refined", "two"), ("rejected", "three"), ("deferred", "four"))
    series = [
        Series(kind, colour, [sum(_number(row, kind) or 0 for row in group) for group in groups])
        for kind, colour in kinds
    ]
    highest = max((sum(values) for values in zip(*(one.values for one in series))), default=0)
    root = _svg("What became of the candidates", alone)
    return _chart(root, "Candidates", series, names, nice(highest), bars=True)


def coverage(history: History, *, alone: bool = True) -> str:
    """The coverage of the test concepts and the consistency after each iteration."""
    series = [
        Series(key, colour, [_number(row, key) for row in history])
        for key, colour in (("coverage", "one"), ("consistency", "two"))
    ]
    root = _svg("Coverage and consistency after each iteration", alone)
    return _chart(
        root,
        "Coverage and consistency",
        series,
        _names(history),
        [0, 0.25, 0.5, 0.75, 1],
        percent=True,
    )


def _names(history: History) -> list[str]:
    return [str(row.get("iteration", number)) for number, row in enumerate(history, 1)]


def _number(row: Mapping[str, Any], key: str) -> float | None:
    value = row.get(key)
    known = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    return float(row[key]) if known else None


def nice(highest: float) -> list[float]:
    """Round figures from 0 to the highest or a little beyond, for a number of things."""
    if highest <= 1:
        return [0.0, 1.0]
    rough = highest / 4
    size = 10 ** math.floor(math.log10(rough))
    step = next(size * factor for factor in (1, 2, 2.5, 5, 10) if size * factor >= rough)
    if highest >= 4:
        step = max(1.0, math.ceil(step))
    return [step * number for number in range(math.ceil(highest / step - 1e-9) + 1)]


def _svg(title: str, alone: bool, width: float = WIDTH, height: float = HEIGHT) -> ET.Element:
    """An empty drawing. `alone` is a file by itself, with its colours and a ground; else it stands in a page that has them."""
    size = {"viewBox": f"0 0 {width:g} {height:g}", "width": f"{width:g}", "height": f"{height:g}"}
    root = ET.Element(
        "svg", {"xmlns": "http://www.w3.org/2000/svg", "class": "chart", **size, "role": "img"}
    )
    _put(root, "title", title)
    if alone:
        ET.SubElement(root, "style").text = STYLE
        _put(root, "rect", width=size["width"], height=size["height"], class_="ground")
    return root


def _put(root: ET.Element, tag: str, words: str = "", title: str = "", **attributes: Any) -> None:
    """Adds an element. What cannot be seen, and XML does not allow, is shown by its name."""
    shown = {
        name.rstrip("_").replace("_", "-"): f"{value:.1f}"
        if isinstance(value, float)
        else str(value)
        for name, value in attributes.items()
    }
    element = ET.SubElement(root, tag, shown)
    element.text = visible(words)
    if title:
        _put(element, "title", title)


def _text(
    root: ET.Element,
    x: float,
    y: float,
    words: str,
    kind: str = "faint",
    anchor: str = "start",
    **more: Any,
) -> None:
    _put(root, "text", words, x=float(x), y=float(y), class_=kind, text_anchor=anchor, **more)


def _done(root: ET.Element, describe: str) -> str:
    """The drawing as a text; `describe` is what someone who does not see it is told."""
    description = ET.Element("desc")
    description.text = visible(describe)
    root.insert(1, description)
    return ET.tostring(root, encoding="unicode")


def _chart(
    root: ET.Element,
    heading: str,
    series: Sequence[Series],
    names: Sequence[str],
    ticks: Sequence[float],
    *,
    percent: bool = False,
    bars: bool = False,
) -> str:
    """Heading, what each colour means where there are several, the plane with the figures at both axes, and the series. Of the
    names stand as many as there is room for."""
    x = LEFT - 26.0
    _text(root, x, 18, heading, "title")
    for one in series if len(series) > 1 else ():
        _put(root, "rect", x=x, y=27, width=9, height=9, rx=2, class_=f"f-{one.colour}")
        _text(root, x + 13, 35, one.name)
        x += 24 + 6.2 * len(one.name)
    for tick in ticks:
        y = _height(tick, ticks[-1])
        _put(root, "path", d=f"M{LEFT} {y:.1f}H{WIDTH - RIGHT}", class_="axis")
        _text(root, LEFT - 6, y + 4, f"{tick:.0%}" if percent else f"{tick:g}", anchor="end")
    for number in range(0, len(names), max(1, math.ceil(len(names) / 7))):
        place = _place(number, len(names))
        _text(root, place, HEIGHT - BOTTOM + 15, names[number], anchor="middle")
    if not names:
        _text(root, WIDTH / 2, HEIGHT / 2, "no iteration yet", anchor="middle")
    if bars:
        _stacks(root, series, names, ticks[-1])
    else:
        for one in reversed(series):
            _line(root, one, ticks[-1], area=len(series) == 1)
    parts = []
    for one in series:
        known = [value for value in one.values if value is not None]
        if known:
            ends = f"{known[0]:g} at first, {known[-1]:g} at last"
            parts.append(f"{one.name}: {f'{sum(known):g} in all' if bars else ends}")
    return _done(root, "; ".join(parts) or "no iteration yet")


def _place(number: int, count: int) -> float:
    """Where the n-th of so many values stands: in the middle of its share of the width."""
    return LEFT + (WIDTH - LEFT - RIGHT) * (number + 0.5) / max(1, count)


def _height(value: float, highest: float) -> float:
    """Where a value stands on the vertical axis."""
    return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * value / highest


def _line(root: ET.Element, one: Series, highest: float, *, area: bool) -> None:
    """A series as a line, broken where no value exists; its last value as a dot."""
    count = len(one.values)
    runs: list[list[tuple[float, float]]] = [[]]
    for number, value in enumerate(one.values):
        if value is None:
            runs.append([])
        else:
            runs[-1].append((_place(number, count), _height(value, highest)))
    runs = [run for run in runs if run]
    for run in runs:
        way = "M" + " L".join(f"{x:.1f} {y:.1f}" for x, y in run)
        if area:
            floor = f"{way} L{run[-1][0]:.1f} {HEIGHT - BOTTOM} L{run[0][0]:.1f} {HEIGHT - BOTTOM}Z"
            _put(root, "path", d=floor, class_=f"area f-{one.colour}")
        _put(root, "path", d=way, class_=f"line s-{one.colour}")
    if runs:
        x, y = runs[-1][-1]
        _put(root, "circle", cx=x, cy=y, r=3, class_=f"f-{one.colour}")


def _stacks(
    root: ET.Element, series: Sequence[Series], names: Sequence[str], highest: float
) -> None:
    """Series upon each other as bars; each part says what it is when it is pointed at."""
    wide = min(26.0, (WIDTH - LEFT - RIGHT) / max(1, len(names)) * 0.72)
    for number, name in enumerate(names):
        below = 0.0
        for one in series:
            value = one.values[number]
            if value:
                top, bottom = _height(below + value, highest), _height(below, highest)
                _put(
                    root,
                    "rect",
                    title=f"{name}: {value:g} {one.name}",
                    x=_place(number, len(names)) - wide / 2,
                    y=top,
                    width=wide,
                    height=max(0.5, bottom - top - 1),
                    class_=f"f-{one.colour}",
                )
                below += value


_KINDS: Mapping[str, tuple[str, str, Mapping[str, str]]] = {
    "composes": ("composes with", "four", {}),
    "presupposes": ("presupposes", "one", {"marker_end": "url(#tip)"}),
    "contrasts": ("contrasts with", "three", {"stroke_dasharray": "4 3"}),
}
"""The relationships, those drawn last that are to be seen best: what is said of each, its colour, its line."""


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
    side = 2 * (radius + 16 + 6.6 * max((len(_short(name)) for name, _ in slots), default=8))
    middle = side / 2
    root = _svg("Relationships of the primitives", alone, side, side + 52)
    root.append(ET.fromstring(_TIP))
    angles = [
        2 * math.pi * number / max(1, len(slots)) - math.pi / 2 for number in range(len(slots))
    ]
    rim = [(middle + radius * math.cos(one), middle + radius * math.sin(one)) for one in angles]
    _edges(root, alphabet, {one.id: place for (_, one), place in zip(slots, rim) if one}, middle)
    for (name, one), angle, (x, y) in zip(slots, angles, rim):
        left, turn = math.cos(angle) < 0, math.degrees(angle)
        around = f"rotate({turn + 180 * left:.1f} {x:.1f} {y:.1f})"
        anchor, kind = "end" if left else "start", "" if one else "bold"
        _text(root, x + (-8 if left else 8), y + 4, _short(name), kind, anchor, transform=around)
        if one is not None:
            said = (
                f"{one.label} ({one.id}, {one.prime}){': ' * bool(one.definition)}{one.definition}"
            )
            _put(root, "circle", title=said, cx=x, cy=y, r=3, class_="f-one")
    x = 14.0
    for words, colour, look in reversed(list(_KINDS.values())):
        dash = {key: value for key, value in look.items() if key == "stroke_dasharray"}
        _put(root, "path", d=f"M{x:.1f} {side + 10:.1f}h18", class_=f"line s-{colour}", **dash)
        _text(root, x + 23, side + 14, words)
        x += 40 + 5.8 * len(words)
    if len(shown) < len(alphabet):
        _text(root, 14, side + 34, f"the {len(shown)} best connected of {len(alphabet)} primitives")
    if not slots:
        _text(root, middle, middle, "no primitive yet", anchor="middle")
    return _done(root, f"{len(shown)} primitives of {len(alphabet.domains)} domains")


def _short(name: str) -> str:
    return name if len(name) < 19 else name[:17] + "…"


_TIP = (
    '<defs><marker id="tip" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="6" markerHeight="6" orient="auto">'
    '<path d="M0 1L10 5L0 9Z" class="f-one"/></marker></defs>'
)


def _shown(alphabet: Alphabet) -> set[str]:
    def links(one: Primitive) -> int:
        users = alphabet.dependants.get(one.id, ())
        return sum(map(len, (one.contrasts, one.presupposes, one.composes, users)))

    return {one.id for one in sorted(alphabet, key=lambda one: (-links(one), one.id))[:MOST_NODES]}


def _edges(
    root: ET.Element, alphabet: Alphabet, places: Mapping[str, tuple[float, float]], middle: float
) -> None:
    done: set[tuple[str, ...]] = set()
    for one in alphabet:
        for field, (words, colour, look) in _KINDS.items():
            for other in getattr(one, field):
                ends = [one.id, other] if field == "presupposes" else sorted((one.id, other))
                known = one.id in places and other in places and other != one.id
                if not known or (field, *ends) in done:
                    continue
                done.add((field, *ends))
                (x, y), (u, v) = places[one.id], places[other]
                # bent towards the middle, so that neighbours are seen to be linked
                a, b = (
                    (first + last) / 2 * 0.45 + middle * 0.55 for first, last in ((x, u), (y, v))
                )
                _put(
                    root, "path", title=f"{one.label} {words} {alphabet.primitives[other].label}",
                    d=f"M{x:.1f} {y:.1f}Q{a:.1f} {b:.1f} {u:.1f} {v:.1f}", class_=f"edge {field} s-{colour}", **look,
                )  # fmt: skip


def printed(drawn: str) -> str:
    """A drawing that stands alone, in the light scheme whatever the reader's is."""
    return drawn.replace(f"<style>{STYLE}</style>", f"<style>{PRINTED}</style>")
