"""Runs out of their records, and pages about them."""

from __future__ import annotations

from ..engine.events import Record
from ..engine.fold import fold
from ..journal.sqlite import RunRow, Store
from ..program.codec import ProgramError, canonical, encode, identity, load
from ..program.model import Program, ToolRow
from ..report.run_page import TEMPLATES, environment, source_hash
from ..runs.run_driver import reading, the_run

__all__ = [
    "TEMPLATES", "environment", "fold", "reading", "Record", "RunRow", "source_hash", "Store", "the_run",
    "Program", "ProgramError", "ToolRow", "canonical", "encode", "identity", "load",
]  # fmt: skip
