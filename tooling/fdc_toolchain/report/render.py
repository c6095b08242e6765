"""Renders findings as text: the format's name chooses the renderer; only that one is imported."""

from __future__ import annotations

from collections.abc import Callable

from ..diagnostics.diagnostic import Diagnostic
from ..diagnostics.formats import FORMATS
from .terminal.style import PLAIN, Style


def render(
    format: str,
    diagnostics: list[Diagnostic],
    sources: Callable[[str], str | None],
    *,
    style: Style = PLAIN,
    files_checked: int = 0,
    assumptions: bool = False,
    uncounted: int = 0,
    others: int = 0,
) -> str:
    """The report as one text that ends in a line end (or is empty).

    `sources` gives the text of a path as its spans count in it, or None where there is none.
    `assumptions` (list them, not only their number) and `uncounted` (how many there are besides those in
    `diagnostics`) matter to the formats in `COUNTING` only; `style` to `text` and `concise`.
    `others`: how many plans of other tools were checked besides.
    Raises ValueError for a format not in FORMATS.
    """
    if format == "text":
        from .terminal import human

        return human.render(
            diagnostics,
            sources,
            style,
            files_checked,
            assumptions=assumptions,
            uncounted=uncounted,
            others=others,
        )
    if format == "concise":
        from . import concise

        return concise.render(
            diagnostics,
            style,
            files_checked,
            assumptions=assumptions,
            uncounted=uncounted,
            others=others,
        )
    if format == "llm":
        from . import llm

        return llm.render(
            diagnostics, files_checked, assumptions=assumptions, uncounted=uncounted, others=others
        )
    if format == "json":
        from . import json_

        return json_.render(diagnostics, files_checked + others)
    if format == "jsonl":
        from . import json_

        return json_.render_lines(diagnostics, files_checked + others)
    if format == "sarif":
        from . import sarif

        return sarif.render(diagnostics, sources)
    if format == "github":
        from . import github

        return github.render(diagnostics, files_checked + others)
    if format == "junit":
        from . import junit

        return junit.render(diagnostics, files_checked + others)
    if format == "gitlab":
        from .hosts import gitlab

        return gitlab.render(diagnostics, sources)
    raise ValueError(f"unknown output format `{format}`; expected one of {', '.join(FORMATS)}")
