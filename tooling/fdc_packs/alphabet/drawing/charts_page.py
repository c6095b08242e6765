"""One HTML page that shows an alphabet: figures, drawings, every primitive. Self-contained, no script. Pure."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from typing import Any

from fdc_toolchain.api.text import narrow, visible

from ..model import Alphabet
from ..schemas import DATA
from . import charts


def page(
    alphabet: Alphabet, history: charts.History, report: Mapping[str, object], title: str
) -> str:
    """The page. `report` is what `metrics.report` gives; what it lacks is left out. A `note` in it is said below the title."""
    from jinja2 import Environment, FileSystemLoader

    jinja = Environment(
        loader=FileSystemLoader(DATA), autoescape=True, trim_blocks=True, lstrip_blocks=True,
        finalize=lambda value: visible(value) if type(value) is str else value,
    )  # fmt: skip
    jinja.filters |= {"percent": _percent, "coded": _coded}
    checks = _part(report, "consistency").get("checks", {})
    drawings = (charts.growth, charts.acceptance, charts.coverage)
    made: str = jinja.get_template("page.jinja").render(
        alphabet=alphabet,
        report=report,
        title=title,
        light=charts.LIGHT,
        dark=charts.DARK,
        style=charts.STYLE,
        figures=_figures(alphabet, history, report),
        drawings=[draw(history, alone=False) for draw in drawings],
        graph=charts.graph(alphabet, alone=False),
        gaps=[row.values() for row in _part(report, "coverage").get("gaps", ())[:12]],
        findings=[one for row in checks.values() for one in row["findings"]][:8],
    )
    return made


def _figures(
    alphabet: Alphabet, history: charts.History, report: Mapping[str, Any]
) -> list[tuple[str, str]]:
    last = history[-1] if history else {}
    totals = [
        sum(narrow(row.get(key) or 0, int) for row in history)
        for key in ("accepted", "rejected", "refined", "deferred")
    ]
    covered = _part(report, "coverage").get("coverage", last.get("coverage"))
    sound = _part(report, "consistency").get("overall_score", last.get("consistency"))
    rows = [
        (str(len(alphabet)), "primitives"), (str(len(alphabet.domains)), "domains"), (str(len(history)), "iterations"),
        (_percent(totals[0] / sum(totals)) if sum(totals) else "–", "of the candidates accepted"),
        (_percent(covered), "of the test concepts expressible"), (_percent(sound), "consistent"),
    ]  # fmt: skip
    if report.get("public_list"):
        rows.insert(5, (_percent(report["public_list"]["coverage"]), "of Swadesh's 200 meanings"))
    return rows


def _part(report: Mapping[str, object], name: str) -> dict[str, Any]:
    return narrow(report.get(name) or {}, dict)


def _percent(value: Any) -> str:
    return f"{value:.0%}" if isinstance(value, int | float) else "–"


def _coded(text: str) -> str:
    """A sentence as HTML, with what stands in backquotes as code."""
    return re.sub(r"`([^`]*)`", r"<code>\1</code>", html.escape(visible(text)))
