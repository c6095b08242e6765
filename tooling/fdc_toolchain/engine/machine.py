"""Control flow: moves strands through instructions until each stands at an effect or has ended.

Iterative throughout: neither a deep call tree, nor a long loop, nor a fork inside a fork uses
Python's stack. Every instruction is visited as often as the run reaches it and no more, so a
run costs time linear in its steps.

A strand that has ended has no frames left or a `stop`.
"""

from __future__ import annotations

from typing import Any

from ..program.causes import FINAL
from ..program.model import KEPT
from . import rules
from .events import Stop
from .operations import OPERATIONS, UNBOUND, begin_round, bind, condition, scope_of, stop
from .state import Frame, Join, Loop, RunState, Strand
from .values import TooLong, Unusable, bounded

STALLED = 3
"""Rounds of `iterate` with the same requests to models, after which it stops."""


def enter(state: RunState) -> None:
    """Puts the root plan on the stack of a new state and moves it to its first effect."""
    plan = state.program["plans"][state.program["root"]]
    scope = scope_of(state, state.program["root"], plan, state.given, None)
    advance(state, Strand([Frame(plan["body"], "main", scope, opens_scope=True)]))


def advance(state: RunState, strand: Strand) -> None:
    """Moves a strand, and the strands that it releases, until each needs an effect or ends."""
    work: list[Strand] = []
    _run(state, strand, work)
    while work:
        _run(state, work.pop(), work)


def _run(state: RunState, strand: Strand, work: list[Strand]) -> None:
    while strand.frames and strand.stop is None:
        frame = strand.frames[-1]
        try:
            if frame.at < len(frame.block):
                item = frame.block[frame.at]
                waits = OPERATIONS[item["op"]](state, strand, frame, item)
            else:
                waits = _leave(state, strand, frame)
        except TooLong as wrong:
            stop(strand, "bound", str(wrong), "size")
            break
        except Unusable as wrong:
            stop(strand, "value", str(wrong))
            break
        if waits:
            if waits is not True:
                work += waits
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
    parent.stop = next((reason for reason in stops if not _is_kept(join, reason)), None)
    if parent.stop is None:
        try:
            bind(parent.frames[-1], join.bind, bounded(_gathered(join)))
        except TooLong as wrong:
            stop(parent, "bound", str(wrong), "size")
    work.append(parent)


def _is_kept(join: Join, reason: Stop) -> bool:
    return join.keeps and reason.kind in KEPT and reason.failure not in FINAL


def _gathered(join: Join) -> list[Any]:
    """What the branches yielded, in the order of the input; for a branch that stopped, the record of its stop."""
    out: list[Any] = []
    for branch, item in zip(join.branches, join.items, strict=True):
        if branch.stop is None:
            out += branch.collected or ()
        else:
            kind, message, address, path, line = branch.stop[:5]
            out.append(
                {
                    "failed": kind,
                    "why": message,
                    "item": item,
                    "at": address,
                    "path": path,
                    "line": line,
                }
            )
    return out


def _leave(state: RunState, strand: Strand, frame: Frame) -> bool:
    """The block is done: starts another round, or returns to the instruction whose body it is."""
    loop = frame.loop
    value = None
    if loop is not None:
        done: bool | None = False
        if loop.until is not None:
            done = condition(state, strand, frame, loop.until, frame.prefix, loop.line)
            if done is None:
                return True
        loop.at += 1
        if not done and loop.at < len(loop.items):
            if loop.op == "iterate" and _stalled(loop):
                stop(
                    strand,
                    "stalled",
                    f"{STALLED} rounds in a row asked models exactly the same, so nothing new can come",
                )
                return False
            begin_round(frame, loop)
            return False
        _unhide(frame.scope.names, loop.hidden)
        value = None if loop.collected is None else bounded(loop.collected)
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
    """Counts consecutive rounds of `iterate` that sent models the same requests; True at the limit."""
    loop.same = loop.same + 1 if loop.asked == loop.before and loop.asked[0] else 1
    loop.before, loop.asked = loop.asked, (0, 0)
    return loop.same >= STALLED


def _unhide(names: dict[str, object], hidden: dict[str, object]) -> None:
    for name, value in hidden.items():
        if value is UNBOUND:
            names.pop(name, None)
        else:
            names[name] = value
