"""The states of a plan's automaton before and after each statement."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...rules.solver.words import Machine as Table
from ...rules.solver.words import Summaries
from .values import Machine, StepStates

if TYPE_CHECKING:
    from ...check import Checked
    from ...linking.graph import Instance
    from ...linking.model import Node

_MOST_TURNS = 64


def states_of(checked: Checked, key: str) -> tuple[Machine | None, tuple[StepStates, ...]]:
    """The automaton of the plan under `key`, and what its statements do to it, in the order of their lines."""
    context = checked.context
    unit = context.linker.units[key]
    automaton = unit.automaton or unit.continues or (None if unit.stated else context.default)
    if automaton is None:
        return None, ()
    table = Table.of(automaton)
    summaries = context.summaries(table)
    instance = context.graph.instance(key)
    walk = _Walk(summaries, instance)
    start = 1 << table.start
    if any(item.span.path == key for item in checked.fragments):
        ways = [1 << state for state in range(table.size)]
        start = sum(way for way in ways if not summaries.call(instance, way) & table.sink)
    walk.body(unit.body, start)
    rows = tuple(
        StepStates(
            line=line,
            before=walk.names(before),
            after=walk.names(after),
            refused=bool(after & table.sink),
        )
        for line, (before, after) in sorted(walk.seen.items())
    )
    accept = walk.names(table.accept)
    steps = {
        action: {
            table.states[state]: table.states[target]
            for state, target in enumerate(row)
            if target >= 0
        }
        for action, row in table.table.items()
    }
    return Machine(name=table.name, start=walk.names(start), accept=accept, steps=steps), rows


class _Walk:
    """Collects the states at every statement, in all rounds of loops."""

    def __init__(self, summaries: Summaries, instance: Instance) -> None:
        self.summaries = summaries
        self.instance = instance
        self.table = summaries.machine
        self.seen: dict[int, tuple[int, int]] = {}

    def names(self, mask: int) -> tuple[str, ...]:
        """The states of a mask."""
        return tuple(name for at, name in enumerate(self.table.states) if mask >> at & 1)

    def body(self, nodes: list[Node], mask: int) -> None:
        """Collects the states of a body that begins in the states of `mask`."""
        from ...linking.model import Act, Choice, Invoke, Loop

        for node in nodes:
            before = mask & ~self.table.sink
            if not before:
                return
            mask = self.summaries.body(self.instance, [node], before)
            if isinstance(node, Act):
                self.note(node.step.line, before, mask)
            elif isinstance(node, Invoke):
                self.note(node.call.line, before, mask)
            elif isinstance(node, Choice):
                self.body(node.then, before)
                self.body(node.orelse, before)
            elif isinstance(node, Loop):
                inside = before
                for _ in range(_MOST_TURNS if node.most is None else min(node.most, _MOST_TURNS)):
                    after = self.summaries.body(self.instance, node.body, inside)
                    if not after & ~inside & ~self.table.sink:
                        break
                    inside |= after & ~self.table.sink
                self.body(node.body, inside)

    def note(self, line: int, before: int, after: int) -> None:
        known = self.seen.get(line, (0, 0))
        self.seen[line] = known[0] | before, known[1] | after
