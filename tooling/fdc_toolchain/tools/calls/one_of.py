"""`run: {one_of: [...]}`: one call that a model requested, as a step of the plan.

The call can access only the files that the plan listed, within the plans' `allow`. An error such as an invalid
pattern or an unlisted file is the step's result, for the model to read; an environment failure stops the run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from ...engine.events import Outcome
from ...program.model import ToolRow
from ...workspace import capability
from ...workspace.failure import ToolFailure
from .. import arguments, tool_rows
from ..context import Context
from ..results import as_declared, outcome_of

Function = Callable[[tool_rows.Row], Callable[..., object]]


def perform(
    declared: ToolRow,
    args: Mapping[str, object],
    tools: Mapping[str, object],
    context: Context,
    function: Function,
) -> Outcome:
    """The result of the call: `{call, got}`, or `{call, failed, why}`."""
    call = args["call"]
    try:
        outcome = _called(declared, args, tools, context, function)
        if outcome.failure is not None:
            raise ToolFailure(*outcome.failure)
    except ToolFailure as failed:
        said = {"call": call, "failed": failed.kind, "why": str(failed)}
        return Outcome(said, None, failed.usage, failed.notes)
    return outcome._replace(value={"call": call, "got": outcome.value})


def _called(
    declared: ToolRow,
    args: Mapping[str, object],
    tools: Mapping[str, Any],
    context: Context,
    function: Function,
) -> Outcome:
    call, files = args["call"], args["files"]
    if not isinstance(files, list) or not all(isinstance(file, str) for file in files):
        raise ToolFailure("argument", "`files` must be a list of paths")
    if not isinstance(call, dict) or not isinstance(call.get("args"), dict):
        raise ToolFailure("argument", 'a call is {"tool": NAME, "args": {...}}')
    name = str(call.get("tool"))
    listed = declared["run"]["one_of"]
    if name not in listed:
        raise ToolFailure("argument", f"no such tool; the tools are {', '.join(listed)}")
    row, done = tools[name], tool_rows.tool(name)
    if done is None:
        raise ToolFailure("unavailable", f"`{name}` is declared, but it has no implementation")
    known = {parameter["name"] for parameter in row["parameters"]}
    more = sorted({*call["args"]} - known)
    if more:
        raise ToolFailure("argument", f"`{name}` has no argument `{more[0][:80]}`")
    given = {
        **call["args"],
        **{key: value for key, value in args.items() if key in known - {"call", "files"}},
    }
    given = arguments.checked(row, given)
    capability.check(row, given, context.grants)
    inner = replace(context, tool=row, root=context.root.only(files))
    return as_declared(name, row, outcome_of(function(done)(given, inner)))
