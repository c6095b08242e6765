"""The speed of the linter: P1 to P7, in one session."""

from __future__ import annotations

import sys
from collections.abc import Callable

from . import bulk, growth, start
from .rows import Session

SUITES: dict[str, Callable[[Session], None]] = {
    "start": start.measure,  # P1, P2
    "bulk": bulk.measure,  # P3, P4
    "growth": growth.measure,  # P5, P6, P7
}


def measure(session: Session, suites: list[str]) -> None:
    """Runs the suites named, in their order."""
    session.watch()
    for name, suite in SUITES.items():
        if name in suites:
            print(f"benchmarks: {name}", file=sys.stderr)
            suite(session)
