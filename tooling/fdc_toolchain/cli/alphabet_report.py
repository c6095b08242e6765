"""`fdc alphabet report`: how the work went, as drawings, tables and one page."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from .alphabet import base_here, store_of
from .exits import CLEAN, Refused, UsageError, WorldError

if TYPE_CHECKING:
    from ..packs.alphabet.state import Base


def draw(root: str, output: str) -> int:
    """Writes the pages below `output`; the exit code."""
    from .. import durable
    from ..effects.alphabet_store import Refused as Outside
    from ..packs.alphabet import charts, layout, metrics
    from ..packs.alphabet.comparisons import comparisons
    from ..packs.alphabet.yamltext import dump

    store = store_of(root)
    base = base_here(store)
    history = history_of(base)
    try:
        measured = metrics.report(base.alphabet, base.concepts, base.rejected)
    except metrics.BenchmarkError as wrong:
        raise Refused(f"{layout.CONCEPTS}: {wrong}") from wrong
    measured["note"] = _who(base)
    pages: dict[str, str | bytes] = {
        "growth.svg": charts.growth(history), "acceptance.svg": charts.acceptance(history),
        "coverage.svg": charts.coverage(history), "graph.svg": charts.graph(base.alphabet),
        "metrics.yaml": dump({"metrics": measured}),
        "index.html": charts.page(base.alphabet, history, measured, os.path.basename(root)),
    }  # fmt: skip
    pages |= _pngs({name: text for name, text in pages.items() if name.endswith(".svg") and isinstance(text, str)})
    files = {f"{output.rstrip('/')}/{name}": text for name, text in pages.items()}
    files |= {f"validation/comparisons/{name}": text for name, text in comparisons(base.alphabet).items()}
    try:
        data = {path: text.encode("utf-8") if isinstance(text, str) else text for path, text in files.items()}
        durable.replace_all({store.safe(path): text for path, text in data.items()})
    except Outside as wrong:
        raise UsageError(str(wrong)) from wrong
    except OSError as failed:
        raise WorldError(f"{failed.filename or root}: {(failed.strerror or str(failed)).lower()}") from failed
    for path in files:
        click.echo(path)
    return CLEAN


def _pngs(drawings: dict[str, str]) -> dict[str, bytes]:
    """The drawings as PNG, where the extra that does this is installed; else none, and a sentence."""
    from ..effects import raster
    from ..packs.alphabet.charts_svg import printed

    try:
        return {name.replace(".svg", ".png"): raster.png(printed(text)) for name, text in drawings.items()}
    except LookupError as missing:
        click.echo(str(missing.args[0]), err=True)
        return {}


def _who(base: Base) -> str:
    """Who answered, in the iterations that are told of."""
    found = {str(summary["answered_by"]) for summary in base.summaries}
    if not found:
        return "Nothing has been done yet."
    if found == {"embedded"}:
        return "No model was used: every answer was computed from a dictionary."
    if found == {"model"}:
        return "A model gave every answer."
    return "A model gave some answers; others were computed from a dictionary."


def history_of(base: Base) -> list[dict[str, Any]]:
    """A row for each of the last iterations, oldest first, from their summaries alone."""
    out = []
    for summary in base.summaries:
        counted, after = summary["candidates"], summary["metrics_after"]
        out.append({
            "iteration": summary["iteration"], **{kind: counted[kind] for kind in _COUNTED},
            "total": summary["total_primitives"], "coverage": after["coverage_score"], "consistency": after["consistency_score"],
        })  # fmt: skip
    return out


_COUNTED = ("proposed", "accepted", "rejected", "refined", "deferred")
