"""The tools that work on lists of a plan."""

from __future__ import annotations

from typing import Any

from ...workspace.failure import ToolFailure
from ..context import Context, word


def among(args: dict[str, Any], context: Context) -> Any:
    """`among`: the value, where it is a member of the list. The flow rule sees to it that no model made the list."""
    value, members = word(args, "value"), args["of"]
    if not isinstance(members, list):
        raise ToolFailure("argument", "`of` must be a list")
    if value not in members:
        raise ToolFailure("input", f"`{value[:200]}` is not in the list")
    return value


def append(args: dict[str, Any], context: Context) -> Any:
    """`append`: a new list; the old one is as it was, and what is none counts as its only item."""
    known, item = args.get("to"), args.get("item")
    before = known if isinstance(known, list) else [] if known is None else [known]
    return [*before, *(() if item is None else (item,))]
