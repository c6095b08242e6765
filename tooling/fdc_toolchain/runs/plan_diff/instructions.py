"""Reads instructions of a program: as text, the names in them, and the effects of their tools."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

_REFERENCE = re.compile(r"\{[\w.]+\}")


def chooses(tool: Mapping[str, Any], item: Mapping[str, Any]) -> bool:
    """Whether what is given for a parameter chooses something, or is told somebody: all that is not said to be data or
    shown to the user, and whatever a tool is given that reaches outside."""
    chosen = item.get("sink") not in ("data", "user") or bool(item.get("access"))
    return chosen or tool.get("trust") == "untrusted"


def acts(tool: Mapping[str, Any]) -> bool:
    """Whether a tool changes something outside of the run, tells somebody, or runs a command."""
    changes = any(item.get("access") not in (None, "read") for item in tool["parameters"])
    return (
        changes
        or tool["effect"] not in ("pure", "read")
        or "writes" in tool
        or tool.get("trust") == "untrusted"
    )


def stores(tool: Mapping[str, Any]) -> bool:
    """Whether a later step may find what such a step was given: it acts, and does more than to tell the user something."""
    return acts(tool) and not all(item.get("sink") == "user" for item in tool["parameters"])


def names_bound(body: list[dict[str, Any]]) -> set[str]:
    names: set[str] = set()
    for row in body:
        if row.get("bind"):
            names.add(row["bind"])
        for part in ("body", "then", "else"):
            names |= names_bound(row.get(part) or [])
    return names


def names_used(value: Any) -> set[str]:
    """The names that instructions refer to."""
    if isinstance(value, dict):
        own = {value["ref"][0]} if "ref" in value else set()
        return own.union(*(names_used(inner) for inner in value.values()))
    return set().union(*map(names_used, value)) if isinstance(value, list) else set()


def without_lines(value: Any) -> Any:
    """Instructions without line numbers."""
    if isinstance(value, dict):
        return {
            key: without_lines(inner)
            for key, inner in value.items()
            if key not in ("line", "evidence", "why")
        }
    return [without_lines(inner) for inner in value] if isinstance(value, list) else value


def text_of(parts: Any) -> str:
    """A template in plan syntax."""
    return "".join(
        _REFERENCE.sub(r"{\g<0>}", part)
        if isinstance(part, str)
        else "{" + ".".join(part["ref"]) + "}"
        for part in parts or ()
    )


def condition_text(tree: Any) -> str:
    """A condition in a syntax close to that of plans."""
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
