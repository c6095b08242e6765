"""Reads instructions of a program: as text, the names in them, and the effects of their tools."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping

from ...narrow import narrow
from ...program.model import Template, ToolRow

_REFERENCE = re.compile(r"\{[\w.]+\}")


def chooses(tool: Mapping[str, object], item: Mapping[str, object]) -> bool:
    """Whether what is given for a parameter chooses something, or is told somebody: all that is not said to be data or
    shown to the user, and whatever a tool is given that reaches outside."""
    chosen = item.get("sink") not in ("data", "user") or bool(item.get("access"))
    return chosen or tool.get("trust") == "untrusted"


def acts(tool: ToolRow) -> bool:
    """Whether a tool changes something outside of the run, tells somebody, or runs a command."""
    changes = any(item.get("access") not in (None, "read") for item in tool["parameters"])
    return (
        changes
        or tool["effect"] not in ("pure", "read")
        or "writes" in tool
        or tool.get("trust") == "untrusted"
    )


def stores(tool: ToolRow) -> bool:
    """Whether a later step may find what such a step was given: it acts, and does more than to tell the user something."""
    return acts(tool) and not all(item.get("sink") == "user" for item in tool["parameters"])


def numbered(body: object, names: Iterable[str]) -> tuple[object, dict[str, int]]:
    """Instructions with a number instead of each name, and the number of each name: first `names`, then those of the body in the
    order in which they are used. So bodies that differ in their names only are equal."""
    numbers = {name: number for number, name in enumerate(names)}

    def visit(value: object) -> object:
        if isinstance(value, list):
            return [visit(inner) for inner in value]
        if not isinstance(value, dict):
            return value
        own = {"bind", "alias"} | ({"name"} if value.get("op") != "call" else set())
        out: dict[str, object] = {}
        for key, inner in sorted(value.items()):
            if key == "ref":
                out[key] = [numbers.setdefault(inner[0], len(numbers)), *inner[1:]]
            elif key in own and "op" in value and inner is not None:
                out[key] = numbers.setdefault(inner, len(numbers))
            elif key == "args" and isinstance(inner, dict):  # a parameter may have any name
                out[key] = {given: visit(parts) for given, parts in sorted(inner.items())}
            else:
                out[key] = visit(inner)
        return out

    return visit(body), numbers


_BOUNDED = ("each", "for", "fork")
"""Loops that stop a run which has more items than their bound, so that a bound changes no value."""


def without_lines(value: object) -> object:
    """Instructions without line numbers, and without the bounds of loops over files or items."""
    if isinstance(value, dict):
        beside = {"line", "evidence", "why"} | ({"max"} if value.get("op") in _BOUNDED else set())
        return {key: without_lines(inner) for key, inner in value.items() if key not in beside}
    return [without_lines(inner) for inner in value] if isinstance(value, list) else value


def text_of(parts: Template | None) -> str:
    """A template in plan syntax."""
    return "".join(
        _REFERENCE.sub(r"{\g<0>}", part)
        if isinstance(part, str)
        else "{" + ".".join(part["ref"]) + "}"
        for part in parts or ()
    )


def condition_text(tree: object) -> str:
    """A condition in a syntax close to that of plans."""
    tree = narrow(tree, dict)
    if "ref" in tree:
        return ".".join(tree["ref"])
    if "const" in tree:
        return json.dumps(tree["const"], ensure_ascii=False)
    if "len" in tree:
        return f"len({condition_text(tree['len'])})"
    if "call" in tree:
        return f"{tree['call']}({', '.join(map(condition_text, tree['args']))})"
    if "test" in tree:
        return f"{condition_text(tree['left'])} {tree['test']} {condition_text(tree['right'])}"
    if "not" in tree:
        return f"not ({condition_text(tree['not'])})"
    word = next((word for word in ("and", "or") if word in tree), None)
    if not word:
        return condition_text(tree["value"])
    return f" {word} ".join(
        f"({condition_text(item)})" if "and" in item or "or" in item else condition_text(item)
        for item in tree[word]
    )
