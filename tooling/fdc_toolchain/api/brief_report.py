"""The findings of a check as a short text for an agent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .errors import calling
from .values import CheckResult, Diagnostic

if TYPE_CHECKING:
    from ..diagnostics import diagnostic as below


def brief(result: CheckResult) -> str:
    """The findings with their repairs in words, in at most 1,500 characters, as `fdc lint --format llm` shows them.

    The most serious ones come first; what is left out is counted.
    """
    with calling():
        from ..report.llm import render

        items = [*result.diagnostics, *result.assumptions, *result.fragments]
        return render([_below(item) for item in items], 1)


def _below(item: Diagnostic) -> below.Diagnostic:
    """What the report shows of a finding."""
    from ..diagnostics import diagnostic as below
    from ..diagnostics.span import Span

    at = item.span
    fix = None if item.fix is None else below.Fix(item.fix.title, (), item.fix.safe)
    return below.Diagnostic(
        Span(at.path, at.line, at.column, at.end_line, at.end_column),
        item.code,
        item.message,
        help=item.help,
        fix=fix,
        grade=item.severity,
    )
