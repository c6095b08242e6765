"""The rules of protocols on every run. What proves them is loaded where protocols state some."""

from __future__ import annotations

from collections.abc import Iterator

from ...diagnostics.diagnostic import Diagnostic
from ..solver.rule import Context


def check(context: Context) -> Iterator[Diagnostic]:
    """The violations and possible violations of the rules by every root."""
    if context.linker.obligations:
        from .proved import findings

        yield from findings(context, context.linker.obligations)
