"""Whom a step asks, which files it looks into and which it changes, as far as its tool and its arguments say."""

from __future__ import annotations

from collections.abc import Mapping
from posixpath import normpath
from typing import TypedDict

Paths = frozenset[str] | None
"""Names of files; None: any file."""
NO_FILE: frozenset[str] = frozenset()


class Row(TypedDict, total=False):
    """What is read here of a tool's declaration."""

    effect: str
    approves: bool
    clears: list[str]
    parameters: list[dict[str, str]]
    access: dict[str, list[str]]
    reads: str
    writes: str
    run: dict[str, object]


def asks_a_person(tool: Row) -> bool:
    """Whether a declaration says that a person answers: an approval, or an answer that may choose steps or a plan."""
    return bool(tool.get("approves")) or not {"choice", "plan"}.isdisjoint(tool.get("clears", ()))


def files_read(tool: Row, given: Mapping[str, str | None]) -> Paths:
    """The files that a result may depend on. `given`: the arguments, None for one that only a run knows."""
    items, access = tool["parameters"], tool.get("access", {})
    if tool["effect"] == "pure":
        return NO_FILE
    anything = (
        "reads" in tool
        or "writes" in tool
        or any(item["kind"] == "glob" for item in items)
        or bool(access.get("read") or access.get("write"))
    )
    run = tool.get("run") or {}
    if anything or "read" not in access and not {"python", "command", "one_of"}.isdisjoint(run):
        return None
    return _named(items, given, {"read", "edit", "delete"})


def files_changed(tool: Row, given: Mapping[str, str | None]) -> Paths:
    """The files that a step may make, change or take away."""
    if tool.get("writes") == "unknown" or tool.get("access", {}).get("write"):
        return None
    return _named(tool["parameters"], given, {"write", "create", "edit", "delete"})


def meet(one: Paths, other: Paths) -> bool:
    """Whether they may have a file in common."""
    if one is None or other is None:
        return one != NO_FILE and other != NO_FILE
    return not one.isdisjoint(other)


def _named(items: list[dict[str, str]], given: Mapping[str, str | None], kinds: set[str]) -> Paths:
    names = [given[item["name"]] for item in items if item.get("access") in kinds and item["name"] in given]  # fmt: skip
    if None in names:
        return None
    return frozenset(normpath(name) for name in names if name is not None)
