"""Whether a script leaves a value as it is: `args`, or a list or an object that it made itself."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from ..script import Declared, Script, leaves
from ..uses import Uses, is_written

if TYPE_CHECKING:
    from tree_sitter import Node

Path = tuple[str, ...]
"""The names that lead from a value to a list or an object in it."""
_MEMBERS = ("member_expression", "subscript_expression")
_THROUGH = (
    "parenthesized_expression",
    "await_expression",
    "binary_expression",
    "ternary_expression",
)
MOST_NAMES = 200


def only_read(
    script: Script, uses: Uses, places: Iterable[Node], paths: Collection[Path], passed: int = 0
) -> bool:
    """Whether nothing changes the lists and objects at `paths` of the value that stands at all these places."""
    if passed > MOST_NAMES:
        return False
    return all(_place(script, uses, place, paths, passed) for place in places)


def _place(script: Script, uses: Uses, place: Node, paths: Collection[Path], passed: int) -> bool:
    here, names, whole = _chain(script, place)
    if not any(_related(names, path) for path in paths):
        return True
    if is_written(here):
        return here.id == place.id  # the name stands for something else then
    below = [path[len(names) :] for path in paths if path[: len(names)] == names]
    if not below:
        return True
    bound = _bound(script, here) if whole else None
    if bound is None:
        return uses.reads(here) and (() in below and len(below) == 1 or uses.copied(here))
    for declared, steps in bound:
        inner = [path[len(steps) :] for path in below if path[: len(steps)] == steps]
        if inner and not only_read(script, uses, declared.uses, inner, passed + 1):
            return False
    return True


def _chain(script: Script, place: Node) -> tuple[Node, Path, bool]:
    """The longest `.a.b` behind a place that calls nothing, its names up to the first `[...]`, and whether there is none."""
    here, names, plain = place, list[str](), True
    while (owner := here.parent) is not None and owner.type in _MEMBERS:
        if owner.child_by_field_name("object") != here:
            break
        call = owner.parent
        if call is not None and call.type == "call_expression" and script.member(owner):
            if call.child_by_field_name("function") == owner:
                break
        plain = plain and owner.type == "member_expression"
        if plain:
            names.append(script.member(owner))
        here = owner
    return here, tuple(names), plain


def _related(names: Path, path: Path) -> bool:
    most = min(len(names), len(path))
    return names[:most] == path[:most]


def _bound(script: Script, node: Node) -> list[tuple[Declared, Path]] | None:
    """The names that a declaration gives to the value of a node, or to parts of it; None where it is no such declaration."""
    while (parent := node.parent) is not None:
        if parent.type == "variable_declarator":
            break
        copied = parent.type == "spread_element" and parent.parent is not None
        if copied and parent.parent is not None and parent.parent.type == "object":
            parent = parent.parent
        elif parent.type not in _THROUGH:
            return None
        node = parent
    if parent is None or parent.child_by_field_name("value") != node:
        return None
    name = parent.child_by_field_name("name")
    out: list[tuple[Declared, Path]] = []
    for leaf in leaves(name):
        declared = script.at[leaf.id]
        if leaf == name:
            out.append((declared, ()))
        elif declared.taken is None:
            return None
        else:
            out.append((declared, tuple(step for step, _ in declared.taken[1])))
    return out
