"""The row of a catalogue for a tool that a server offers.

What a server says of itself is not believed where it would allow more: the result is text from outside, an argument may choose
anything, and the step happens once. `tools` of the server in the catalogue may say another effect, no looser than its own hints.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from jsonschema import Draft202012Validator, SchemaError

from ..program.model import ToolRow
from .inside import digest, hinted

if TYPE_CHECKING:
    from ..certificate.forms.rows import Mcp, Offer, Parameter, Server

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,127}")
_PARAMETER = re.compile(r"[a-z_][a-z0-9_]{0,127}")


class Unfit(Exception):
    """The tool cannot be used in a plan; the message says why."""


def row_of(server: str, declared: Server, offer: Offer) -> ToolRow:
    """The row. Raises Unfit."""
    name = str(offer["name"])
    if not _NAME.fullmatch(name):
        raise Unfit(f"{name[:80]!r} is not a name that a plan can write")
    schema: dict[str, Any] = offer.get("inputSchema", {})
    try:
        Draft202012Validator.check_schema(schema)
    except (SchemaError, RecursionError):
        raise Unfit("what it says of its parameters is not a JSON Schema") from None
    given: Mapping[str, Any] = schema.get("properties", {})
    needed = {one for one in schema.get("required", ()) if one in given}
    parameters: list[Parameter] = []
    names: dict[str, str] = {}
    as_json: list[str] = []
    block = None
    for own in sorted(given, key=lambda one: one not in needed):
        parameter = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|[^A-Za-z0-9_]", "_", own).lower()
        if not _PARAMETER.fullmatch(parameter) or parameter in (one["name"] for one in parameters):
            raise Unfit(f"its parameter {own[:80]!r} has a name that a plan cannot write")
        kinds = _kinds(given[own])
        kind = "number" if kinds and kinds <= {"integer", "number"} else "word"
        if kind == "word" and kinds and "string" not in kinds:
            as_json.append(parameter)
            if block is None and own in needed and kinds <= {"array", "object"}:
                kind = block = "block"
        if parameter != own:
            names[parameter] = own
        row: Parameter = {"name": parameter, "kind": kind}
        if own not in needed:
            row["required"] = False
        parameters.append(row)
    says = hinted(offer)
    more = declared.get("tools", {}).get(name)
    mcp: Mcp = {
        "server": server, "tool": name, "schema": digest(offer), "says": says, "command": declared["command"],
    }  # fmt: skip
    if names:
        mcp["names"] = names
    if as_json:
        mcp["json"] = as_json
    made: ToolRow = {
        "summary": _summary(offer), "action": "step_op", "effect": "once", "trust": "untrusted",
        "parameters": parameters, "result": "object" if "outputSchema" in offer else "text",
        "access": {"read": [], **declared.get("access", {})}, "run": {"mcp": mcp},
    }  # fmt: skip
    return {**made, **more} if more else made


def _kinds(schema: Any) -> set[str]:
    """The types of JSON that a value may have; empty: nothing is said."""
    if not isinstance(schema, Mapping):
        return set()
    found = schema.get("type", ())
    kinds = {found} if isinstance(found, str) else {*found}
    for key in ("anyOf", "oneOf"):
        kinds |= set().union(*(_kinds(one) for one in schema.get(key, ())))
    return kinds - {"null"}


def _summary(offer: Offer) -> str:
    """The first sentence of what the server says of the tool, in one line of characters that can be seen."""
    said = " ".join(str(offer.get("description") or offer.get("title") or "").split())
    said = "".join(one for one in said if one.isprintable())
    first = re.split(r"(?<=[.!?]) ", said, maxsplit=1)[0].rstrip(".")
    first = first if len(first) <= 120 else f"{first[:119]}…"
    return first or f"{offer['name']} of an MCP server"
