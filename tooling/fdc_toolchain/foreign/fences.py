"""Plans of our own in Markdown: each ```` ```plan ```` block is judged as a plan, with places in the Markdown."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ..diagnostics.diagnostic import Diagnostic, Label
from ..diagnostics.span import Span
from ..text.plan_fences import fences
from . import kinds
from .model import Found

if TYPE_CHECKING:
    from ..linking.project.settings import Settings

MOST_BLOCKS = 200


def read(path: str, text: str, root: str, settings: Settings) -> Found:
    """What is found in the plans of a Markdown text; none of it where there are none."""
    blocks = fences(text) if "plan" in text.lower() else []
    lines = text.split("\n")
    found = [
        item
        for block in blocks[:MOST_BLOCKS]
        for item in _judged(path, block.text, block.line - 1, lines, root, settings)
    ]
    return Found(kinds.MARKDOWN, found, [], [], len(blocks))


def _judged(
    path: str, content: str, above: int, lines: list[str], root: str, settings: Settings
) -> list[Diagnostic]:
    """The findings about one block that begins below line `above` (from 1)."""
    from ..check import check
    from ..linking.link import Linker

    checked = check(Linker(root, settings), [path], {path: content.encode("utf-8", "replace")})
    rows = content.split("\n")

    def moved(span: Span) -> Span:
        if span.path != path:
            return span
        begin, end = span.line + above, span.end_line + above
        first = span.column + _indent(rows, lines, span.line, begin)
        return Span(
            path, begin, first, end, span.end_column + _indent(rows, lines, span.end_line, end)
        )

    def all_moved(labels: Iterable[Label]) -> tuple[Label, ...]:
        return tuple(label._replace(span=moved(label.span)) for label in labels)

    return [
        item._replace(span=moved(item.span), labels=all_moved(item.labels), trace=all_moved(item.trace), fix=None)
        for item in [*checked.diagnostics, *checked.assumptions, *checked.fragments]
    ]  # fmt: skip


def _indent(rows: list[str], lines: list[str], inside: int, line: int) -> int:
    """By how many characters a line of the block is further right in the Markdown."""
    if not (0 < inside <= len(rows) and 0 < line <= len(lines)):
        return 0
    return max(0, len(lines[line - 1]) - len(rows[inside - 1]))
