"""Calls a tool of an MCP server: its process begins and ends with the step, in the sandbox that the catalogue describes."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from jsonschema import Draft202012Validator

from ..engine.events import Outcome
from ..program.model import ToolRow
from ..sandbox import python_process
from ..tools import own_code
from ..tools.context import Context, text
from ..workspace.failure import ToolFailure
from ..workspace.files import parts_of

if TYPE_CHECKING:
    from ..certificate.forms.rows import Mcp, Offer, Server

_INSIDE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "inside.py")
_SHOWN = 300
_TEXT, _OBJECT = {"type": "string"}, {"type": "object"}
_OFFER = {
    "type": "object", "required": ["name"],
    "properties": {"name": _TEXT, "description": _TEXT, "inputSchema": _OBJECT, "annotations": _OBJECT},
}  # fmt: skip
_PARTS = {"type": _TEXT, "text": _TEXT, "resource": _OBJECT}
_PART = {"type": "object", "required": ["type"], "properties": _PARTS}
_TOLD = Draft202012Validator({
    "type": "object", "properties": {
        "offers": {"type": "array", "items": _OFFER},
        "result": {"type": "object", "properties": {"content": {"type": "array", "items": _PART}}},
    },
})  # fmt: skip
"""What the process may say. The server runs beside it in the sandbox and can write in its place."""


def call(declared: ToolRow, args: Mapping[str, object], context: Context) -> Outcome:
    """What the server answers: an object where it declares one, else its text. Raises ToolFailure."""
    row = declared["run"]["mcp"]
    server, tool = row["server"], row["tool"]
    given: dict[str, Any] = {"tool": tool, "schema": row["schema"], "says": row["says"]}
    given["arguments"] = arguments(row, args)
    notes: dict[str, Any] = {}
    told = _asked(server, row["command"], given, declared, context, notes)
    if "changed" in told:
        said = "other than when it was locked" if told["changed"] else "no longer there"
        said = f"`{tool}` of the server `{server}` is {said}, so it was not called"
        said += ": look at what changed, then `fdc tools lock`"
        raise ToolFailure("changed", said, None, notes)
    result = told.get("result")
    if result is None:
        raise ToolFailure("error", f"the server `{server}` gave no result", None, notes)
    said = _text(result.get("content", []))
    if result.get("isError"):
        raise ToolFailure("tool", f"`{tool}` of `{server}` failed: {said[:_SHOWN]}", None, notes)
    value = result.get("structuredContent") if declared.get("result") == "object" else said
    return Outcome(value, notes=notes)


def offered(server: str, declared: Server, context: Context) -> list[Offer]:
    """The tools that a server offers now, as it says them. Raises ToolFailure."""
    access: dict[str, list[str]] = {"read": [], **declared.get("access", {})}
    row: ToolRow = {"effect": "once", "trust": "untrusted", "access": access, "parameters": []}
    told = _asked(server, declared["command"], {}, row, context, {})
    offers: list[Offer] | None = told.get("offers")
    if offers is None:
        raise ToolFailure("error", f"the server `{server}` does not say what it offers")
    return offers


def arguments(row: Mcp, args: Mapping[str, object]) -> dict[str, object]:
    """The arguments by the server's names, JSON where its schema asks for that. Raises ToolFailure."""
    names = row.get("names", {})
    given: dict[str, object] = {}
    for name, value in args.items():
        if value is None:
            continue
        if name in row.get("json", ()):
            if isinstance(value, str):
                try:
                    value = json.loads(value)
                except (ValueError, RecursionError) as wrong:
                    said = f"`{name}` takes JSON, and this is none: {wrong}"
                    raise ToolFailure("argument", said) from None
        elif not isinstance(value, (int, float)) or isinstance(value, bool):
            value = text({name: value}, name)
        given[names.get(name, name)] = value
    return given


def _asked(
    server: str,
    command: list[str],
    question: dict[str, Any],
    declared: ToolRow,
    context: Context,
    notes: dict[str, Any],
) -> dict[str, Any]:
    """What the process with the server in it said."""
    program = _program(command[0], context.root.path)
    if program is None:
        said = f"the program `{command[0]}` of the server `{server}` is not there"
        raise ToolFailure("unavailable", said)
    given = json.dumps({**question, "command": [program, *command[1:]]}).encode()
    argv = python_process.isolated(_INSIDE)
    done = own_code.run(f"mcp {server}", argv, given, declared, {}, context, notes)
    last = done.errors[-_SHOWN:].decode("utf-8", "replace").strip()
    try:
        told = json.loads(done.output)
    except (ValueError, RecursionError):
        told = None
    if done.cut or not _TOLD.is_valid(told):
        said = f"the server `{server}` gave no answer"
        raise ToolFailure("error", said, None, {**notes, "output": last})
    if "missing" in told:
        said = "MCP servers need the extra `mcp`: `pip install 'fdc-toolchain[mcp]'`"
        raise ToolFailure("unavailable", said, None, notes)
    if "failed" in told:
        said = f"the server `{server}` failed: {told['failed']}"
        raise ToolFailure("error", said, None, {**notes, "output": last})
    return told


def _program(word: str, root: str) -> str | None:
    """The program of a server: a name, looked for beside fdc and in the system's folders, or a path in the workspace."""
    if "/" in word:
        path = os.path.join(root, *parts_of(word))
        return path if os.access(path, os.X_OK) else None
    beside = os.path.dirname(python_process.interpreter())
    return shutil.which(word, path=f"{beside}:/usr/local/bin:/usr/bin:/bin")


def _text(content: list[dict[str, Any]]) -> str:
    """The texts of an answer; of an image or a file it says what it is."""
    parts = []
    for one in content:
        kind = one["type"]
        if kind == "text":
            parts.append(one.get("text", ""))
        elif kind == "resource" and "text" in one.get("resource", {}):
            parts.append(str(one["resource"]["text"]))
        else:
            parts.append(f"[{kind} {one.get('mimeType', '')}]".replace(" ]", "]"))
    return "\n".join(parts)
