"""Tools of packs: a tool is a function of its arguments and of its surroundings.

def count(args: dict[str, JSON], context: Context) -> JSON:
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from ..engine.events import Outcome, Perform
from ..engine.ports import Waiting, WorldFailed
from ..runs.nested_plan import compiled, prove
from ..tools import intent_files
from ..tools.context import Context, text, word
from ..tools.tool_rows import TOOLS
from ..tools.web import web_pages, web_tools
from ..workspace.failure import ToolFailure, from_os
from .values import JSON

__all__ = [
    "Context", "Outcome", "Perform", "TOOLS", "Tool", "ToolFailure", "Waiting", "WorldFailed", "compiled", "from_os",
    "intent_files", "prove", "text", "web_pages", "web_tools", "word",
]  # fmt: skip

Tool: TypeAlias = Callable[[dict[str, JSON], Context], JSON]
"""A tool of a pack. It raises ToolFailure where it did not do what it was asked."""
