"""Renders findings as text: the format's name chooses the renderer; only that one is imported."""

from __future__ import annotations

from collections.abc import Callable

from ..diagnostics.diagnostic import Diagnostic
from ..diagnostics.formats import FORMATS
from .report import Report
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
    """The report (`Report`) as one text that ends in a line end (or is empty).

    `assumptions` and `uncounted` matter to the formats in `COUNTING` only; `style` to `text` and `concise`.
    Raises ValueError for a format not in FORMATS.
    """
    if format == "text":
        from .terminal.human import render as rendered
    elif format == "concise":
        from .concise import render as rendered
    elif format == "llm":
        from .llm import render as rendered
    elif format == "json":
        from .json_ import render as rendered
    elif format == "jsonl":
        from .json_ import render_lines as rendered
    elif format == "sarif":
        from .sarif import render as rendered
    elif format == "github":
        from .hosts.github import render as rendered
    elif format == "junit":
        from .junit import render as rendered
    elif format == "gitlab":
        from .hosts.gitlab import render as rendered
    else:
        raise ValueError(f"unknown output format `{format}`; expected one of {', '.join(FORMATS)}")
    return rendered(
        Report(diagnostics, sources, style, files_checked, assumptions, uncounted, others)
    )
