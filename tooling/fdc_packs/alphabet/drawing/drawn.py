"""The drawings, figures and the page that show how an alphabet came about: `report` lays them down, and so does the end. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from fdc_toolchain.api.text import narrow

from ..calculus import metrics
from ..model import Alphabet
from ..yamltext import dump
from . import charts, charts_page

FOLDER = "validation/report"
DRAWINGS = ("growth.svg", "acceptance.svg", "coverage.svg", "graph.svg")
PICTURES = tuple(name.replace(".svg", ".png") for name in DRAWINGS)
FILES = (*DRAWINGS, *PICTURES, "metrics.yaml", "index.html")
"""Everything that a report is made of. The pictures are drawn by the code that may load what draws them."""
COUNTED = ("proposed", "accepted", "rejected", "refined", "deferred")
"""What became of candidates, in the words of summaries and of the state's totals."""


def pages(
    alphabet: Alphabet, summaries: Sequence[Mapping[str, object]], concepts: object, rejected: Sequence[Mapping[str, object]],
    title: str, ended: str = "", said: Mapping[str, object] | None = None,
) -> dict[str, str]:  # fmt: skip
    """Every file by its name: four drawings, `metrics.yaml`, `index.html`. `ended`: why the work has ended, where it has.
    `said`: what a dictionary says of a public list of words, where there is one.

    Raises BenchmarkError for concepts that cannot be measured with.
    """
    rows = history(summaries)
    measured = metrics.report(alphabet, concepts, rejected)
    measured["note"] = (
        f"{who(summaries)} {f'The work has ended, {ended}.' if ended else ''}".strip()
    )
    if said is not None:
        measured["public_list"] = {
            "list": "Swadesh's 200 basic meanings (1952)",
            **metrics.public(said),
        }
    drawings = (
        charts.growth(rows),
        charts.acceptance(rows),
        charts.coverage(rows),
        charts.graph(alphabet),
    )
    return {
        **dict(zip(DRAWINGS, drawings, strict=True)),
        "metrics.yaml": dump({"metrics": measured}), "index.html": charts_page.page(alphabet, rows, measured, title),
    }  # fmt: skip


def who(summaries: Iterable[Mapping[str, object]]) -> str:
    """Who answered, in the iterations that are told of."""
    found = {str(summary["answered_by"]) for summary in summaries}
    if not found:
        return "Nothing has been done yet."
    if found == {"embedded"}:
        return "No model was used: every answer was computed from a dictionary."
    if found == {"model"}:
        return "A model gave every answer."
    return "A model gave some answers; others were computed from a dictionary."


def history(summaries: Iterable[Mapping[str, object]]) -> list[dict[str, object]]:
    """A row for each iteration, oldest first, from their summaries alone."""
    out = []
    for summary in summaries:
        counted, after = (narrow(summary[key], dict) for key in ("candidates", "metrics_after"))
        out.append({
            "iteration": summary["iteration"], **{kind: counted[kind] for kind in COUNTED},
            "total": summary["total_primitives"], "coverage": after["coverage_score"], "consistency": after["consistency_score"],
        })  # fmt: skip
    return out
