"""What calls cost: those of the runtime, of lists and promises, and of the script's own functions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .formula import ONE, ZERO, Formula, constant
from .language import CHOSEN, HARMLESS, METHODS, SESSION, STARTERS, VALUES
from .rounds import literal, number
from .script import FUNCTIONS, NotBounded, arguments
from .values import DATA, FREE, Cost, Env, Function, Value, one_agent

if TYPE_CHECKING:
    from tree_sitter import Node

    from .values import Follower

_EACH = frozenset(
    ("map", "flatMap", "forEach", "filter", "some", "every", "find", "findIndex", "findLast", "findLastIndex")
)
_KEEP = frozenset(("filter", "reverse", "toReversed", "sort", "toSorted", "values"))
_ITEM = frozenset(("find", "findLast", "at", "pop", "shift"))
_PLAIN = frozenset(("join", "includes", "indexOf", "lastIndexOf", "keys", "some", "every", "toString", "splice"))


def called(follower: Follower, node: Node, env: Env) -> tuple[Cost, Value]:
    """(cost, value) of a call or of `new`."""
    script = follower.script
    callee = node.child_by_field_name("function") or node.child_by_field_name("constructor")
    if callee is None:
        raise NotBounded(node, "a call without a name")
    while callee.type == "parenthesized_expression" and len(callee.named_children) == 1:
        callee = callee.named_children[0]
    if callee.type == "identifier" and callee.id not in script.resolved:
        return _global(follower, node, script.text(callee), env)
    if callee.type == "member_expression":
        return _method(follower, node, callee, env)
    if callee.type == "subscript_expression":
        target = callee.child_by_field_name("object")
        if target is not None:
            follower.escape(follower.evaluate(target, env)[1], callee)
    cost, value = follower.evaluate(callee, env)
    more, values = _given(follower, node, env)
    if not value.functions:
        for argument, one in zip(arguments(node), values):
            follower.escape(one, argument)
        return cost + more, DATA
    if any(item.type == "spread_element" for item in arguments(node)):
        for argument, one in zip(arguments(node), values):
            follower.escape(one, argument)
        values = []
    each, result = follower.calls(value, values, node)
    return cost + more + each, result


def _given(follower: Follower, node: Node, env: Env) -> tuple[Cost, list[Value]]:
    cost, values = FREE, []
    for argument in arguments(node):
        more, value = follower.evaluate(argument, env)
        cost = cost + more
        values.append(value._replace(number=number(follower, argument, env)) if value == DATA else value)
    return cost, values


def _plain(follower: Follower, node: Node, env: Env) -> Cost:
    cost = FREE
    for argument in arguments(node):
        cost = cost + follower.cost(argument, env)
    return cost


def _global(follower: Follower, node: Node, name: str, env: Env) -> tuple[Cost, Value]:
    given = arguments(node)
    if name == "await" and len(given) == 1:  # `await (x)` at the top is read as a call
        return follower.evaluate(given[0], env)
    if name == "agent":
        model = _model(follower, node)
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
        return follower.cost(given[0], env), Value((), None, number(follower, given[0], env))
    if name in ("Set", "Map") and given:
        cost, value = follower.evaluate(given[0], env)
        return cost, Value((), value.element, value.size)
    if name in HARMLESS or name in VALUES or name in ("phase", "log"):
        return _plain(follower, node, env), DATA
    raise NotBounded(node, f"calls `{name}`, which is not known: it may start agents")


def _model(follower: Follower, node: Node) -> str:
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


def _parallel(follower: Follower, node: Node, env: Env) -> tuple[Cost, Value]:
    first = arguments(node)[0]
    while first.type == "parenthesized_expression" and len(first.named_children) == 1:
        first = first.named_children[0]
    extra = FREE
    for argument in arguments(node)[1:]:
        extra = extra + follower.cost(argument, env)
    if first.type != "array":
        cost, value = follower.evaluate(first, env)
        each, result = _thunks(follower, first, value, node)
        return extra + cost + each, Value((), result, value.size)
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
            together = together and not _shares(follower, value)
            size = size + ONE
        result = result.either(returned)
        rounds = rounds.either(each.rounds) if together else rounds + each.rounds
        total = total + each._replace(rounds=ZERO)
    return total._replace(rounds=total.rounds + rounds), Value((), result, size if whole else None)


def _thunks(follower: Follower, node: Node, value: Value, at: Node) -> tuple[Cost, Value]:
    """Every function of a list is called once."""
    element = value.element or DATA
    each, result = follower.calls(element, [], at)
    if not each.agents:
        return FREE, result
    size = value.size if value.size is not None else follower.unknown(node, "items")
    return follower.multiplied(at, each, size, together=not _shares(follower, element)), result


def _pipeline(follower: Follower, node: Node, env: Env) -> tuple[Cost, Value]:
    items, *stages = arguments(node)
    total, value = follower.evaluate(items, env)
    each, last = FREE, value.element or DATA
    together = True
    for stage in stages:
        more, handler = follower.evaluate(stage, env)
        total = total + more
        if stage.type == "spread_element":
            cost, last = follower.calls(handler.element or DATA, [DATA, value.element or DATA, DATA], stage)
            handler = handler.element or DATA
            if cost.agents:
                cost = follower.multiplied(stage, cost, follower.size(stage, Value()))
        else:
            cost, last = follower.calls(handler, [last, value.element or DATA, DATA], stage)
        together = together and not _shares(follower, handler)
        each = each + cost
    if not each.agents:
        return total, Value((), last, value.size)
    size = value.size if value.size is not None else follower.unknown(items, "items")
    return total + follower.multiplied(node, each, size, together=together), Value((), last, value.size)


def _shares(follower: Follower, value: Value) -> bool:
    """Whether one call of a function may wait for another one of the same list, over a name that both write."""
    return any(item.node is None or _writes_outside(follower, item.node, set()) for item in value.functions if item.node)


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
        outside = not function.start_byte <= declared.node.start_byte < function.end_byte
        if outside and any(function.start_byte <= write.start_byte < function.end_byte for write in declared.writes):
            return True
        parent = node.parent
        if outside and parent is not None and parent.type in ("member_expression", "subscript_expression"):
            name = parent.child_by_field_name("property")
            word = script.text(name) if name is not None else ""
            if word in ("push", "set", "add", "unshift", "splice", "fill") or _assigned(parent):
                return True
        if declared.value is not None and declared.value.type in FUNCTIONS:
            if _writes_outside(follower, declared.value, seen):
                return True
    return False


def _assigned(node: Node) -> bool:
    parent = node.parent
    while parent is not None and parent.type in ("member_expression", "subscript_expression"):
        node, parent = parent, parent.parent
    left = parent.child_by_field_name("left") if parent is not None else None
    return left is not None and left.id == node.id and parent is not None and "assignment" in parent.type


def _method(follower: Follower, node: Node, callee: Node, env: Env) -> tuple[Cost, Value]:
    script = follower.script
    target, name = callee.child_by_field_name("object"), callee.child_by_field_name("property")
    if target is None or name is None:
        raise NotBounded(node, "a call without a name")
    word = script.text(name)
    given = arguments(node)
    if target.type == "identifier" and target.id not in script.resolved:
        owner = script.text(target)
        if owner == "Promise":
            return _promise(follower, node, word, env)
        if owner == "Array" and word == "from" and given:
            return _array_from(follower, node, env)
    cost, value = follower.evaluate(target, env)
    follower.escape(Value(value.functions), target)
    if word in _EACH and given:
        return _for_each(follower, node, target, value, word, cost, env)
    if word in ("reduce", "reduceRight") and given:
        more, values = _given(follower, node, env)
        each, result = follower.calls(values[0], [DATA, value.element or DATA], node)
        for one in (*values[1:], result):
            follower.escape(one, node)
        if each.agents:
            each = follower.multiplied(node, each, follower.size(target, value))
        return cost + more + each, DATA
    if word in ("then", "catch", "finally"):
        more, values = _given(follower, node, env)
        result = value
        for one in values:
            each, returned = follower.calls(one, [value], node)
            more, result = more + each, result.either(returned)
        return cost + more, result
    if word == "push":
        return cost + _pushed(follower, node, target, env), DATA
    if word == "slice":
        return cost + _plain(follower, node, env), value._replace(size=_sliced(follower, given, value, env))
    if word == "concat":
        for argument in given:
            more, other = follower.evaluate(argument, env)
            cost = cost + more
            value = Value((), (value.element or DATA).either(other.element or DATA).either(Value(other.functions)))
        return cost, value
    more = _plain(follower, node, env)
    if word in _KEEP:
        return cost + more, value
    if word in _ITEM:
        return cost + more, value.element or DATA
    if word == "keys":
        return cost + more, Value((), None, value.size)
    if word in METHODS or word not in _PLAIN:
        follower.escape(value, node)
    return cost + more, DATA


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
        for child in first.named_children:
            key, length = child.child_by_field_name("key"), child.child_by_field_name("value")
            if key is not None and length is not None and follower.script.text(key).strip("'\"") == "length":
                size = number(follower, length, env)
                if size is None:
                    size = follower.unknown(length, "value")
    else:
        cost, value = follower.evaluate(first, env)
        size, element = value.size, value.element or DATA
    if len(given) < 2:
        return cost, Value((), element, size)
    more, handler = follower.evaluate(given[1], env)
    each, result = follower.calls(handler, [element, DATA], node)
    if each.agents:
        most = size if size is not None else follower.unknown(first, "items")
        each = follower.multiplied(node, each, most, together=not _shares(follower, handler))
    return cost + more + each, Value((), result, size)


def _for_each(
    follower: Follower, node: Node, target: Node, value: Value, word: str, cost: Cost, env: Env
) -> tuple[Cost, Value]:
    more, values = _given(follower, node, env)
    each, result = follower.calls(values[0], [value.element or DATA, DATA, DATA], node)
    for one in values[1:]:
        follower.escape(one, node)
    if each.agents:
        each = follower.multiplied(
            node, each, follower.size(target, value), together=not _shares(follower, values[0])
        )
    cost = cost + more + each
    if word == "map":
        return cost, Value((), result, value.size)
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
        raise NotBounded(node, "functions that start agents are collected where they cannot be followed")
    return cost


def _sliced(follower: Follower, given: list[Node], value: Value, env: Env) -> Formula | None:
    """The length of `slice`: by its numbers where they say so, else that of the list."""
    text = follower.script.text
    if len(given) == 1 and text(given[0]).startswith("-"):
        last = literal(text(given[0])[1:].strip())
        return constant(last) if last is not None else value.size
    if len(given) != 2:
        return value.size
    begin, end = given
    first = literal(text(begin)) if begin.type == "number" else None
    if first is not None:
        most = number(follower, end, env)
        if most is None or (most.number is None and value.size is not None and value.size.number is not None):
            return value.size
        if most.number is not None:
            most = constant(max(0, most.number - first))
            if value.size is not None and value.size.number is not None:
                return min(most, value.size, key=lambda one: one.number or 0)
        return most
    if end.type == "binary_expression" and end.children[1].type == "+":
        for one, other in ((end.children[0], end.children[2]), (end.children[2], end.children[0])):
            if text(one) == text(begin) and begin.type == "identifier":
                width = number(follower, other, env)
                if width is not None and (width.number is not None or value.size is None):
                    return width
    return value.size


__all__ = ["Function", "called"]
