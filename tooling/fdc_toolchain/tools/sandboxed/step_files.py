"""The files that a step of a tool with `run` names: as the proof needs them before it begins, and what a lost step left.

A later attempt of a step, which finds the mark of an earlier one, may find what that one made or took away.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, cast

from ...program.model import ToolRow
from ...workspace.failure import ToolFailure
from .. import intent_files
from ..context import Context


def begin(declared: ToolRow, args: Mapping[str, object], context: Context) -> None:
    """Marks a step that makes or takes away a file. Raises ToolFailure where a file is not as the row says: `create` needs it
    absent, `write` takes either, all others need it."""
    run = declared.get("run")
    if isinstance(run, dict) and ("python" in run or "command" in run):
        _named(cast("list[dict[str, Any]]", declared["parameters"]), args, context)
    if "creates" in declared:
        try:
            there = context.root.kind(created_path(declared, args)) != "missing"
        except ToolFailure as wrong:  # no row says what an argument must not be
            raise ToolFailure("argument", f"what its row says that it creates: {wrong}") from None
        intent_files.write(context.run_folder, context.key, {"there": there})


def created_path(declared: ToolRow, args: Mapping[str, object]) -> str:
    """What a step creates: the path of its row, with the step's arguments in it."""
    return re.sub(r"\{(\w+)\}", lambda name: str(args.get(name[1]) or ""), str(declared["creates"]))


def _named(parameters: list[dict[str, Any]], args: Mapping[str, object], context: Context) -> None:
    uses = [(row["access"], args.get(row["name"])) for row in parameters if "access" in row]
    marked = any(access in ("create", "delete") for access, _ in uses)
    mark = f"{context.key}:files"
    again = marked and intent_files.read(context.run_folder, mark) is not None
    for access, path in uses:
        if not isinstance(path, str):
            continue
        found = context.root.kind(path)
        if found not in ("file", "missing"):
            raise ToolFailure("file", f"`{path}` is not a regular file")
        if access == "create" and found == "file" and not again:
            raise ToolFailure("exists", f"`{path}` already exists")
        if access in ("read", "edit") or access == "delete" and not again:
            if found == "missing":
                raise ToolFailure("missing", f"`{path}` does not exist")
    if marked and not again:
        intent_files.write(context.run_folder, mark, {})
