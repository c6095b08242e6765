"""A few lines of SVG: axes, lines, bars, in the colours of the reader's scheme. No script, no font, no address. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape as quoted
from typing import NamedTuple

from fdc_toolchain.api.text import visible

WIDTH, HEIGHT = 360, 220
LEFT, RIGHT, TOP, BOTTOM = 40, 14, 50, 30
"""The room around a chart's plane: figures of the axes, and above it the title and what the colours mean."""

_LIGHT = {
    "ink": "#1f2328", "faint": "#59636e", "rim": "#d0d7de", "ground": "#ffffff",
    "one": "#0b6bcb", "two": "#a86400", "three": "#9b3d75", "four": "#7d8590",
}  # fmt: skip
_DARK = {
    "ink": "#f0f6fc", "faint": "#a3abb5", "rim": "#3d444d", "ground": "#0d1117",
    "one": "#58a6ff", "two": "#e3b341", "three": "#e085b5", "four": "#7d8590",
}  # fmt: skip


_SHAPE = (
    "svg.chart{font-family:system-ui,'DejaVu Sans',sans-serif;font-size:11px}svg.chart .title{font-size:13px;font-weight:600}"
    "svg.chart .axis{stroke-width:1}svg.chart .line{fill:none;stroke-width:2;stroke-linejoin:round}svg.chart .area{opacity:.15}"
    "svg.chart .bold{font-weight:600}svg.chart .edge{fill:none;stroke-width:1.3;stroke-opacity:.7}"
    "svg.chart .composes{stroke-width:1;stroke-opacity:.3}"
)


def _colours(scheme: dict[str, str]) -> str:
    """The rules of one scheme. The colours stand in them as they are: not every viewer of SVG knows CSS variables."""
    rules = [
        f"svg.chart text{{fill:{scheme['ink']}}}",
        f"svg.chart .faint{{fill:{scheme['faint']}}}",
    ]
    rules += [
        f"svg.chart .axis{{stroke:{scheme['rim']}}}",
        f"svg.chart .ground{{fill:{scheme['ground']}}}",
    ]
    for name in ("one", "two", "three", "four"):
        rules.append(
            f"svg.chart .s-{name}{{stroke:{scheme[name]}}}svg.chart .f-{name}{{fill:{scheme[name]}}}"
        )
    return "".join(rules)


STYLE = f"{_SHAPE}{_colours(_LIGHT)}@media (prefers-color-scheme:dark){{{_colours(_DARK)}}}"
"""What every drawing needs, once in a page."""
PRINTED = f"{_SHAPE}{_colours(_LIGHT)}"
"""The same in the light scheme alone, for what is made into a picture of points."""


def _variables(scheme: dict[str, str]) -> str:
    return "".join(f"--{name}:{colour};" for name, colour in scheme.items())


SCHEMES = f":root{{{_variables(_LIGHT)}}}@media (prefers-color-scheme:dark){{:root{{{_variables(_DARK)}}}}}"
"""The same colours as CSS variables, for the page around the drawings."""


def escape(text: str) -> str:
    """Text for an element or an attribute; what cannot be seen, and XML does not allow, is shown by its name."""
    return quoted(visible(text))


class Series(NamedTuple):
    """Values of one kind: its name, its colour (one to four), a value for each place or None where there is none."""

    name: str
    colour: str
    values: Sequence[float | None]


def drawing(
    title: str,
    body: str,
    *,
    width: float = WIDTH,
    height: float = HEIGHT,
    alone: bool = True,
    describe: str = "",
) -> str:
    """A drawing with its title. `alone` is a file by itself, with its colours and a ground; else it stands in a page that
    has them."""
    ground = f'<rect width="{width:g}" height="{height:g}" class="ground"/>' if alone else ""
    style = f"<style>{STYLE}</style>" if alone else ""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="chart" viewBox="0 0 {width:g} {height:g}" width="{width:g}" '
        f'height="{height:g}" role="img"><title>{escape(title)}</title><desc>{escape(describe)}</desc>{style}{ground}{body}</svg>'
    )


def text(
    x: float, y: float, words: str, *, kind: str = "", anchor: str = "start", more: str = ""
) -> str:
    """Words at a place."""
    return f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}" text-anchor="{anchor}"{more}>{escape(words)}</text>'


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


def head(title: str, series: Sequence[Series] = ()) -> str:
    """The title, and what each colour means where there are several."""
    parts = [text(LEFT - 26, 18, title, kind="title")]
    x = LEFT - 26.0
    for one in series if len(series) > 1 else ():
        parts.append(
            f'<rect x="{x:.1f}" y="27" width="9" height="9" rx="2" class="f-{one.colour}"/>'
        )
        parts.append(text(x + 13, 35, one.name, kind="faint"))
        x += 24 + 6.2 * len(one.name)
    return "".join(parts)


def plane(names: Sequence[str], ticks: Sequence[float], *, percent: bool = False) -> str:
    """The lines of a chart's plane with the figures at both axes; of the names as many as there is room for."""
    parts = []
    for tick in ticks:
        y = height_of(tick, ticks[-1])
        parts.append(f'<path d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}" class="axis"/>')
        parts.append(
            text(
                LEFT - 6,
                y + 4,
                f"{tick:.0%}" if percent else f"{tick:g}",
                kind="faint",
                anchor="end",
            )
        )
    step = max(1, math.ceil(len(names) / 7))
    for number in range(0, len(names), step):
        parts.append(
            text(
                place_of(number, len(names)),
                HEIGHT - BOTTOM + 15,
                names[number],
                kind="faint",
                anchor="middle",
            )
        )
    return "".join(parts)


def place_of(number: int, count: int) -> float:
    """Where the n-th of so many values stands: in the middle of its share of the width."""
    return LEFT + (WIDTH - LEFT - RIGHT) * (number + 0.5) / max(1, count)


def height_of(value: float, highest: float) -> float:
    """Where a value stands on the vertical axis."""
    return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * value / highest


def line(one: Series, highest: float, *, area: bool = False) -> str:
    """A series as a line, broken where no value exists; its last value as a dot."""
    count = len(one.values)
    runs: list[list[tuple[float, float]]] = [[]]
    for number, value in enumerate(one.values):
        if value is None:
            runs.append([])
        else:
            runs[-1].append((place_of(number, count), height_of(value, highest)))
    parts = []
    for run in filter(None, runs):
        way = " ".join(
            f"{'L' if number else 'M'}{x:.1f} {y:.1f}" for number, (x, y) in enumerate(run)
        )
        if area:
            floor = HEIGHT - BOTTOM
            parts.append(
                f'<path d="{way} L{run[-1][0]:.1f} {floor} L{run[0][0]:.1f} {floor}Z" class="area f-{one.colour}"/>'
            )
        parts.append(f'<path d="{way}" class="line s-{one.colour}"/>')
    points = [point for run in runs for point in run]
    if points:
        x, y = points[-1]
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" class="f-{one.colour}"/>')
    return "".join(parts)


def stacks(series: Sequence[Series], names: Sequence[str], highest: float) -> str:
    """Series upon each other as bars; each part says what it is when it is pointed at."""
    count = len(names)
    wide = min(26.0, (WIDTH - LEFT - RIGHT) / max(1, count) * 0.72)
    parts = []
    for number in range(count):
        below = 0.0
        for one in series:
            value = one.values[number] or 0
            if value:
                top, bottom = height_of(below + value, highest), height_of(below, highest)
                parts.append(
                    f'<rect x="{place_of(number, count) - wide / 2:.1f}" y="{top:.1f}" width="{wide:.1f}" '
                    f'height="{max(0.5, bottom - top - 1):.1f}" class="f-{one.colour}">'
                    f"<title>{escape(names[number])}: {value:g} {escape(one.name)}</title></rect>"
                )
                below += value
    return "".join(parts)


def printed(drawn: str) -> str:
    """A drawing that stands alone, in the light scheme whatever the reader's is."""
    return drawn.replace(f"<style>{STYLE}</style>", f"<style>{PRINTED}</style>")
