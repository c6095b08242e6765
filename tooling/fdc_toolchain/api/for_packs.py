"""What authors of tools need: a tool is a function of its arguments and of its surroundings."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from ..engine.ports import Waiting
from ..tools.context import Context
from ..workspace.failure import ToolFailure
from .values import JSON

__all__ = ["Context", "Tool", "ToolFailure", "Waiting"]

Tool: TypeAlias = Callable[[dict[str, JSON], Context], JSON]
"""A tool of a pack. It raises ToolFailure where it did not do what it was asked."""
