"""The row of a catalogue for a tool that a server offers.

What a server says of itself is not believed where it would allow more: the result is text from outside, an argument may choose
anything, and the step happens once. `tools` of the server in the catalogue may say another effect, no looser than its own hints.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from jsonschema import Draft202012Validator, SchemaError

from .inside import digest, hinted

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,127}")
_PARAMETER = re.compile(r"[a-z_][a-z0-9_]{0,127}")


class Unfit(Exception):
    """The tool cannot be used in a plan; the message says why."""


def row_of(server: str, declared: Mapping[str, Any], offer: Mapping[str, Any]) -> dict[str, Any]:
    """The row. Raises Unfit."""
    name = str(offer["name"])
    if not _NAME.fullmatch(name):
        raise Unfit(f"{name[:80]!r} is not a name that a plan can write")
    schema = offer.get("inputSchema", {})
    try:
        Draft202012Validator.check_schema(schema)
    except (SchemaError, RecursionError):
        raise Unfit("what it says of its parameters is not a JSON Schema") from None
    given: Mapping[str, Any] = schema.get("properties", {})
    needed = {one for one in schema.get("required", ()) if one in given}
    parameters: list[dict[str, Any]] = []
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
        row = {"name": parameter, "kind": kind}
        parameters.append(row if own in needed else {**row, "required": False})
    says = hinted(offer)
    more = declared.get("tools", {}).get(name, {})
    mcp = {
        "server": server, "tool": name, "schema": digest(offer), "says": says, "command": declared["command"],
        **({"names": names} if names else {}), **({"json": as_json} if as_json else {}),
    }  # fmt: skip
    return {
        "summary": _summary(offer), "action": "step_op", "effect": "once", "trust": "untrusted", **more,
        "parameters": parameters, "result": "object" if "outputSchema" in offer else "text",
        "access": {"read": [], **declared.get("access", {})}, "run": {"mcp": mcp},
    }  # fmt: skip


def _kinds(schema: Any) -> set[str]:
    """The types of JSON that a value may have; empty: nothing is said."""
    if not isinstance(schema, Mapping):
        return set()
    found = schema.get("type", ())
    kinds = {found} if isinstance(found, str) else {*found}
    for key in ("anyOf", "oneOf"):
        kinds |= set().union(*(_kinds(one) for one in schema.get(key, ())))
    return kinds - {"null"}


def _summary(offer: Mapping[str, Any]) -> str:
    """The first sentence of what the server says of the tool, in one line of characters that can be seen."""
    said = " ".join(str(offer.get("description") or offer.get("title") or "").split())
    said = "".join(one for one in said if one.isprintable())
    first = re.split(r"(?<=[.!?]) ", said, maxsplit=1)[0].rstrip(".")
    first = first if len(first) <= 120 else f"{first[:119]}…"
    return first or f"{offer['name']} of an MCP server"
