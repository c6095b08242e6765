"""Names of sizes: by the text that people wrote, and by the line where no short text exists."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .language import words
from .script import Script, parts
from .uses import Uses

if TYPE_CHECKING:
    from tree_sitter import Node

_CHAIN = re.compile(r"[A-Za-z_$][\w$]*(\.[A-Za-z_$][\w$]*)*")
_SAME_LENGTH = words("map filter sort reverse toSorted toReversed entries values keys slice")
_MEMBERS = ("member_expression", "subscript_expression")
_WRAPS = ("await_expression", "parenthesized_expression", "spread_element")
MOST_TEXT = 40


def named(script: Script, uses: Uses, node: Node, kind: str) -> str:
    """The name of the size of an expression: `|args.files|` for items, `args.rounds` for a value."""
    if kind == "rounds":
        return f"rounds@{script.line(node)}"
    text = script.text(_core(script, uses, node)).replace("?.", ".")
    if not _CHAIN.fullmatch(text) or len(text) > MOST_TEXT:
        text = f"list@{script.line(node)}" if kind != "value" else f"number@{script.line(node)}"
    return text if kind == "value" else f"|{text}|"


def argument_path(script: Script, uses: Uses, node: Node, kind: str) -> tuple[str, ...] | None:
    """The names from `args` on, where what is given to the script alone decides the size."""
    if kind not in ("items", "loop", "value"):
        return None
    core = _core(script, uses, node, exact=True)
    text = script.text(core).replace("?.", ".")
    if not _CHAIN.fullmatch(text):
        return None
    first, *rest = text.split(".")
    if first != "args" or first not in script.free or not _args_are_read(script, uses, len(rest)):
        return None
    while core.type == "member_expression":
        [core] = parts(core, "object")
    return tuple(rest) if core.id in {node.id for node in script.free["args"]} else None


def _args_are_read(script: Script, uses: Uses, depth: int) -> bool:
    """Whether the script changes nothing of what it is given, as deep as that."""
    for use in script.free.get("args", []):
        here, names = use, 0
        while (owner := here.parent) is not None and owner.type in _MEMBERS:
            if owner.child_by_field_name("object") != here:
                break
            call = owner.parent
            if call is not None and call.type == "call_expression" and script.member(owner):
                if call.child_by_field_name("function") == owner:
                    break
            names += owner.type == "member_expression"
            here = owner
        if not uses.reads(here) or names < depth and not uses.copied(here):
            return False
    return True


def _core(script: Script, uses: Uses, node: Node, *, exact: bool = False) -> Node:
    """The expression that gives another its length, as far as that can be seen. `exact`: it is the very list."""
    for _ in range(20):
        kind = node.type
        if kind in _WRAPS and node.named_children:
            node = node.named_children[0]
        elif kind == "binary_expression" and node.children[1].type in ("||", "??"):
            if exact and script.text(node.children[2]) != "[]":
                return node
            node = node.children[0]
        elif kind == "identifier" and node.id in script.resolved:
            declared = script.resolved[node.id]
            if declared.value is None or not uses.fixed(declared):
                return node
            inner = _core(script, uses, declared.value, exact=exact)
            if not _CHAIN.fullmatch(script.text(inner).replace("?.", ".")):
                return node
            return inner
        elif kind == "call_expression":
            callee = node.child_by_field_name("function")
            target = callee.child_by_field_name("object") if callee is not None else None
            if callee is None or target is None or script.member(callee) not in _SAME_LENGTH:
                return node
            node = target
        else:
            return node
    return node
