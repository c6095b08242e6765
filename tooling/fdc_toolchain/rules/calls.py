"""Calls: cycles, the depth of the stack, and the arguments that a plan takes (FDC-33, FDC-34, FDC-39)."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from ..diagnostics.diagnostic import Diagnostic, Label
from ..linking.model import Invoke, Unit
from ..text.suggest import did_you_mean
from .solver.rule import Context

MOST_CYCLES = 50
"""Maximum number of cycles reported for one group of plans that call each other."""

MOST_NAMES = 24
"""Maximum number of plans of a chain in a message."""


def check(context: Context) -> Iterator[Diagnostic]:
    """Every cycle (smallest member first), every root whose stack is too deep, every wrong argument."""
    for group in context.graph.cycles:
        for chain in _cycles(context, group):
            yield _cycle(context, chain)
    for instance in context.order:
        if not instance.context:
            for call in instance.unit.calls:
                callee = context.graph.units.get(call.key or "")
                if callee is not None:
                    yield from _arguments(instance.unit, call, callee)
    yield from _depth(context)


Chain = list[tuple[str, Invoke]]
"""Plans, each with its call of the next one; the last calls the first."""


def _cycles(context: Context, group: list[str]) -> Iterator[Chain]:
    """Short cycles of a group, until each of its calls is in one; each from its smallest member."""
    units = context.graph.units
    inside = set(group)
    told: set[int] = set()
    count = 0
    for start in sorted(group):
        for first in units[start].calls:
            if (
                first.depth is not None
                or first.key not in inside
                or id(first) in told
                or count == MOST_CYCLES
            ):
                continue
            count += 1
            chain = [(start, first), *_way(context, inside, first.key, start)]
            told.update(id(call) for _, call in chain)
            smallest = chain.index(min(chain, key=lambda item: item[0]))
            yield chain[smallest:] + chain[:smallest]


def _way(context: Context, inside: set[str], start: str, goal: str) -> Chain:
    """The fewest calls from one plan of a group to another."""
    before: dict[str, tuple[str, Invoke]] = {}
    queue = deque([start])
    while queue and goal not in before and start != goal:
        here = queue.popleft()
        for call in context.graph.units[here].calls:
            if (
                call.depth is None
                and call.key in inside
                and call.key not in before
                and call.key != start
            ):
                before[call.key] = (here, call)
                queue.append(call.key)
    chain: Chain = []
    while goal != start:
        chain.append(before[goal])
        goal = before[goal][0]
    return chain[::-1]


def _cycle(context: Context, chain: Chain) -> Diagnostic:
    units = context.graph.units
    names = _names([*(units[key].name for key, _ in chain), units[chain[0][0]].name])
    trace = tuple(
        Label(units[key].span(call.call), f"`{units[key].name}` calls `{call.name}`")
        for key, call in chain[:MOST_NAMES]
    )
    help_ = "a call that closes a cycle needs a depth: `call_plan NAME ... depth N`"
    message = f"plans call each other in a cycle without a depth: {names}"
    return Diagnostic(
        units[chain[0][0]].span(chain[0][1].call), "FDC322", message, trace=trace, help=help_
    )


def _names(names: list[str]) -> str:
    if len(names) > MOST_NAMES + 1:
        names = [*names[: MOST_NAMES - 1], f"... {len(names) - MOST_NAMES} more ...", names[-1]]
    return " -> ".join(names)


def _depth(context: Context) -> Iterator[Diagnostic]:
    most = context.linker.settings.max_stack
    for key in sorted(context.graph.overflow):
        unit = context.graph.units[key]
        message = "the recursion unfolds to more plans than fdc can check"
        yield Diagnostic(
            unit.span(unit.calls[0].call), "FDC323", message, help="state a smaller `depth`"
        )
    for instance, _ in context.roots:
        if instance.height <= most:
            continue
        trace = []
        here = instance
        names = [here.unit.name]
        while here.deepest is not None:
            call = here.unit.calls[here.deepest]
            trace.append(
                Label(here.unit.span(call.call), f"`{here.unit.name}` calls `{call.name}`")
            )
            callee = here.callees[here.deepest]
            assert callee is not None
            here = callee
            names.append(here.unit.name)
        message = (
            f"the stack is {instance.height} plans deep, the maximum is {most}: {_names(names)}"
        )
        yield Diagnostic(trace[0].span, "FDC323", message, trace=tuple(trace[:MOST_NAMES]))


def _arguments(unit: Unit, call: Invoke, callee: Unit) -> Iterator[Diagnostic]:
    if callee.plan is None:
        return
    for name, value in call.arguments.items():
        if name not in callee.params:
            span = unit.at(call.call, max(0, value.start - len(name) - 1), value.end)
            known = ", ".join(f"`{item}`" for item in callee.params) or "none"
            hint = did_you_mean(name, callee.params) or f"its parameters: {known}"
            yield Diagnostic(
                span, "FDC303", f"`{callee.name}` has no parameter `{name}`", help=hint
            )
    for name, param in callee.params.items():
        if param.default is None and name not in call.arguments:
            label = Label(param.span, "declared here, without a default")
            yield Diagnostic(
                unit.span(call.call), "FDC302", f"`{callee.name}` needs `{name}`", (label,)
            )
