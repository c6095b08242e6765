"""What a machine can do, as a report that people and agents read (FDC-65)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from ..named_tuples import NamedTuple

SECTIONS = ("Filesystem", "Network", "Environment variables")


class Check(NamedTuple):
    """One check: its result (`status`), and a sentence about it (`finding`)."""

    section: str
    status: Literal["PASS", "WARN", "FAIL"]
    finding: str


def render(checks: Iterable[Check]) -> str:
    """The report: the three sections, each with a line for each check."""
    known = list(checks)
    lines = []
    for section in SECTIONS:
        lines.append(f"{section}:")
        lines += [
            f"  [{check.status}] {check.finding}" for check in known if check.section == section
        ]
    return "\n".join(lines) + "\n"
