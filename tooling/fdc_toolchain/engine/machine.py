"""Control flow: moves strands through instructions until each stands at an effect or has ended.

Iterative throughout: neither a deep call tree, nor a long loop, nor a fork inside a fork uses
Python's stack. Every instruction is visited as often as the run reaches it and no more, so a
run costs time linear in its steps.

An operation returns True when its strand has to wait. A strand that has ended has no frames
left or a `stop`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from hashlib import blake2b
from typing import Any

from ..program.codec import canonical
from ..program.model import KEPT, MAX_STACK, Instruction, PlanBody
from . import rules
from .events import Kind, Perform, Stop
from .state import Cycle, Frame, Join, Loop, Meter, RunState, Scope, Strand, Want
from .values import PredicateWanted, Unusable, holds, lookup, render, text

STALLED = 3
"""Rounds of `iterate` that ask models the very same, after which it stops."""

_UNBOUND = object()

_REFERENCE = re.compile(r"\{([A-Za-z_][A-Za-z0-9_.]*)\}")


def request_of(kind: str, tool: str, args: dict[str, Any]) -> str:
    """The hash that a record carries of what was asked: blake2b-128 of the canonical JSON."""
    return blake2b(canonical([kind, tool, args]).encode("ascii"), digest_size=16).hexdigest()


def enter(state: RunState) -> None:
    """Puts the root plan on the stack of a new state and moves it to its first effect."""
    plan = state.program["plans"][state.program["root"]]
    scope = _scope(state, state.program["root"], plan, state.given, None)
    advance(state, Strand([Frame(plan["body"], "main", scope, opens_scope=True)]))


def advance(state: RunState, strand: Strand) -> None:
    """Moves a strand, and whatever that sets free, as far as it goes without an effect."""
    work: list[Strand] = []
    _run(state, strand, work)
    while work:
        _run(state, work.pop(), work)


def bind(frame: Frame, name: str | None, value: Any) -> None:
    """Ends the instruction under way with a value."""
    if name is not None:
        frame.scope.names[name] = value
    frame.at += 1


def stop(strand: Strand, kind: str, message: str, failure: str = "") -> None:
    """Ends a strand at its instruction under way; `failure` is the kind of the tool's failure, where one failed."""
    frame = strand.frames[-1]
    if frame.at < len(frame.block):
        address, line = _here(frame), frame.block[frame.at]["line"]
    elif frame.loop is not None:
        address, line = frame.prefix, frame.loop.line
    else:
        address, line = frame.prefix, frame.block[-1]["line"] if frame.block else 0
    strand.stop = Stop(kind, message, address, frame.scope.path, line, failure)


def _run(state: RunState, strand: Strand, work: list[Strand]) -> None:
    while strand.frames and strand.stop is None:
        frame = strand.frames[-1]
        try:
            if frame.at < len(frame.block):
                item = frame.block[frame.at]
                waits = _OPERATIONS[item["op"]](state, strand, frame, item, work)
            else:
                waits = _leave(state, strand, frame)
        except Unusable as wrong:
            stop(strand, "value", str(wrong))
            break
        if waits:
            return
    _end(state, strand, work)


def _end(state: RunState, strand: Strand, work: list[Strand]) -> None:
    join = strand.join
    if join is None:
        state.ended = True
        state.stop = strand.stop
        if state.rules and strand.stop is None:
            plan = state.program["plans"][state.program["root"]]
            state.stop = rules.unmet(
                state.rules, plan["path"], plan["body"][-1]["line"] if plan["body"] else 0
            )
        return
    join.open -= 1
    if strand.stop is not None and _is_kept(join, strand.stop):
        state.kept.append(strand.stop)
    if join.open:
        return
    parent = join.strand
    stops = [branch.stop for branch in join.branches if branch.stop is not None]
    parent.stop = next((one for one in stops if not _is_kept(join, one)), None)
    if parent.stop is None:
        bind(parent.frames[-1], join.bind, _gathered(join))
    work.append(parent)


def _is_kept(join: Join, why: Stop) -> bool:
    return join.keeps and why.kind in KEPT


def _gathered(join: Join) -> list[Any]:
    """What the branches yielded, in the order of the input; of one that stopped, the record of that."""
    out: list[Any] = []
    for branch, item in zip(join.branches, join.items, strict=True):
        if branch.stop is None:
            out += branch.collected or ()
        else:
            kind, why, address, path, line, _ = branch.stop
            out.append(
                {
                    "failed": kind,
                    "why": why,
                    "item": item,
                    "at": address,
                    "path": path,
                    "line": line,
                }
            )
    return out


def _leave(state: RunState, strand: Strand, frame: Frame) -> bool:
    """The block is done: another round, or back to the instruction below that it is the body of."""
    loop = frame.loop
    value = None
    if loop is not None:
        done: bool | None = False
        if loop.until is not None:
            done = _condition(state, strand, frame, loop.until, frame.prefix, loop.line)
            if done is None:
                return True
        loop.at += 1
        if not done and loop.at < len(loop.items):
            if loop.op == "iterate" and _stalled(loop):
                stop(
                    strand,
                    "stalled",
                    f"{STALLED} rounds in a row asked models the very same, so nothing new can come",
                )
                return False
            _round(frame, loop)
            return False
        _unhide(frame.scope.names, loop.hidden)
        value = loop.collected
    elif frame.opens_scope:
        scope = frame.scope
        value = scope.result
        if scope.cycle is not None and scope.owns_cycle:
            cycle = scope.cycle
            if cycle.state not in cycle.automaton["accept"]:
                message = (
                    f"the plan ends in state `{cycle.state}`, where `{cycle.name}` does not accept"
                )
                stop(strand, "bug", message)
                return False
    strand.frames.pop()
    if strand.frames:
        below = strand.frames[-1]
        bind(below, below.block[below.at].get("bind"), value)
    elif strand.join is None:
        state.result = value
    return False


def _stalled(loop: Loop) -> bool:
    """Counts a round of `iterate` that asked models just what the round before it asked."""
    loop.same = loop.same + 1 if loop.asked == loop.before and loop.asked[0] else 1
    loop.before, loop.asked = loop.asked, (0, 0)
    return loop.same >= STALLED


def _asks(strand: Strand, request: str) -> None:
    """Tells every `iterate` around a step that asks a model what it asks."""
    number = int(request, 16)
    line: Strand | None = strand
    while line is not None:
        for frame in line.frames:
            if frame.loop is not None and frame.loop.op == "iterate":
                times, total = frame.loop.asked
                frame.loop.asked = (times + 1, (total + number) % 2**128)
        line = None if line.join is None else line.join.strand


def _round(frame: Frame, loop: Loop) -> None:
    frame.at = 0
    frame.prefix = f"{loop.address}[{loop.at + 1}]"
    names = frame.scope.names
    for name in loop.names:
        names[name] = loop.items[loop.at]


def _unhide(names: dict[str, Any], hidden: dict[str, Any]) -> None:
    for name, value in hidden.items():
        if value is _UNBOUND:
            names.pop(name, None)
        else:
            names[name] = value


def _here(frame: Frame) -> str:
    return f"{frame.prefix}/{frame.at + 1}"


def _want(
    state: RunState,
    strand: Strand,
    kind: Kind,
    tool: str,
    args: dict[str, Any],
    address: str,
    line: int,
) -> bool:
    """Lets the strand stand at an effect that only looks: a list of files, a predicate."""
    scope = strand.frames[-1].scope
    request = request_of(kind, tool, args)
    wanted = Perform(
        address, kind, tool, args, request, "read", scope.path, line, True, scope.grants, alone=strand.alone,
        released=strand.released,
    )  # fmt: skip
    state.pending[address] = Want(wanted, strand)
    return True


def _condition(
    state: RunState, strand: Strand, frame: Frame, cond: dict[str, Any], place: str, line: int
) -> bool | None:
    """The verdict, or None while a predicate's answer is wanted."""
    try:
        verdict = holds(cond, frame.scope.names, strand.answers)
    except PredicateWanted as asked:
        args = {"args": asked.wanted}
        address = f"{place}?{len(strand.answers) + 1}"
        _want(state, strand, "predicate", asked.name, args, address, line)
        return None
    strand.answers.clear()
    return verdict


# One function an operation


def _step(
    state: RunState, strand: Strand, frame: Frame, item: Instruction, work: list[Strand]
) -> bool:
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
    bound = item["bind"] is not None
    cost, paid = tool.get("cost"), False
    if cost is not None:
        cost = _cost(state, tool)
        if cost.get("model_calls"):
            _asks(strand, request)
        paid = any(measure in state.budget for measure in cost) or (
            bool(state.metered)
            and any(measure in meter.budget for meter in scope.meters for measure in cost)
        )
    columns = (
        address, "tool", name, args, request, tool["effect"], scope.path, item["line"], bound, scope.grants, 1, None, paid,
        strand.alone, item.get("outside", ""), strand.released,
    )  # fmt: skip
    wanted = Perform._make(columns)  # twice as quick as `Perform(...)`
    seen = (
        rules.noticed(state.rules, tool, wanted, item["action"], scope.cycles)
        if state.rules
        else ()
    )
    state.pending[address] = Want(wanted, strand, item["action"], cost, seen)
    return True


def _cost(state: RunState, tool: dict[str, Any]) -> dict[str, float]:
    """The most that a step uses: as declared, and where it asks models the price of all its tokens."""
    cost: dict[str, float] = tool["cost"]
    if cost and state.rate and "tokens" in cost:
        return {
            **cost,
            "money": max(cost.get("money", 0), round(state.rate * cost.get("tokens", 0), 9)),
        }
    return cost


def _call(
    state: RunState, strand: Strand, frame: Frame, item: Instruction, work: list[Strand]
) -> bool:
    depth = frame.scope.depth + 1
    if depth > MAX_STACK:
        stop(
            strand,
            "bug",
            f"the call of `{item['name']}` would make the stack {depth} deep; {MAX_STACK} is the most",
        )
        return False
    names = frame.scope.names
    given = {name: render(template, names) for name, template in item["args"].items()}
    plan = state.program["plans"][item["plan"]]
    scope = _scope(state, item["plan"], plan, given, frame.scope)
    strand.frames.append(
        Frame(plan["body"], f"{_here(frame)}>{item['name']}", scope, opens_scope=True)
    )
    return False


def _scope(
    state: RunState, plan_id: str, plan: PlanBody, given: dict[str, Any], outer: Scope | None
) -> Scope:
    names = dict(state.builtin)
    for param in plan["params"]:
        names[param["name"]] = param.get("default")
    names.update(given)
    cycle = None if outer is None else outer.cycle
    own = plan.get("automaton")
    if own is not None:
        automaton = state.program["automata"][own]
        cycle = Cycle(own, automaton, automaton["start"])
    grants = () if outer is None else outer.grants
    if plan.get("allow"):
        grants = (
            *grants,
            {
                kind: tuple(_glob(glob, names) for glob in globs)
                for kind, globs in plan["allow"].items()
            },
        )
    cycles = () if outer is None else outer.cycles
    cycles = cycles if own is None else (*cycles, own)
    depth = 1 if outer is None else outer.depth + 1
    meters = () if outer is None else outer.meters
    if outer is not None and plan.get("budget"):
        meters = (*meters, Meter(plan["path"], plan["budget"], state.elapsed))
    return Scope(
        plan_id, plan["path"], names, cycle, own is not None, depth, grants, cycles, meters=meters
    )


def _glob(glob: str, names: dict[str, Any]) -> tuple[tuple[bool, str], ...]:
    """A glob of an `allow` line, its references replaced by what they are worth where the plan begins."""
    parts = _REFERENCE.split(glob)
    return tuple(
        (number % 2 == 1, text(lookup(part.split("."), names)) if number % 2 else part)
        for number, part in enumerate(parts)
        if part
    )


def _skip(
    state: RunState, strand: Strand, frame: Frame, item: Instruction, work: list[Strand]
) -> bool:
    bind(frame, item["bind"], None)
    return False


def _each(
    state: RunState, strand: Strand, frame: Frame, item: Instruction, work: list[Strand]
) -> bool:
    glob = render(item["glob"], frame.scope.names)
    return _want(
        state, strand, "files", "for_each_file", {"glob": glob}, f"{_here(frame)}*", item["line"]
    )


def listed(strand: Strand, files: list[str]) -> None:
    """The files of the `each` under way are known: its rounds begin."""
    frame = strand.frames[-1]
    item = frame.block[frame.at]
    if item["max"] is not None and len(files) > item["max"]:
        stop(strand, "bound", f"{len(files)} files match, and the plan allows {item['max']}")
        return
    names = tuple({name for name in (item["name"], item["alias"]) if name is not None})
    _loop(strand, frame, item, files, names, None)


def _for(
    state: RunState, strand: Strand, frame: Frame, item: Instruction, work: list[Strand]
) -> bool:
    items = _items(strand, frame, item)
    if items is not None:
        _loop(strand, frame, item, items, (item["name"],), [])
    return False


def _iterate(
    state: RunState, strand: Strand, frame: Frame, item: Instruction, work: list[Strand]
) -> bool:
    _loop(strand, frame, item, range(item["max"]), (), None, item.get("until"))
    return False


def _loop(
    strand: Strand,
    frame: Frame,
    item: Instruction,
    items: Sequence[Any],
    names: tuple[str, ...],
    collected: list[Any] | None,
    until: dict[str, Any] | None = None,
) -> None:
    if not items:
        bind(frame, item.get("bind"), collected)
        return
    hidden = {name: frame.scope.names.get(name, _UNBOUND) for name in names}
    loop = Loop(item["op"], _here(frame), item["line"], items, names, hidden, until, 0, collected)
    body = Frame(item["body"], "", frame.scope, loop=loop)
    _round(body, loop)
    strand.frames.append(body)


def _items(strand: Strand, frame: Frame, item: Instruction) -> list[Any] | None:
    value = render(item["in"], frame.scope.names)
    if not isinstance(value, list):
        stop(strand, "value", f"`{item['op']}` runs over a list, and this is none")
        return None
    if len(value) > item["max"]:
        stop(strand, "bound", f"{len(value)} items, and the plan allows {item['max']}")
        return None
    return value


def _fork(
    state: RunState, strand: Strand, frame: Frame, item: Instruction, work: list[Strand]
) -> bool:
    items = _items(strand, frame, item)
    if not items:
        if items is not None:
            bind(frame, item["bind"], [])
        return False
    keeps = "keep" in item
    join = Join(strand, item["bind"], [], len(items), items, keeps)
    alone = strand.alone or keeps
    outer, here = frame.scope, _here(frame)
    for number, value in enumerate(items, 1):
        names = {**outer.names, item["name"]: value}
        scope = Scope(
            outer.plan_id, outer.path, names, outer.cycle, False, outer.depth, outer.grants, outer.cycles, meters=outer.meters
        )  # fmt: skip
        branch = Frame(item["body"], f"{here}#{number}", scope)
        join.branches.append(Strand([branch], join, [], alone=alone, released=strand.released))
    work.extend(reversed(join.branches))
    return True


def _if(
    state: RunState, strand: Strand, frame: Frame, item: Instruction, work: list[Strand]
) -> bool:
    verdict = _condition(state, strand, frame, item["cond"], _here(frame), item["line"])
    if verdict is None:
        return True
    side = "then" if verdict else "else"
    if item[side]:
        strand.frames.append(Frame(item[side], f"{_here(frame)}.{side}", frame.scope))
    else:
        frame.at += 1
    return False


def _require(
    state: RunState, strand: Strand, frame: Frame, item: Instruction, work: list[Strand]
) -> bool:
    verdict = _condition(state, strand, frame, item["cond"], _here(frame), item["line"])
    if verdict is None:
        return True
    if verdict:
        frame.at += 1
    else:
        stop(strand, "require", item["why"])
    return False


def _yield(
    state: RunState, strand: Strand, frame: Frame, item: Instruction, work: list[Strand]
) -> bool:
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


_Operation = Callable[[RunState, Strand, Frame, Instruction, list[Strand]], bool]

_OPERATIONS: dict[str, _Operation] = {
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
