"""The tools that work on lists of a plan."""

from __future__ import annotations

from collections.abc import Mapping

from ...workspace.failure import ToolFailure
from ..context import Context, word


def among(args: Mapping[str, object], context: Context) -> object:
    """`among`: the value, if the list contains it. The flow rule ensures that a model did not make the list."""
    value, members = word(args, "value"), args["of"]
    if not isinstance(members, list):
        raise ToolFailure("argument", "`of` must be a list")
    if value not in members:
        raise ToolFailure("input", f"`{value[:200]}` is not in the list")
    return value


def append(args: Mapping[str, object], context: Context) -> object:
    """`append`: a new list; the old one is unchanged. A value that is not a list counts as a list of one item."""
    known, item = args.get("to"), args.get("item")
    before = known if isinstance(known, list) else [] if known is None else [known]
    return [*before, *(() if item is None else (item,))]
