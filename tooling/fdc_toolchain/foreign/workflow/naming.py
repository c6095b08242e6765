"""Names of sizes: by the text that people wrote, and by the line where no short text exists."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .language import words
from .script import Script
from .uses import Uses

if TYPE_CHECKING:
    from tree_sitter import Node

_CHAIN = re.compile(r"[A-Za-z_$][\w$]*(\.[A-Za-z_$][\w$]*)*")
_SAME_LENGTH = words("map filter sort reverse toSorted toReversed entries values keys slice")
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


def _core(script: Script, uses: Uses, node: Node) -> Node:
    """The expression that gives another its length, as far as that can be seen."""
    for _ in range(20):
        kind = node.type
        if kind in _WRAPS and node.named_children:
            node = node.named_children[0]
        elif kind == "binary_expression" and node.children[1].type in ("||", "??"):
            node = node.children[0]
        elif kind == "identifier" and node.id in script.resolved:
            declared = script.resolved[node.id]
            if declared.value is None or not uses.fixed(declared):
                break
            inner = _core(script, uses, declared.value)
            if not _CHAIN.fullmatch(script.text(inner).replace("?.", ".")):
                break
            return inner
        elif kind == "call_expression":
            callee = node.child_by_field_name("function")
            target = callee.child_by_field_name("object") if callee is not None else None
            if callee is None or target is None or script.member(callee) not in _SAME_LENGTH:
                break
            if script.text(target) == "Object":
                break
            node = target
        else:
            break
    return node
