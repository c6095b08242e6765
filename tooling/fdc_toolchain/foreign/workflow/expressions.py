"""Expressions and branches: what they cost, and what they stand for."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from .formula import ONE, ZERO
from .language import METHODS
from .script import NotBounded, parts
from .values import DATA, FREE, Cost, Env, Function, Value

if TYPE_CHECKING:
    from tree_sitter import Node

    from .values import Follower


def _through(follower: Follower, node: Node, env: Env) -> tuple[Cost, Value]:
    cost, value = FREE, DATA
    for child in node.named_children:
        follower.escape(value, node)
        more, value = follower.evaluate(child, env)
        cost = cost + more
    return cost, value


def _ternary(follower: Follower, node: Node, env: Env) -> tuple[Cost, Value]:
    condition, one, two = parts(node, "condition", "consequence", "alternative")
    first, second = follower.evaluate(one, env), follower.evaluate(two, env)
    return follower.cost(condition, env) + first[0].either(second[0]), first[1].either(second[1])


def _binary(follower: Follower, node: Node, env: Env) -> tuple[Cost, Value]:
    left, operator, right = parts(node, "left", "operator", "right")
    one, two = follower.evaluate(left, env), follower.evaluate(right, env)
    if follower.script.text(operator) not in ("||", "??", "&&"):
        follower.escape(one[1], left)
        follower.escape(two[1], right)
        return one[0] + two[0], DATA
    return one[0] + two[0], one[1].either(two[1])


def _assignment(follower: Follower, node: Node, env: Env) -> tuple[Cost, Value]:
    left, right = parts(node, "left", "right")
    cost, value = follower.evaluate(right, env)
    follower.escape(value, right)
    named = left.type == "subscript_expression" or follower.script.member(left) in METHODS
    if value.functions and named:
        raise NotBounded(node, "a function gets a name here that cannot be followed")
    return cost + follower.pattern(left, env), DATA


def _pair(follower: Follower, node: Node, env: Env) -> tuple[Cost, Value]:
    key, right = parts(node, "key", "value")
    cost, value = follower.evaluate(right, env)
    follower.escape(value, right)
    if value.functions and key.type == "computed_property_name":
        raise NotBounded(node, "a function gets a name here that cannot be followed")
    return follower.cost(key, env) + cost, DATA


def _class(follower: Follower, node: Node, env: Env) -> tuple[Cost, Value]:
    cost = FREE
    for child in node.named_children:
        if child.type == "class_heritage":
            cost = cost + follower.cost(child, env)
        for member in child.named_children if child.type == "class_body" else ():
            if member.type == "method_definition":
                follower.escape(Value((Function(member, env),)), member)
            elif follower.cost(member, env).agents:
                raise NotBounded(member, "a class starts agents")
    return cost, DATA


def _array(follower: Follower, node: Node, env: Env) -> tuple[Cost, Value]:
    cost, element, size = FREE, DATA, ZERO
    marks = [child.type for child in node.children if child.type != "comment"]
    whole = not any(one in ("[", ",") and two == "," for one, two in zip(marks, marks[1:]))
    for child in node.named_children:
        if child.type == "comment":
            continue
        more, value = follower.evaluate(child, env)
        cost = cost + more
        if child.type == "spread_element":
            whole = whole and value.size is not None
            size = size + (value.size or ZERO)
            value = value.element or DATA
        else:
            size = size + ONE
        element = element.either(value)
    return cost, Value((), element if element != DATA else None, size if whole else None)


def _spread(follower: Follower, node: Node, env: Env) -> tuple[Cost, Value]:
    inner = next(child for child in node.named_children if child.type != "comment")
    cost, value = follower.evaluate(inner, env)
    return cost, value._replace(functions=(), size=follower.size(inner, value))


def _subscript(follower: Follower, node: Node, env: Env) -> tuple[Cost, Value]:
    target, index = parts(node, "object", "index")
    cost, value = follower.evaluate(target, env)
    follower.escape(Value(value.functions), node)
    return cost + follower.cost(index, env), value.element or DATA


def _property(follower: Follower, node: Node, env: Env) -> tuple[Cost, Value]:
    [target] = parts(node, "object")
    cost, value = follower.evaluate(target, env)
    follower.escape(Value(value.functions), node)
    return cost, DATA


def _drop(follower: Follower, node: Node, env: Env) -> tuple[Cost, Value]:
    return sum((follower.evaluate(child, env)[0] for child in node.named_children), FREE), DATA


def _if(follower: Follower, node: Node, env: Env) -> tuple[Cost, Value]:
    condition, one = parts(node, "condition", "consequence")
    two = node.child_by_field_name("alternative")
    arms = follower.cost(one, env).either(follower.cost(two, env) if two is not None else FREE)
    return follower.cost(condition, env) + arms, DATA


def _catch(follower: Follower, node: Node, env: Env) -> tuple[Cost, Value]:
    name, [body] = node.child_by_field_name("parameter"), parts(node, "body")
    cost = follower.pattern(name, env) if name is not None else FREE
    return cost + follower.block(body, env), DATA


_DATA = ("comment", "property_identifier", "statement_identifier", "string")
_THROUGH = ("await_expression", "parenthesized_expression", "sequence_expression")
HANDLERS: dict[str, Callable[[Follower, Node, Env], tuple[Cost, Value]]] = {
    **dict.fromkeys(_DATA, lambda follower, node, env: (FREE, DATA)),
    **dict.fromkeys(_THROUGH, _through),
    **dict.fromkeys(("assignment_expression", "augmented_assignment_expression"), _assignment),
    **dict.fromkeys(("class", "class_declaration"), _class),
    "array": _array,
    "binary_expression": _binary,
    "catch_clause": _catch,
    "expression_statement": _drop,
    "if_statement": _if,
    "member_expression": _property,
    "pair": _pair,
    "spread_element": _spread,
    "subscript_expression": _subscript,
    "ternary_expression": _ternary,
}
