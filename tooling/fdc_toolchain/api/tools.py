"""Tools of the packs that come with fdc: the whole context of a step, failures, and calls of the core's own tools.

`Context` here is the class of the core; what any pack can rely on is `fdc_toolchain.api.Context`.
"""

from __future__ import annotations

from ..engine.events import Outcome, Perform
from ..engine.ports import Waiting, WorldFailed
from ..tools import intent_files
from ..tools.context import Context, NestedPlan, object_of, text, word
from ..tools.plans.plan_text import Proof, proved
from ..tools.tool_rows import TOOLS
from ..tools.web import web_pages, web_tools
from ..workspace.failure import ToolFailure, from_os

__all__ = [
    "Context", "NestedPlan", "Outcome", "Perform", "Proof", "TOOLS", "ToolFailure", "Waiting", "WorldFailed",
    "from_os", "intent_files", "object_of", "proved", "text", "web_pages", "web_tools", "word",
]  # fmt: skip
