"""Tasks of agents: the activity log, what a workspace defines, plans of research and of changes."""

from __future__ import annotations

from ..agent.host.tool_context import opened
from ..agent.lessons.code_change import path_fault
from ..agent.lessons.research_plan import clean, quoted, research_plan
from ..tasks import activity_log
from ..tasks.activity import Task, entry
from ..tasks.symbols import GRAPH, SYMBOLS, Symbol, read_edges, read_symbols

__all__ = [
    "GRAPH", "SYMBOLS", "activity_log", "clean", "entry", "opened", "path_fault", "quoted", "read_edges",
    "read_symbols", "research_plan", "Symbol", "Task",
]  # fmt: skip
