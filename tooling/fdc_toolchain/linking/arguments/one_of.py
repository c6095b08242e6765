"""Tools that a model may ask for: `run: {one_of: [...]}` performs one call of a closed list, `calls` of a prompt names it.

A call is `{"tool": NAME, "args": {...}}`. The plan gives the row's own parameters, other than `call` and `files`, to each
listed tool that has a parameter of that name; the model fills in all others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ...narrow import narrow
from ...program.model import ToolRow
from ..catalogue import Tool

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ...certificate.forms.rows import Parameter

MOST = 8
"""Maximum calls in one reply of a model, where the row does not state it (`most`)."""

_FREE = (None, "data", "path")


def unfit(row: ToolRow, tools: Mapping[str, Tool]) -> Iterator[str]:
    """Why a model may not ask for what a row lists, as sentences."""
    for name in row["run"]["one_of"]:
        tool = tools.get(name)
        if tool is None or tool.broken or tool.forbidden:
            yield f"no tool `{name}` can be called"
        elif tool.effect not in ("pure", "read") or tool.trust not in ("trusted", "workspace"):
            yield f"`{name}` does more than read the workspace"
        elif "run" in tool.row or tool.row.get("cost"):
            yield f"`{name}` is performed by a command, a model or code of the workspace"
        elif any(item.sink not in _FREE for item in tool.parameters):
            yield f"`{name}` has a parameter that a model may not choose"
        elif tool.clears:
            yield f"`{name}` clears text"


def no_calls(name: str, tools: Mapping[str, Tool]) -> str:
    """Why a prompt cannot offer the calls of a tool; empty where it can."""
    tool = tools.get(name)
    if tool is None or "one_of" not in (tool.row.get("run") or {}):
        return f"`{name}` is not a tool that performs `one_of` a list"
    return next(unfit(tool.row, tools), "")


def offered(row: ToolRow, tools: Mapping[str, Tool]) -> str:
    """The list of tools, as a prompt shows it."""
    lines = []
    for name in row["run"]["one_of"]:
        tool = tools[name]
        words = [
            parameter["name"]
            + ("" if parameter.get("required", True) else " (may be left out)")
            + f": {_KINDS.get(parameter.get('type') or parameter['kind'], 'text')}"
            for parameter in _model_parameters(row, tool)
        ]
        lines.append(f"- {name}: {tool.row['summary']}. Arguments: {'; '.join(words) or 'none'}")
    return "\n".join(lines)


_KINDS = {
    "path": "the path of a listed file",
    "glob": "a folder, or a glob such as src/**/*.py",
    "number": "a whole number",
    "count": "a whole number from 1",
}


def schema(
    base: Mapping[str, object], row: ToolRow, tools: Mapping[str, Tool]
) -> dict[str, object]:
    """The JSON Schema of a reply: what `base` asks for, and `calls`."""
    calls = {
        "type": "array",
        "maxItems": row["run"].get("most", MOST),
        "items": {"anyOf": [_call(row, tools[name]) for name in row["run"]["one_of"]]},
    }
    return {
        **base,
        "type": "object",
        "properties": {**narrow(base.get("properties", {}), dict), "calls": calls},
        "required": [*narrow(base.get("required", []), list), "calls"],
    }


def _call(row: ToolRow, tool: Tool) -> dict[str, Any]:
    parameters = _model_parameters(row, tool)
    args = {
        "type": "object",
        "properties": {
            parameter["name"]: {"type": "integer" if parameter["kind"] == "number" else "string"}
            for parameter in parameters
        },
        "required": [
            parameter["name"] for parameter in parameters if parameter.get("required", True)
        ],
        "additionalProperties": False,
    }
    return {
        "type": "object",
        "properties": {"tool": {"const": tool.name}, "args": args},
        "required": ["tool", "args"],
        "additionalProperties": False,
    }


def _model_parameters(row: ToolRow, tool: Tool) -> list[Parameter]:
    """The parameters that the model fills in."""
    set_by_plan = {item["name"] for item in row["parameters"]} - {"call", "files"}
    return [item for item in tool.row["parameters"] if item["name"] not in set_by_plan]
