"""What a rule is: a pure function from the linked plans to findings."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ...automata.model import Automaton
from ...diagnostics.diagnostic import Diagnostic
from ...linking.catalogue import Tool
from ...linking.graph import Graph, Instance
from ...linking.link import Linker
from ...linking.model import Act, Unit
from ...text.slots import Record
from .words import Machine, Summaries

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol, TypeVar

    Made = TypeVar("Made")

    class Rule(Protocol):
        """A rule: `check` yields its findings in any order and knows no other rule."""

        def __call__(self, context: Context) -> Iterator[Diagnostic]: ...


class Context(Record):
    """What every rule may look at.

    `roots` are the plans to judge as whole runs, each with the automaton that governs it (None:
    its automaton is missing, which was reported). `units` in `graph` are all that they reach.
    """

    __slots__ = (
        "linker",
        "graph",
        "roots",
        "order",
        "default",
        "probes",
        "marks",
        "by_tool",
        "_summaries",
        "_once",
    )

    def __init__(
        self,
        linker: Linker,
        graph: Graph,
        roots: list[tuple[Instance, Automaton | None]],
        order: list[Instance],
        default: Automaton | None,
    ) -> None:
        self.linker = linker
        self.graph = graph
        self.roots = roots
        self.order = order
        self.default = default
        self.probes: dict[str, set[str]] = {}
        # By root: the paths of the workspace whose existence its findings rest on.
        self.marks: dict[tuple[str, int], str] = {}
        # By plan and line: the steps that write text from outside into files, as the program says it.
        self._summaries: dict[str, Summaries] = {}
        self._once: dict[object, object] = {}
        self.by_tool = {instance.unit.key: _by_tool(instance.unit) for instance in order}
        # By plan: its steps by their tools. What a tool alone decides is asked once for all its steps.

    def once(self, make: Callable[[Context], Made]) -> Made:
        """What `make` makes of this context: made once, and shared by all rules."""
        if make not in self._once:
            self._once[make] = make(self)
        made: Made = self._once[make]  # type: ignore[assignment]  # by `make`
        return made

    def summaries(self, machine: Machine) -> Summaries:
        """The summaries under one machine, shared by all roots and rules."""
        found = self._summaries.get(machine.key)
        if found is None:
            found = self._summaries[machine.key] = Summaries(machine)
        return found


def _by_tool(unit: Unit) -> list[tuple[Tool, list[Act]]]:
    groups: dict[int, list[Act]] = {}
    for act in unit.acts:
        groups.setdefault(id(act.bound.tool), []).append(act)
    return [(acts[0].bound.tool, acts) for acts in groups.values()]
