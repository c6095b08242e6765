"""The operations of a program's instructions, one function each.

An operation returns True when its strand has to wait. `machine` executes what it puts on the strand's stack.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from ..program.model import LEFT, MAX_STACK, Condition, Instruction, PlanBody, ToolRow
from . import rules
from .events import Kind, Mark, Perform, Stop, request_of
from .files.shared_files import SharedFiles, collision
from .state import Cycle, Frame, Join, Loop, Meter, RunState, Scope, Strand, Want
from .values import PredicateWanted, granted, holds, render

_new = tuple.__new__
UNBOUND = object()
"""The hidden value of a loop's name that had no value before the loop."""


def bind(frame: Frame, name: str | None, value: object) -> None:
    """Ends the current instruction with a value."""
    if name is not None:
        frame.scope.names[name] = value
    frame.at += 1


def stop(strand: Strand, kind: str, message: str, failure: str = "", tool: str = "") -> None:
    """Ends a strand at its current instruction; `failure` is the kind of the failure of `tool`, if a tool failed."""
    frame = strand.frames[-1]
    if frame.at < len(frame.block):
        address, line = _address(frame), frame.block[frame.at]["line"]
    elif frame.loop is not None:
        address, line = frame.prefix, frame.loop.line
    else:
        address, line = frame.prefix, frame.block[-1]["line"] if frame.block else 0
    strand.stop = Stop(kind, message, address, frame.scope.path, line, failure, tool)


def _count_model_request(strand: Strand, request: str) -> None:
    """Adds a model's request to the count of every `iterate` around the step."""
    number = int(request, 16)
    line: Strand | None = strand
    while line is not None:
        for frame in line.frames:
            if frame.loop is not None and frame.loop.op == "iterate":
                times, total = frame.loop.asked
                frame.loop.asked = (times + 1, (total + number) % 2**128)
        line = None if line.join is None else line.join.strand


def begin_round(frame: Frame, loop: Loop) -> None:
    """Puts a frame at the start of the loop's next round."""
    frame.at = 0
    frame.prefix = f"{loop.address}[{loop.at + 1}]"
    names = frame.scope.names
    for name in loop.names:
        names[name] = loop.items[loop.at]


def _address(frame: Frame) -> str:
    return f"{frame.prefix}/{frame.at + 1}"


def _mark(state: RunState, frame: Frame, kind: str, item: Instruction) -> None:
    """Records a place that is passed without an effect, if marks are kept."""
    if state.marks is not None:
        place = frame.scope.path, item["line"], state.records
        state.marks.append(Mark(kind, _address(frame), *place))


def _await_effect(
    state: RunState,
    strand: Strand,
    kind: Kind,
    tool: str,
    args: dict[str, Any],
    address: str,
    line: int,
) -> bool:
    """Makes the strand wait for an effect that only reads: a list of files, a predicate."""
    scope = strand.frames[-1].scope
    request = request_of(kind, tool, args)
    effect = Perform(
        address, kind, tool, args, request, "read", scope.path, line, True, scope.grants, alone=strand.alone,
        released=strand.released,
    )  # fmt: skip
    state.pending[address] = Want(effect, strand)
    return True


def condition(
    state: RunState, strand: Strand, frame: Frame, cond: Condition, place: str, line: int
) -> bool | None:
    """Whether the condition holds, or None while a predicate's answer is missing."""
    try:
        verdict = holds(cond, frame.scope.names, strand.answers)
    except PredicateWanted as missing:
        args = {"args": missing.wanted}
        address = f"{place}?{len(strand.answers) + 1}"
        _await_effect(state, strand, "predicate", missing.name, args, address, line)
        return None
    strand.answers.clear()
    return verdict


# One function an operation


def _step(state: RunState, strand: Strand, frame: Frame, item: Instruction) -> bool:
    scope = frame.scope
    names = scope.names
    name, address = item["tool"], f"{frame.prefix}/{frame.at + 1}"
    tool = state.program["tools"][name]
    known = state.literal.get(id(item))
    if known is not None:
        args, request = known[0].copy(), known[1]
    else:
        args, literal = {}, True
        for parameter, template in item["args"].items():
            args[parameter] = value = render(template, names)
            literal = literal and len(template) == 1 and value is template[0]
        request = request_of("tool", name, args)
        if literal:
            state.literal[id(item)] = args.copy(), request
    if strand.branches:
        found = collision(strand.branches, tool, args)
        if found is not None:
            files, path = found
            message = f"two branches of this fork use `{path}`, and one of them changes it"
            strand.stop = Stop("value", message, address, files.path, files.line, "shared")
            return False
    bound = item["bind"] is not None
    cost, paid = tool.get("cost"), False
    if cost is not None:
        cost = _cost(state, tool)
        if cost.get("model_calls") not in (None, 0, LEFT):
            _count_model_request(strand, request)
        paid = any(measure in state.budget for measure in cost) or (
            bool(state.metered)
            and any(measure in meter.budget for meter in scope.meters for measure in cost)
        )
    columns = (
        address, "tool", name, args, request, tool["effect"], scope.path, item["line"], bound, scope.grants, 1, None, paid,
        strand.alone, item.get("outside", ""), strand.released,
    )  # fmt: skip
    effect = _new(Perform, columns)  # half the time of `Perform(...)`
    seen = (
        rules.noticed(state.rules, tool, effect, item["action"], scope.cycles)
        if state.rules
        else ()
    )
    state.pending[address] = Want(effect, strand, item["action"], cost, seen)
    return True


def _cost(state: RunState, tool: ToolRow) -> dict[str, Any]:
    """The most that a step uses: as declared, and where it asks models the price of all its tokens."""
    cost: dict[str, Any] = tool["cost"]
    if cost and state.rate and "tokens" in cost and LEFT not in cost.values():
        return {
            **cost,
            "money": max(cost.get("money", 0), round(state.rate * cost.get("tokens", 0), 9)),
        }
    return cost


def _call(state: RunState, strand: Strand, frame: Frame, item: Instruction) -> bool:
    depth = frame.scope.depth + 1
    if depth > MAX_STACK:
        stop(
            strand,
            "bug",
            f"the call of `{item['name']}` would make the stack {depth} deep; {MAX_STACK} is the most",
        )
        return False
    _mark(state, frame, "call", item)
    names = frame.scope.names
    arguments = {name: render(template, names) for name, template in item["args"].items()}
    plan = state.program["plans"][item["plan"]]
    scope = scope_of(state, item["plan"], plan, arguments, frame.scope)
    strand.frames.append(
        Frame(plan["body"], f"{_address(frame)}>{item['name']}", scope, opens_scope=True)
    )
    return False


def scope_of(
    state: RunState, plan_id: str, plan: PlanBody, given: Mapping[str, object], outer: Scope | None
) -> Scope:
    """The scope in which a plan begins: its names, automaton, grants and budgets; `outer`: the scope that calls it."""
    names = dict(state.builtin)
    for param in plan["params"]:
        names[param["name"]] = param.get("default")
    names.update(given)
    cycle = None if outer is None else outer.cycle
    automaton_id = plan.get("automaton")
    if automaton_id is not None:
        automaton = state.program["automata"][automaton_id]
        cycle = Cycle(automaton_id, automaton, automaton["start"])
    grants = state.grants if outer is None else outer.grants
    if plan.get("allow"):
        grants = (
            *grants,
            {
                kind: tuple(granted(glob, names) for glob in globs)
                for kind, globs in plan["allow"].items()
            },
        )
    cycles = () if outer is None else outer.cycles
    cycles = cycles if automaton_id is None else (*cycles, automaton_id)
    depth = 1 if outer is None else outer.depth + 1
    meters = () if outer is None else outer.meters
    if outer is not None and plan.get("budget"):
        meters = (*meters, Meter(plan["path"], plan["budget"], state.elapsed))
    return Scope(
        plan_id,
        plan["path"],
        names,
        cycle,
        automaton_id is not None,
        depth,
        grants,
        cycles,
        meters=meters,
    )


def _skip(state: RunState, strand: Strand, frame: Frame, item: Instruction) -> bool:
    bind(frame, item["bind"], None)
    return False


def _each(state: RunState, strand: Strand, frame: Frame, item: Instruction) -> bool:
    glob = render(item["glob"], frame.scope.names)
    return _await_effect(
        state, strand, "files", "for_each_file", {"glob": glob}, f"{_address(frame)}*", item["line"]
    )


def listed(strand: Strand, files: list[str]) -> None:
    """The files of the current `each` are known: its rounds begin."""
    frame = strand.frames[-1]
    item = frame.block[frame.at]
    if item["max"] is not None and len(files) > item["max"]:
        stop(strand, "bound", f"{len(files)} files match, and the plan allows {item['max']}")
        return
    names = tuple({name for name in (item["name"], item["alias"]) if name is not None})
    _loop(strand, frame, item, files, names, None)


def _for(state: RunState, strand: Strand, frame: Frame, item: Instruction) -> bool:
    items = _items(strand, frame, item)
    if items is not None:
        _loop(strand, frame, item, items, (item["name"] or "",), [])
    return False


def _iterate(state: RunState, strand: Strand, frame: Frame, item: Instruction) -> bool:
    _loop(strand, frame, item, range(item["max"] or 0), (), None, item.get("until"))
    return False


def _loop(
    strand: Strand,
    frame: Frame,
    item: Instruction,
    items: Sequence[Any],
    names: tuple[str, ...],
    collected: list[Any] | None,
    until: Condition | None = None,
) -> None:
    if not items:
        bind(frame, item.get("bind"), collected)
        return
    hidden = {name: frame.scope.names.get(name, UNBOUND) for name in names}
    loop = Loop(
        item["op"], _address(frame), item["line"], items, names, hidden, until, 0, collected
    )
    body = Frame(item["body"], "", frame.scope, loop=loop)
    begin_round(body, loop)
    strand.frames.append(body)


def _items(strand: Strand, frame: Frame, item: Instruction) -> list[Any] | None:
    value = render(item["in"], frame.scope.names)
    if not isinstance(value, list):
        stop(strand, "value", f"`{item['op']}` runs over a list, and this is none")
        return None
    if len(value) > (item["max"] or 0):
        stop(strand, "bound", f"{len(value)} items, and the plan allows {item['max']}")
        return None
    return value


def _fork(state: RunState, strand: Strand, frame: Frame, item: Instruction) -> bool | list[Strand]:
    items = _items(strand, frame, item)
    if not items:
        if items is not None:
            bind(frame, item["bind"], [])
        return False
    keeps = "keep" in item
    join = Join(strand, item["bind"], [], len(items), items, keeps)
    alone = strand.alone or keeps
    outer, address = frame.scope, _address(frame)
    watched = (outer.path, item["line"]) in state.assumed_distinct
    files = SharedFiles(outer.path, item["line"]) if watched else None
    for number, value in enumerate(items, 1):
        names = {**outer.names, item["name"] or "": value}
        scope = Scope(
            outer.plan_id, outer.path, names, outer.cycle, False, outer.depth, outer.grants, outer.cycles, meters=outer.meters
        )  # fmt: skip
        branch = Frame(item["body"], f"{address}#{number}", scope)
        branches = strand.branches if files is None else (*strand.branches, (files, number))
        join.branches.append(
            Strand([branch], join, [], alone=alone, released=strand.released, branches=branches)
        )
    return join.branches[::-1]


def _if(state: RunState, strand: Strand, frame: Frame, item: Instruction) -> bool:
    verdict = condition(state, strand, frame, item["cond"], _address(frame), item["line"])
    if verdict is None:
        return True
    side: Literal["then", "else"] = "then" if verdict else "else"
    _mark(state, frame, side, item)
    if item[side]:
        strand.frames.append(Frame(item[side], f"{_address(frame)}.{side}", frame.scope))
    else:
        frame.at += 1
    return False


def _require(state: RunState, strand: Strand, frame: Frame, item: Instruction) -> bool:
    verdict = condition(state, strand, frame, item["cond"], _address(frame), item["line"])
    if verdict is None:
        return True
    if verdict:
        _mark(state, frame, "require", item)
        frame.at += 1
    else:
        stop(strand, "require", item["why"])
    return False


def _yield(state: RunState, strand: Strand, frame: Frame, item: Instruction) -> bool:
    value = render(item["value"], frame.scope.names)
    frame.at += 1
    for outer in reversed(strand.frames):
        if outer.loop is not None and outer.loop.op == "for":
            assert outer.loop.collected is not None
            outer.loop.collected.append(value)
            return False
        if outer.opens_scope:
            outer.scope.result = value
            return False
    assert (
        strand.collected is not None
    )  # the bottom of a strand that opens no scope is a branch of a fork
    strand.collected.append(value)
    return False


_Operation = Callable[[RunState, Strand, Frame, Instruction], bool | list[Strand]]
"""Returns whether the strand waits; of a fork, the branches that go on instead."""

OPERATIONS: dict[str, _Operation] = {
    "step": _step,
    "call": _call,
    "skip": _skip,
    "each": _each,
    "for": _for,
    "fork": _fork,
    "iterate": _iterate,
    "if": _if,
    "require": _require,
    "yield": _yield,
}
