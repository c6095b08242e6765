"""What calls of the runtime and of lists say by their arguments: models, lengths, shared names."""

from __future__ import annotations

from fractions import Fraction
from math import floor
from typing import TYPE_CHECKING

from .formula import Formula, constant
from .language import CHOSEN, SESSION
from .rounds import not_negative, number
from .script import FUNCTIONS, arguments, literal
from .values import Env, Value

if TYPE_CHECKING:
    from tree_sitter import Node

    from .values import Follower


_MEMBERS = ("member_expression", "subscript_expression")
_CHANGES = ("push", "set", "add", "unshift", "splice", "fill")


def model_of(follower: Follower, node: Node) -> str:
    """The model of one `agent` call, as the script names it."""
    given = arguments(node)
    if any(item.type == "spread_element" for item in given[:2]):
        return CHOSEN
    options = given[1] if len(given) > 1 else None
    declared = follower.script.resolved.get(options.id) if options is not None else None
    if declared is not None:
        options = declared.value if declared.lasting and declared.value is not None else options
    if options is None:
        return SESSION
    if options.type != "object":
        return CHOSEN
    found = SESSION
    for child in options.named_children:
        if child.type == "spread_element":
            found = CHOSEN if found == SESSION else found
        key, value = child.child_by_field_name("key"), child.child_by_field_name("value")
        word = follower.script.text(key or child).strip("'\"")
        if word in ("model", "agentType", "agent", "provider"):
            plain = value is not None and value.type == "string"
            text = follower.script.text(value).strip("'\"") if plain and value is not None else ""
            found = CHOSEN if not text else text if word == "model" else f"the model of {text}"
            if word == "model":
                return found
    return found


def shares(follower: Follower, value: Value) -> bool:
    """Whether one call of a function may wait for another one of the same list, over a name that both write."""
    nodes = [item.node for item in value.functions if item.node]
    return any(_writes_outside(follower, node, set()) for node in nodes)


def _writes_outside(follower: Follower, function: Node, seen: set[int]) -> bool:
    if function.id in seen:
        return False
    seen.add(function.id)
    script = follower.script
    work = [function]
    while work:
        node = work.pop()
        work += node.named_children
        declared = script.resolved.get(node.id)
        if declared is None:
            continue
        inside = range(function.start_byte, function.end_byte)
        outside = declared.node.start_byte not in inside
        if outside and any(write.start_byte in inside for write in declared.writes):
            return True
        parent = node.parent
        if outside and parent is not None and parent.type in _MEMBERS:
            if script.member(parent) in _CHANGES or _assigned(parent):
                return True
        if outside and parent is not None and parent.type == "arguments":
            call = parent.parent
            if call is not None and script.text(call).startswith("Object.assign"):
                return True
        if declared.value is not None and declared.value.type in FUNCTIONS:
            if _writes_outside(follower, declared.value, seen):
                return True
    return False


def _assigned(node: Node) -> bool:
    parent = node.parent
    while parent is not None and parent.type in _MEMBERS:
        node, parent = parent, parent.parent
    if parent is None or "assignment" not in parent.type:
        return False
    return parent.child_by_field_name("left") == node


def sliced(follower: Follower, given: list[Node], value: Value, env: Env) -> Formula | None:
    """The length of `slice`: by its numbers where they say so, else that of the list."""
    text = follower.script.text
    if len(given) == 1 and text(given[0]).startswith("-"):
        last = literal(text(given[0])[1:].strip())
        whole = last is not None and last >= 1 and last.denominator == 1
        return constant(last) if whole and last is not None else value.size
    if len(given) != 2:
        return value.size
    begin, end = given
    first = literal(text(begin)) if begin.type == "number" else None
    if first is not None:
        most = number(follower, end, env) if not_negative(follower, end) else None
        known = value.size if value.size is not None and value.size.number is not None else None
        if most is None or most.number is None and known is not None:
            return value.size
        if most.number is not None:
            most = constant(max(Fraction(0), most.number - floor(first)))
        return most if known is None else min(most, known, key=lambda one: one.number or 0)
    if end.type == "binary_expression" and end.children[1].type == "+":
        for one, other in ((end.children[0], end.children[2]), (end.children[2], end.children[0])):
            if text(one) == text(begin) and begin.type == "identifier":
                width = number(follower, other, env)
                if width is not None and (width.number is not None or value.size is None):
                    return width
    return value.size
