"""What calls cost: those of the runtime, of lists and promises, and of the script's own functions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .call_details import model_of, shares, sliced
from .formula import ONE, ZERO, Formula
from .language import HARMLESS, METHODS, SESSION, STARTERS, VALUES, words
from .rounds import number
from .script import NotBounded, arguments, bare, parameters, parts
from .values import ABSENT, DATA, FREE, Cost, Env, Value, as_item, one_agent

if TYPE_CHECKING:
    from tree_sitter import Node

    from .values import Follower

_EACH = words("map flatMap forEach filter some every find findIndex findLast findLastIndex")
_KEEP = frozenset(("filter", "reverse", "toReversed", "sort", "toSorted", "values"))
_ITEM = frozenset(("find", "findLast", "at", "pop", "shift"))
_PLAIN = words("join includes indexOf lastIndexOf keys some every toString")


def called(follower: Follower, node: Node, env: Env) -> tuple[Cost, Value]:
    """(cost, value) of a call or of `new`."""
    script = follower.script
    callee = node.child_by_field_name("function") or node.child_by_field_name("constructor")
    if callee is None:
        raise NotBounded(node, "a call without a name")
    callee = bare(callee)
    if callee.type == "identifier" and callee.id not in script.resolved:
        return _global(follower, node, script.text(callee), env)
    if callee.type == "member_expression":
        return _method(follower, node, callee, env)
    if callee.type == "subscript_expression":
        target = callee.child_by_field_name("object")
        if target is not None:
            follower.escape(follower.evaluate(target, env)[1], callee)
    cost, value = follower.evaluate(callee, env)
    if [function.native for function in value.functions] == ["agent"]:
        more, result = _global(follower, node, "agent", env)
        return cost + more, result
    more, values = _given(follower, node, env)
    if not value.functions:
        follower.escape(value, callee)
    if not value.functions or any(item.type == "spread_element" for item in arguments(node)):
        for argument, one in zip(arguments(node), values):
            follower.escape(one, argument)
        values = []
    else:
        counts = [len(parameters(one.node)) for one in value.functions if one.node is not None]
        most = max(counts, default=0)
        values += [ABSENT] * (most - len(values))
    if not value.functions:
        return cost + more, DATA
    each, result = follower.calls(value, values, node)
    return cost + more + each, result


def _given(follower: Follower, node: Node, env: Env) -> tuple[Cost, list[Value]]:
    cost, values = FREE, []
    for argument in arguments(node):
        more, value = follower.evaluate(argument, env)
        cost = cost + more
        known = number(follower, argument, env) if value == DATA else value.number
        values.append(value._replace(number=known))
    return cost, values


def _plain(follower: Follower, node: Node, env: Env) -> Cost:
    return sum((follower.cost(argument, env) for argument in arguments(node)), FREE)


def _global(follower: Follower, node: Node, name: str, env: Env) -> tuple[Cost, Value]:
    given = arguments(node)
    if name == "await" and len(given) == 1:  # `await (x)` at the top is read as a call
        return follower.evaluate(given[0], env)
    if name == "agent":
        model = model_of(follower, node)
        if model == SESSION:
            follower.note_session(node)
        return _plain(follower, node, env) + one_agent(model), DATA
    if name in STARTERS and (not given or given[0].type == "spread_element"):
        raise NotBounded(node, f"what `{name}` is given is not known")
    if name == "parallel":
        return _parallel(follower, node, env)
    if name == "pipeline":
        return _pipeline(follower, node, env)
    if name == "workflow":
        raise NotBounded(node, "starts another workflow, whose agents are not counted here")
    if name == "Promise" and given:
        cost, value = follower.evaluate(given[0], env)
        each, _ = follower.calls(value, [], node)
        return cost + each, DATA
    if name == "Array" and len(given) == 1:
        size = number(follower, given[0], env)
        if size is not None:  # of what is not a number, `Array` makes a list that holds it
            size = size.either(ONE)
        return follower.cost(given[0], env), Value((), None, size)
    if name in ("Set", "Map") and given:
        cost, value = follower.evaluate(given[0], env)
        return cost, Value((), value.element, value.size)
    if name in HARMLESS or name in VALUES or name in ("phase", "log"):
        return _plain(follower, node, env), DATA
    raise NotBounded(node, f"calls `{name}`, which is not known: it may start agents")


def _parallel(follower: Follower, node: Node, env: Env) -> tuple[Cost, Value]:
    first = bare(arguments(node)[0])
    extra = sum((follower.cost(argument, env) for argument in arguments(node)[1:]), FREE)
    if first.type != "array":
        cost, value = follower.evaluate(first, env)
        each, result = _thunks(follower, first, value, node)
        return extra + cost + each, Value((), as_item(follower, result), value.size)
    total, result, size = extra, DATA, ZERO
    rounds = ZERO
    whole, together = True, True
    for child in first.named_children:
        if child.type == "comment":
            continue
        cost, value = follower.evaluate(child, env)
        total = total + cost
        if child.type == "spread_element":
            each, returned = _thunks(follower, child, value, node)
            whole = whole and value.size is not None
            size = size + (value.size or ZERO)
        else:
            each, returned = follower.calls(value, [], child)
            together = together and not shares(follower, value)
            size = size + ONE
        result = result.either(returned)
        rounds = rounds.either(each.rounds) if together else rounds + each.rounds
        total = total + each._replace(rounds=ZERO)
    return total._replace(rounds=total.rounds + rounds), Value(
        (), as_item(follower, result), size if whole else None
    )


def _thunks(follower: Follower, node: Node, value: Value, at: Node) -> tuple[Cost, Value]:
    """Every function of a list is called once."""
    element = value.element or DATA
    each, result = follower.calls(element, [], at)
    if not each.agents:
        return FREE, result
    together = not shares(follower, element)
    return follower.multiplied(at, each, follower.size(node, value), together=together), result


def _pipeline(follower: Follower, node: Node, env: Env) -> tuple[Cost, Value]:
    items, *stages = arguments(node)
    total, value = follower.evaluate(items, env)
    each, last = FREE, value.element or DATA
    together = True
    for stage in stages:
        more, handler = follower.evaluate(stage, env)
        total = total + more
        if stage.type == "spread_element":
            handler = handler.element or DATA
            cost, last = follower.calls(handler, [DATA, value.element or DATA, DATA], stage)
            if cost.agents:
                cost = follower.multiplied(stage, cost, follower.size(stage, Value()))
        else:
            cost, last = follower.calls(handler, [last, value.element or DATA, DATA], stage)
        together = together and not shares(follower, handler)
        each = each + cost
    if each.agents:
        size = follower.size(items, value)
        total = total + follower.multiplied(node, each, size, together=together)
    return total, Value((), as_item(follower, last), value.size)


def _method(follower: Follower, node: Node, callee: Node, env: Env) -> tuple[Cost, Value]:
    script = follower.script
    target, name = parts(callee, "object", "property")
    word = script.text(name)
    given = arguments(node)
    if target.type == "identifier" and target.id not in script.resolved:
        owner = script.text(target)
        if owner == "Promise":
            return _promise(follower, node, word, env)
        if owner == "Array" and word == "from" and given:
            return _array_from(follower, node, env)
        if owner == "Object" and word == "fromEntries" and given:
            inner = follower.evaluate(given[0], env)[1].element or DATA
            if inner.functions or (inner.element or DATA).functions:
                raise NotBounded(node, "a function gets a name here that cannot be followed")
    cost, value = follower.evaluate(target, env)
    follower.escape(Value(value.functions), target)
    if word in ("then", "catch", "finally"):
        more, values = _given(follower, node, env)
        result = value
        for one in values:
            each, returned = follower.calls(one, [value], node)
            more, result = more + each, result.either(returned)
        return cost + more, result
    more, result = _of_list(follower, node, target, value, word, env)
    return cost + more, result


def _of_list(
    follower: Follower, node: Node, target: Node, value: Value, word: str, env: Env
) -> tuple[Cost, Value]:
    """(cost, value) of a method of a list."""
    given = arguments(node)
    if word in _EACH and given:
        return _for_each(follower, node, target, value, word, env)
    if word in ("reduce", "reduceRight") and given:
        more, values = _given(follower, node, env)
        each, result = follower.calls(values[0], [DATA, value.element or DATA], node)
        for one in (*values[1:], result):
            follower.escape(one, node)
        if each.agents:
            each = follower.multiplied(node, each, follower.size(target, value))
        return more + each, DATA
    if word == "push":
        return _pushed(follower, node, target, env), DATA
    if word == "splice":
        width = number(follower, given[1], env) if len(given) == 2 else None
        return _plain(follower, node, env), value._replace(size=width)
    if word == "slice":
        return _plain(follower, node, env), value._replace(size=sliced(follower, given, value, env))
    if word == "concat":
        cost = FREE
        for argument in given:
            more, other = follower.evaluate(argument, env)
            cost = cost + more
            element = (value.element or DATA).either(other.element or DATA)
            value = Value((), element.either(Value(other.functions)))
        return cost, value
    more = _plain(follower, node, env)
    if word in _KEEP:
        return more, value
    if word in _ITEM:
        return more, value.element or DATA
    if word == "keys":
        return more, Value((), None, value.size)
    if word in METHODS or word not in _PLAIN:
        follower.escape(value, node)
    return more, DATA


def _promise(follower: Follower, node: Node, word: str, env: Env) -> tuple[Cost, Value]:
    cost, values = _given(follower, node, env)
    first = values[0] if values else DATA
    if word in ("all", "allSettled"):
        return cost, Value((), first.element, first.size)
    if word in ("any", "race"):
        return cost, first.element or DATA
    if word in ("resolve", "reject"):
        return cost, first
    for one in values:
        follower.escape(one, node)
    return cost, DATA


def _array_from(follower: Follower, node: Node, env: Env) -> tuple[Cost, Value]:
    given = arguments(node)
    first = given[0]
    size: Formula | None = None
    element = DATA
    if first.type == "object":
        cost = follower.cost(first, env)
        pair = first.named_children[0] if len(first.named_children) == 1 else None
        if pair is not None and pair.type == "pair":
            name, _, length = pair.children[:3]
            if follower.script.text(name) == "length":
                size = number(follower, length, env)
                size = follower.unknown(length, "value") if size is None else size
    else:
        cost, value = follower.evaluate(first, env)
        size, element = value.size, value.element or DATA
    if len(given) < 2:
        return cost, Value((), element, size)
    more, handler = follower.evaluate(given[1], env)
    each, result = follower.calls(handler, [element, DATA], node)
    if each.agents:
        most = size if size is not None else follower.unknown(first, "items")
        each = follower.multiplied(node, each, most, together=not shares(follower, handler))
    return cost + more + each, Value((), as_item(follower, result), size)


def _for_each(
    follower: Follower, node: Node, target: Node, value: Value, word: str, env: Env
) -> tuple[Cost, Value]:
    more, values = _given(follower, node, env)
    each, result = follower.calls(values[0], [value.element or DATA, DATA, DATA], node)
    for one in values[1:]:
        follower.escape(one, node)
    if each.agents:
        together = not shares(follower, values[0])
        each = follower.multiplied(node, each, follower.size(target, value), together=together)
    cost = more + each
    if word == "map":
        return cost, Value((), as_item(follower, result), value.size)
    if word == "flatMap":
        inner = result.size
        known = inner is not None and value.size is not None
        return cost, Value((), result.element or DATA, value.size * inner if known else None)  # type: ignore[operator]
    follower.escape(result, node)
    if word == "filter":
        return cost, value
    return cost, (value.element or DATA) if word in _ITEM else DATA


def _pushed(follower: Follower, node: Node, target: Node, env: Env) -> Cost:
    """`push`: what starts agents may only be pushed to a list that is followed."""
    script = follower.script
    cost, values = _given(follower, node, env)
    if not any(follower.starts(value) for value in values):
        return cost
    declared = script.resolved.get(target.id)
    followed = (
        declared is not None
        and declared.lasting
        and declared.value is not None
        and declared.value.type == "array"
        and node in (follower.uses.pushes(declared) or ())
        and script.function_of(node).id == script.function_of(declared.node).id
    )
    if not followed:
        why = "functions that start agents are collected where they cannot be followed"
        raise NotBounded(node, why)
    return cost
