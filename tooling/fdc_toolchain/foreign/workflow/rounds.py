"""How often a loop can go round."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor
from typing import TYPE_CHECKING

from .formula import ONE, Formula, constant
from .loop_bodies import drained, every_round, grows, inside, is_fresh
from .script import Declared, Script, arguments, at_least, literal, parts

if TYPE_CHECKING:
    from tree_sitter import Node

    from .values import Env, Follower

_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_MATH = ("Math.min", "Math.max", "Math.ceil", "Math.floor", "Math.round", "Math.trunc")
_ENDLESS = ("Infinity", "Number.MAX_SAFE_INTEGER", "Number.MAX_VALUE", "Number.POSITIVE_INFINITY")


def most_rounds(follower: Follower, loop: Node, env: Env) -> Formula | None:
    """At most so many rounds each time that the loop is entered, or None where nothing limits them."""
    if loop.type == "for_in_statement":
        right = loop.child_by_field_name("right")
        assert right is not None
        value = follower.evaluate(right, env)[1]
        if value.size is not None:
            return value.size
        return None if grows(follower, right, loop) else follower.unknown(right, "loop")
    condition = loop.child_by_field_name("condition")
    parts_ = _conjuncts(condition) if condition is not None else []
    rows = [_compared(follower, part, loop, env) for part in parts_]
    found = [bound for bound in rows if bound is not None]
    sure = [bound for bound in found if bound.number is not None]
    if sure:
        return min(sure, key=lambda bound: bound.number or 0)
    if found:
        return found[0]
    for part in parts_:
        queue = drained(follower, part, loop)
        declared = follower.script.resolved.get(queue.id) if queue is not None else None
        if queue is not None and not (declared is not None and _begins_again(declared, loop)):
            return follower.unknown(queue, "items")
    texts = [
        follower.script.text(part)
        for part in parts_
        if part.type != "binary_expression" or part.children[1].type not in ("||", "??")
    ]
    asks = any("budget.remaining()" in text or "budget.spent()" in text for text in texts)
    if asks and any(text.startswith("budget.total") for text in texts):
        return follower.unknown(loop, "rounds")
    return None


def number(follower: Follower, node: Node, env: Env) -> Formula | None:
    """At least the value of an expression, rounded up; None where it may be anything."""
    script, kind = follower.script, node.type
    text = script.text(node)
    if kind == "number":
        exact = literal(text)
        return constant(ceil(exact)) if exact is not None else None
    if kind in ("parenthesized_expression", "await_expression"):
        return number(follower, node.named_children[0], env)
    if kind == "identifier":
        declared = script.resolved.get(node.id)
        if declared is None or not declared.lasting:
            return None
        home = env.home(declared)
        if declared.value is None:
            given = home.values.get(declared)
            return given.number if given is not None else None
        return number(follower, declared.value, home)
    if kind == "member_expression":
        target = node.child_by_field_name("object")
        if target is None or script.member(node) not in ("length", "size"):
            return None
        return follower.size(target, follower.evaluate(target, env)[1])
    if kind == "ternary_expression":
        one = _number_of(follower, node, "consequence", env)
        two = _number_of(follower, node, "alternative", env)
        return one.either(two) if one is not None and two is not None else None
    if kind == "call_expression":
        return _math(follower, node, env)
    return _arithmetic(follower, node, env) if kind == "binary_expression" else None


def _number_of(follower: Follower, node: Node, field: str, env: Env) -> Formula | None:
    part = node.child_by_field_name(field)
    return None if part is None else number(follower, part, env)


def _math(follower: Follower, node: Node, env: Env) -> Formula | None:
    [callee] = parts(node, "function")
    owner = callee.child_by_field_name("object")
    word = follower.script.text(callee)
    if owner is None or owner.id in follower.script.resolved:
        return None
    given = arguments(node)
    if not given or any(item.type == "spread_element" for item in given):
        return None
    if word not in _MATH:
        return None
    found = [number(follower, item, env) for item in given]
    known = [item for item in found if item is not None]
    if word == "Math.min":
        sure = [item for item in known if item.number is not None]
        return min(sure, key=lambda item: item.number or 0) if sure else next(iter(known), None)
    if len(known) < len(found):
        return None
    out = known[0]
    for item in known[1:]:
        out = out.either(item)
    return out


def _arithmetic(follower: Follower, node: Node, env: Env) -> Formula | None:
    operator = node.child_by_field_name("operator")
    word = follower.script.text(operator) if operator is not None else ""
    one, two = _number_of(follower, node, "left", env), _number_of(follower, node, "right", env)
    right = node.child_by_field_name("right")
    number_ = right is not None and right.type == "number"
    plain = literal(follower.script.text(right)) if right is not None and number_ else None
    if one is None:
        return constant(ceil(plain)) if word == "%" and plain else None
    if word == "+" and two is not None:
        return one + two
    if word == "*" and two is not None:  # of two numbers below zero it would be above both
        signs = [node.child_by_field_name(side) for side in ("left", "right")]
        return one * two if all(sign and not_negative(follower, sign) for sign in signs) else None
    sure = plain is not None or right is not None and _is_length(follower, right)
    if word == "-" and two is not None and sure:
        if one.number is not None and plain is not None:
            return constant(ceil(max(Fraction(0), one.number - floor(plain))))
        return one
    if word == "/" and plain is not None and plain >= 1 and plain.denominator == 1:
        return (one + constant(plain - 1)) * constant(1 / plain)
    if word == "%" and plain:
        return constant(ceil(plain))
    return None


def not_negative(follower: Follower, node: Node) -> bool:
    """Whether a number is surely zero or more: `slice` counts a negative one from the end."""
    declared = follower.script.resolved.get(node.id)
    if declared is not None:
        fixed = declared.value if declared.lasting else None
        return fixed is not None and not_negative(follower, fixed)
    if node.type in ("ternary_expression", "parenthesized_expression"):
        return all(not_negative(follower, child) for child in node.named_children[-2:])
    if node.type == "binary_expression" and node.children[1].type in ("+", "*", "/"):
        return all(not_negative(follower, node.children[side]) for side in (0, 2))
    if node.type == "call_expression":
        word = follower.script.text(parts(node, "function")[0])
        rows = [not_negative(follower, item) for item in arguments(node)]
        return word in _MATH and (any(rows) if word == "Math.max" else all(rows))
    return node.type == "number" or _is_length(follower, node)


def _is_length(follower: Follower, node: Node) -> bool:
    """Whether an expression is the length of a list that the script makes itself: never below zero."""
    if node.type != "member_expression" or follower.script.member(node) not in ("length", "size"):
        return False
    target = node.child_by_field_name("object")
    declared = follower.script.resolved.get(target.id) if target is not None else None
    return declared is not None and declared.lasting and is_fresh(follower, declared)


def _conjuncts(node: Node) -> list[Node]:
    if node.type in ("parenthesized_expression", "expression_statement") and node.named_children:
        return _conjuncts(node.named_children[0])
    if node.type == "binary_expression" and node.children[1].type == "&&":
        return _conjuncts(node.children[0]) + _conjuncts(node.children[2])
    return [node]


def _compared(follower: Follower, part: Node, loop: Node, env: Env) -> Formula | None:
    """The rounds that one comparison allows: a name that rises to a limit, or falls to one."""
    if part.type != "binary_expression":
        return None
    left, right, word = part.children[0], part.children[2], part.children[1].type
    if word not in _TURNED:
        return None
    for counter, limit, operator in ((left, right, word), (right, left, _TURNED[word])):
        name = counter.named_children[0] if counter.type == "update_expression" else counter
        declared = follower.script.resolved.get(name.id) if name.type == "identifier" else None
        if declared is None or _begins_again(declared, loop):
            continue
        in_place = counter is not name
        if operator in ("<", "<="):
            found = _rising(follower, declared, limit, operator, loop, env, in_place)
        else:
            found = _falling(follower, declared, limit, operator, loop, env)
        if found is not None:
            return found + (ONE if loop.type == "do_statement" else constant(0))
    return None


def _begins_again(declared: Declared, loop: Node) -> bool:
    """Whether the rounds of a loop declare a name anew: `do { var i = 0; ... } while (i < 5)`."""
    body = loop.child_by_field_name("body")
    return body is not None and inside(declared.node, body)


def _rising(
    follower: Follower,
    declared: Declared,
    limit: Node,
    operator: str,
    loop: Node,
    env: Env,
    in_place: bool,
) -> Formula | None:
    script = follower.script
    start = _signed(script.text(declared.value)) if declared.value is not None else None
    steps = [_step(script, write, "+") for write in declared.writes]
    if start is None or start.denominator != 1 or any(step is None for step in steps):
        return None
    sure = [] if not in_place else [Fraction(1)]
    sure += [
        step for write, step in zip(declared.writes, steps) if step and every_round(write, loop)
    ]
    step = max(sure, default=None)
    if step is None or step.denominator != 1:
        return None
    most = number(follower, limit, env)
    if most is None:
        if _is_endless(follower, limit) or _changes(follower, limit, loop):
            return None
        most = follower.unknown(limit, "value")
    elif most.number is None and _changes(follower, limit, loop):
        return None
    more = Fraction(1 if operator == "<=" else 0) - start
    if most.number is not None:
        return constant(max(0, ceil((most.number + more) / step)))
    return (most + constant(max(Fraction(0), more) + step - 1)) * constant(1 / step)


def _falling(
    follower: Follower, declared: Declared, limit: Node, operator: str, loop: Node, env: Env
) -> Formula | None:
    script = follower.script
    end = literal(script.text(limit)) if limit.type == "number" else None
    if end is None or end < 0 or declared.value is None:
        return None
    steps = [_step(script, write, "-") for write in declared.writes]
    if any(step is None for step in steps):
        return None
    if not any(
        step and step >= 1 and every_round(write, loop)
        for write, step in zip(declared.writes, steps)
    ):
        return None
    start = number(follower, declared.value, env.home(declared))
    if start is None:
        if _is_endless(follower, declared.value):
            return None
        start = follower.unknown(declared.value, "value")
    return start + (ONE if operator == ">=" else constant(0))


def _is_endless(follower: Follower, node: Node) -> bool:
    declared = follower.script.resolved.get(node.id)
    if declared is not None and declared.lasting and declared.value is not None:
        return _is_endless(follower, declared.value)
    return follower.script.text(node) in _ENDLESS


def _signed(text: str) -> Fraction | None:
    found = literal(text.removeprefix("-").strip())
    return -found if found is not None and text.startswith("-") else found


def _step(script: Script, write: Node, sign: str) -> Fraction | None:
    """At least how much a write adds (or takes away) each time, None where it does something else."""
    operator = write.child_by_field_name("operator")
    word = script.text(operator) if operator is not None else ""
    if write.type == "update_expression":
        return Fraction(1) if word == sign * 2 else None
    left, amount = write.child_by_field_name("left"), write.child_by_field_name("right")
    if left is None or left.type != "identifier" or amount is None:
        return None
    if write.type == "assignment_expression":  # i = i + 2
        if amount.type != "binary_expression" or amount.children[1].type != sign:
            return None
        same, amount = amount.children[0], amount.children[2]
        if same.type != "identifier" or script.text(same) != script.text(left):
            return None
    elif word != f"{sign}=":
        return None
    step = at_least(script, amount)
    return step if step is not None and step > 0 else None


def decides(loop: Node, declared: Declared) -> bool:
    """Whether a loop asks the name how often it goes round."""
    body = loop.child_by_field_name("body")
    return any(inside(use, loop) and not (body and inside(use, body)) for use in declared.uses)


def _changes(follower: Follower, limit: Node, loop: Node) -> bool:
    """Whether the loop itself may move the limit that it runs to."""
    work = [limit]
    while work:
        here = work.pop()
        declared = follower.script.resolved.get(here.id)
        if declared is not None and any(inside(write, loop) for write in declared.writes):
            return True
        work += here.named_children
    target = limit.child_by_field_name("object") if limit.type == "member_expression" else None
    return target is not None and grows(follower, target, loop)
