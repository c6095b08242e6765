"""Traces a run that this process drives, if the environment requests it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ...engine.ports import Progress
    from ...journal.sqlite import RunRow
    from .run_outcome import Ended


def spanned(show: Progress, row: RunRow) -> tuple[Progress, Callable[[Ended], None]]:
    """The observer, extended with spans if requested, and a function to call at the end."""
    if not os.environ.get("OTEL_TRACES_EXPORTER"):
        return show, lambda ended: None
    from . import spans

    found = spans.tracer(os.environ, sys.stderr)
    if found is None:
        return show, lambda ended: None
    tracer, close = found
    about = {
        "name": row.name,
        "plan": row.plan,
        "program": row.digest,
        "simulated": "simulate" in row.inputs,
    }
    watch = spans.Spans(show, tracer, about)

    def end(ended: Ended) -> None:
        watch.over(ended.status, None if ended.stop is None else ended.stop["kind"], ended.steps)
        close()

    return watch, end
