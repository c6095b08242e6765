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
    from ..packs.alphabet.yamltext import dump

    store = store_of(root)
    base = base_here(store)
    history = history_of(base)
    try:
        measured = metrics.report(base.alphabet, base.concepts)
    except metrics.BenchmarkError as wrong:
        raise Refused(f"{layout.CONCEPTS}: {wrong}") from wrong
    pages = {
        "growth.svg": charts.growth(history), "acceptance.svg": charts.acceptance(history),
        "coverage.svg": charts.coverage(history), "graph.svg": charts.graph(base.alphabet),
        "metrics.yaml": dump({"metrics": measured}),
        "index.html": charts.page(base.alphabet, history, measured, os.path.basename(root)),
    }  # fmt: skip
    files = {f"{output.rstrip('/')}/{name}": text for name, text in pages.items()}
    try:
        durable.replace_all({store.safe(path): text.encode("utf-8") for path, text in files.items()})
    except Outside as wrong:
        raise UsageError(str(wrong)) from wrong
    except OSError as failed:
        raise WorldError(f"{failed.filename or root}: {(failed.strerror or str(failed)).lower()}") from failed
    for path in files:
        click.echo(path)
    return CLEAN


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
