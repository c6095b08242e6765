"""Checks a step's arguments against the declared parameters of its tool."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from ..text.patterns import no_pattern
from ..workspace.failure import ToolFailure


def checked(declared: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a step, with numbers converted. Raises ToolFailure if they do not fit the catalogue."""
    args = dict(given)
    for parameter in declared.get("parameters", ()):
        name = parameter["name"]
        value = args.get(name)
        if value is None and parameter.get("required", True):
            raise ToolFailure("argument", f"`{name}` has no value in this run")
        if (
            value is not None
            and parameter.get("type") in ("text", "filled", "pattern")
            and not isinstance(value, str)
        ):
            raise ToolFailure("argument", f"`{name}` must be text")
        if parameter.get("type") == "list" and value is not None and not isinstance(value, list):
            raise ToolFailure("argument", f"`{name}` must be a list")
        if parameter.get("type") == "filled" and value is not None and not value.strip():
            raise ToolFailure("argument", f"`{name}` is empty")
        if (
            parameter.get("type") == "pattern"
            and value is not None
            and (wrong := no_pattern(value))
        ):
            raise ToolFailure("argument", f"`{value[:80]}` is not a regular expression: {wrong}")
        if parameter["kind"] == "number" and isinstance(value, str):
            args[name] = value = _number(name, value)
        if parameter["kind"] == "number" and value is not None and not _finite(value):
            raise ToolFailure("argument", f"`{name}` takes a number, found `{str(value)[:80]}`")
    one_of = declared.get("need_one_of")
    if one_of and all(args.get(name) is None for name in one_of):
        raise ToolFailure(
            "argument", "none of " + ", ".join(f"`{name}`" for name in one_of) + " has a value"
        )
    return args


def _finite(value: object) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, int) and not isinstance(value, bool)


def _number(name: str, written: str) -> int | float:
    try:
        return int(written) if written.strip().lstrip("-").isdecimal() else float(written)
    except ValueError:
        raise ToolFailure("argument", f"`{name}` takes a number, found `{written[:80]}`") from None
