"""What a loop does in every round: which names rise, which lists become shorter or longer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .language import CALLING, GROWS, READS, words
from .script import FUNCTIONS, Declared, arguments, at_least, parts
from .uses import is_written

if TYPE_CHECKING:
    from tree_sitter import Node

    from .values import Follower

_TAKES = frozenset(("shift", "pop", "splice"))


_ALWAYS = words(
    "arguments array assignment_expression await_expression call_expression expression_statement lexical_declaration "
    "member_expression new_expression object pair parenthesized_expression sequence_expression spread_element "
    "template_string template_substitution unary_expression variable_declaration variable_declarator"
)
"""What evaluates its parts whenever it is evaluated."""


def drained(follower: Follower, part: Node, loop: Node) -> Node | None:
    """The list that a loop runs until it is empty, where every round takes something out and none puts anything in."""
    script = follower.script
    if part.type == "binary_expression" and part.children[1].type in (">", "!=="):
        part = part.children[0] if script.text(part.children[2]) == "0" else part
    if part.type != "member_expression" or script.member(part) != "length":
        return None
    target = part.named_children[0]
    declared = script.resolved.get(target.id)
    if declared is None or not declared.lasting or not is_fresh(follower, declared):
        return None
    taken = False
    for use in declared.uses:
        parent = use.parent
        word = script.member(parent) if parent is not None else ""
        call = parent.parent if parent is not None else None
        within = inside(use, loop)
        if parent is None or call is None or parent.type != "member_expression":
            return None
        if word == "push" and (within or script.function_of(use).id != script.function_of(loop).id):
            return None
        if word not in (READS - CALLING) | _TAKES | {"push"} or is_written(parent):
            return None
        whole = word != "splice" or [script.text(item) for item in arguments(call)][:1] == ["0"]
        plain = [(at_least(script, item) or 0) >= 1 for item in arguments(call)[1:]]
        if word in _TAKES and not (word == "splice" and (not whole or plain not in ([True], []))):
            taken |= within and call.type == "call_expression" and _every_round_calls(call, loop)
        elif word == "splice":
            return None
    return target if taken else None


def is_fresh(follower: Follower, declared: Declared) -> bool:
    """Whether a name stands for a list that was made for it, which no other name has."""
    value = declared.value
    if value is not None and value.type == "call_expression":
        word = follower.script.member(parts(value, "function")[0])
        return word in ("concat", "filter", "flatMap", "from", "map", "slice", "toSorted")
    return value is not None and value.type == "array"


def _every_round_calls(call: Node, loop: Node) -> bool:
    """Whether a call is made in every round, before anything can go on with the next one."""
    body = loop.child_by_field_name("body")
    here = call
    while here.parent is not None and body is not None and here.parent.id != body.id:
        if here.type == "arguments" and b"?." in _before(here):
            return False  # of a call that may not be made
        here = here.parent
        if here.type not in _ALWAYS:
            return False
    if body is None or here.parent is None:
        return False
    return _no_continue(body, here)


def _no_continue(body: Node, until: Node) -> bool:
    """Whether nothing in the rounds of a loop goes on with the next one before a place."""
    before = [child for child in body.named_children if child.end_byte <= until.start_byte]
    return not any(_has(child, "continue_statement") for child in before)


def _before(given: Node) -> bytes:
    """What stands before the arguments of a call."""
    call = given.parent
    return (call.text or b"")[: given.start_byte - call.start_byte] if call is not None else b""


def every_round(write: Node, loop: Node) -> bool:
    """Whether a write is done in every round of a loop, before anything can go on with the next one."""
    increment = loop.child_by_field_name("increment")
    if increment is not None and increment.id == write.id:
        return True
    statement = write.parent
    body = loop.child_by_field_name("body")
    if statement is None or body is None or statement.type != "expression_statement":
        return False
    if statement.parent is None or statement.parent.id != body.id:
        return False
    return _no_continue(body, statement)


def _has(node: Node, kind: str) -> bool:
    work = [node]
    while work:
        here = work.pop()
        if here.type == kind:
            return True
        work += [child for child in here.named_children if child.type not in FUNCTIONS]
    return False


def grows(follower: Follower, target: Node, loop: Node) -> bool:
    """Whether something below a loop makes the list longer that it goes through."""
    script = follower.script
    text = script.text(target)
    for ending in (".entries()", ".keys()", ".values()"):
        text = text.removesuffix(ending)
    work = [loop]
    while work:
        here = work.pop()
        owner = here.child_by_field_name("object") if here.type == "member_expression" else None
        if owner is not None and script.text(owner) == text:
            if script.member(here) in GROWS - {"length", "concat"}:
                return True
        work += here.named_children
    return False


def inside(node: Node, loop: Node) -> bool:
    return loop.start_byte <= node.start_byte and node.end_byte <= loop.end_byte
