"""Checks a step's arguments against the declared parameters of its tool."""

from __future__ import annotations

import math
from collections.abc import Mapping

from ..program.model import ToolRow
from ..program.operators import as_number
from ..text.patterns import no_pattern
from ..workspace.failure import ToolFailure

_MADE: dict[str, tuple[type, str]] = {"list": (list, "a list"), "object": (dict, "an object")}
"""By type of a parameter: what a value is that no text of a plan can be."""


def checked(declared: ToolRow, given: Mapping[str, object]) -> dict[str, object]:
    """The arguments of a step, with numbers converted. Raises ToolFailure if they do not fit the catalogue."""
    args = dict(given)
    for parameter in declared.get("parameters", ()):
        name = parameter["name"]
        value = args.get(name)
        if value is None and parameter.get("required", True):
            raise ToolFailure("type", f"`{name}` has no value in this run")
        if (
            value is not None
            and parameter.get("type") in ("text", "filled", "pattern")
            and not isinstance(value, str)
        ):
            raise ToolFailure("type", f"`{name}` must be text")
        made = _MADE.get(parameter.get("type", ""))
        if made is not None and value is not None and not isinstance(value, made[0]):
            raise ToolFailure("type", f"`{name}` must be {made[1]}")
        if parameter.get("type") == "filled" and isinstance(value, str) and not value.strip():
            raise ToolFailure("type", f"`{name}` is empty")
        if (
            parameter.get("type") == "pattern"
            and isinstance(value, str)
            and (wrong := no_pattern(value))
        ):
            raise ToolFailure("type", f"`{value[:80]}` is not a regular expression: {wrong}")
        number = parameter["kind"] == "number" or parameter.get("type") == "count"
        if number and isinstance(value, str):
            args[name] = value = as_number(value)
        if number and value is not None and not _finite(value):
            raise ToolFailure("type", f"`{name}` takes a number, found `{str(value)[:80]}`")
        if parameter.get("type") == "count" and isinstance(value, int | float) and value < 1:
            raise ToolFailure("type", f"`{name}` takes a number from 1, found `{value}`")
    one_of = declared.get("need_one_of")
    if one_of and all(args.get(name) is None for name in one_of):
        raise ToolFailure(
            "type", "none of " + ", ".join(f"`{name}`" for name in one_of) + " has a value"
        )
    return args


def _finite(value: object) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, int) and not isinstance(value, bool)
