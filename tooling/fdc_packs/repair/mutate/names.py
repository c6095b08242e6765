"""Edits of names, of attributes and of what is called: others that the file knows, and those that often stand for them."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from difflib import SequenceMatcher

from .source import Edit, Source, edit_of, enclosing, replaced

_ALIKE = (
    "append extend insert add", "lower upper casefold title capitalize swapcase", "strip lstrip rstrip",
    "find rfind index rindex", "split rsplit partition rpartition splitlines", "startswith endswith",
    "keys values items", "add discard remove update", "pop popleft", "append appendleft", "get pop setdefault",
    "union intersection difference symmetric_difference", "issubset issuperset isdisjoint", "read readline readlines",
    "encode decode", "isdigit isnumeric isdecimal isalpha isalnum", "ljust rjust center zfill",
    "removeprefix removesuffix", "match search fullmatch findall", "group groups", "start end", "ceil floor trunc",
    "min max", "any all", "sorted reversed list", "sum len", "int float round", "isinstance issubclass",
    "set list tuple", "str repr", "hasattr getattr", "bisect_left bisect_right", "heappush heappop",
    "islice takewhile dropwhile", "hour minute second", "year month day", "days seconds", "imag real",
    "lineno end_lineno", "popitem pop", "sub subn", "chr ord", "hex oct bin",
)  # fmt: skip
_BUILTIN = (
    "str",
    "len",
    "list",
    "int",
    "tuple",
    "iter",
    "set",
    "dict",
    "sorted",
    "max",
    "min",
    "sum",
    "next",
    "isinstance",
)
_BARE = ["lower", "upper", "strip", "items", "keys", "values", "copy", "clear"]
_GIVEN = ["update", "append", "get", "join", "split", "replace", "format", "add", "extend", "pop"]
_PEERS: dict[str, list[str]] = {}
for _row in _ALIKE:
    for _word in _row.split():
        _PEERS.setdefault(_word, []).extend(other for other in _row.split() if other != _word)


def members_of(tree: ast.AST) -> dict[str, int]:
    """The attributes that a file asks for, and how often."""
    found: dict[str, int] = {}
    for one in ast.walk(tree):
        if isinstance(one, ast.Attribute):
            found[one.attr] = found.get(one.attr, 0) + 1
    return found


@functools.lru_cache(maxsize=1 << 14)
def _alike(one: str, other: str) -> float:
    return SequenceMatcher(None, one.lower(), other.lower()).ratio()


def _closeness(one: str, other: str) -> float:
    return 0.5 * _alike(one, other) + (0.3 if one[:1] == other[:1] else 0.0)


def name_edits(
    source: Source, node: ast.Name, functions: list[str], own: set[str]
) -> Iterator[Edit]:
    """The edits of one name that is read or called."""
    parent = source.parents.get(node)
    if isinstance(parent, ast.Call) and parent.func is node:
        for other in _PEERS.get(node.id, ()):
            yield replaced(
                source,
                "callee",
                node,
                other,
                0.6 if node.id in ("min", "max", "any", "all") else 0.35,
            )
        near = sorted(
            ((_alike(node.id, one), one) for one in set(functions) if one != node.id), reverse=True
        )
        for ratio, other in near[:2]:
            if ratio > 0.6:
                yield replaced(source, "callee", node, other, 0.35 * ratio)
        called = {
            one.func.id
            for one in source.nodes
            if isinstance(one, ast.Call) and isinstance(one.func, ast.Name)
        }
        idle = source.unused(node)
        if node.id in _BUILTIN:
            for other in _BUILTIN:
                if other != node.id:
                    yield replaced(source, "callee", node, other, 0.2)
        for other in sorted(
            name
            for name in source.names(node)
            if name != node.id and (name in called or name in idle)
        )[:4]:
            yield replaced(source, "callee", node, other, 0.5 if other in idle else 0.3)
        return
    bound = {} if _default(source, node) else source.names(node)
    idle = source.unused(node)
    if node.id not in bound and not bound:
        return
    usable = [(_closeness(node.id, name), name) for name, line in bound.items()
              if line <= node.lineno and name not in (node.id, "self", "cls", "_")]  # fmt: skip
    if isinstance(parent, ast.Attribute) and node.id in ("self", "cls"):
        return
    for number, (closeness, other) in enumerate(sorted(usable, reverse=True)):
        if number < 10 or other in idle:
            yield replaced(
                source,
                "name",
                node,
                other,
                (0.55 if other in idle else 0.3) * (0.7 + 0.5 * closeness),
            )
    if "self" in bound and node.id in own:
        yield replaced(source, "name", node, f"self.{node.id}", 0.3)


def _default(source: Source, node: ast.AST) -> bool:
    """True for what stands in the header of a function, where its own names are not known."""
    return any(isinstance(up, ast.arguments) for up in enclosing(source, node))


def own_attributes(source: Source) -> set[str]:
    """The attributes of `self` that hold values, as far as a file shows."""
    return {
        one.attr for one in source.nodes if isinstance(one, ast.Attribute) and isinstance(one.value, ast.Name)
        and one.value.id == "self" and not _called(source, one)
    }  # fmt: skip


def attribute_edits(
    source: Source, node: ast.Attribute, members: dict[str, int], own: set[str]
) -> Iterator[Edit]:
    """The edits of one attribute."""
    last = source.end(node)
    first = last - len(node.attr)
    if source.text[first:last] != node.attr:
        return
    called = isinstance(parent := source.parents.get(node), ast.Call) and parent.func is node
    others = {one: 0.4 if one in members else 0.2 for one in _PEERS.get(node.attr, ())}
    near = sorted(
        ((_alike(node.attr, one), one) for one in members if one != node.attr), reverse=True
    )
    for ratio, other in near[:3]:
        if ratio > 0.55:
            others.setdefault(other, 0.35 * ratio)
    for other in _beside(source, node, called):
        others.setdefault(other, 0.22)
    mine = isinstance(node.value, ast.Name) and node.value.id == "self" and not called
    if mine:
        for other in sorted(sorted(own - {node.attr}), key=lambda name: -_alike(node.attr, name))[
            :3
        ]:
            others.setdefault(other, 0.2)
    for other, prior in others.items():
        yield edit_of(source, "attribute", node, [(first, last, other)], prior)
    if mine and node.attr in source.names(node):
        yield replaced(source, "name", node, node.attr, 0.25)


def _beside(source: Source, node: ast.Attribute, called: bool) -> list[str]:
    """Other members that the same function asks for, and common ones that are called in the same way."""
    around = source.function(node)
    found = (
        [one.attr for one in ast.walk(around) if isinstance(one, ast.Attribute)]
        if around is not None
        else []
    )
    parent = source.parents.get(node)
    if isinstance(parent, ast.Call) and called:
        found += _BARE if not parent.args and not parent.keywords else _GIVEN
    elif not called:
        found += ["__name__", "__class__", "__dict__"]
    return [one for one in dict.fromkeys(found) if one != node.attr][:16]


def _called(source: Source, node: ast.AST) -> bool:
    parent = source.parents.get(node)
    return isinstance(parent, ast.Call) and parent.func is node
