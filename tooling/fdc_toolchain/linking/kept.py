"""Linked plans that a long-lived process keeps: an editor links the same plans after every keystroke.

A plan is linked again where its text changed, or a file that it asked for; its statements that did not
change, do not call and have no fault are reused. Everything is dropped when the settings, a catalogue, the
registry or a protocol changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType

from ..named_tuples import NamedTuple
from ..syntax import tree
from ..syntax.parse import Parsed
from .arguments.bind import Bound
from .catalogue import Catalogue, Tool
from .look_up import Loaded, LookUp
from .model import Act, Node, Unit
from .project.settings import Settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    Fact = TypeVar("Fact")


MOST_PLANS, MOST_LINKED = 500, 2_000
"""Maximum plans that are kept, and links after which everything is dropped, so that memory stays bounded."""


class Linked(NamedTuple):
    """The linked form of a top-level statement. It holds the statement, so that no other object gets its `id()`."""

    node: tree.Statement
    nodes: list[Node]
    acts: list[Act]
    results: list[str]
    loops: set[str]


class Statements:
    """The linked statements of one plan that can be reused, by the `id()` of the statement."""

    def __init__(self) -> None:
        self.linked: dict[int, Linked] = {}

    def link(
        self,
        unit: Unit,
        nodes: list[tree.Statement],
        before: dict[int, Linked],
        make: Callable[[tree.Statement], tuple[list[Node], bool]],
    ) -> list[Node]:
        """Links the body of a plan; statements that are the same objects as `before` are reused."""
        out: list[Node] = []
        for node in nodes:
            known = before.get(id(node))
            if known is not None:
                unit.acts += known.acts
                if known.results:
                    unit.results += known.results
                if known.loops:
                    unit.loops |= known.loops
            else:
                acts, results = len(unit.acts), len(unit.results)
                loops, unit.loops = unit.loops, set()
                linked_nodes, alone = make(node)
                known = Linked(
                    node, linked_nodes, unit.acts[acts:], unit.results[results:], unit.loops
                )
                unit.loops = loops | unit.loops
                if not alone:
                    out += linked_nodes
                    continue
            out += known.nodes
            self.linked[id(node)] = known
        return out


class KeptPlan(NamedTuple):
    """A plan as it was linked last. `asked`: the files that linking read or looked for, with their content then."""

    parsed: Parsed | None
    linked: dict[int, Linked]
    unit: Unit | None = None
    data: bytes | None = None
    asked: Mapping[str, bytes | None] = MappingProxyType({})
    packs: tuple[str, ...] = ()

    def linked_with(self, packs: Iterable[str]) -> dict[int, Linked]:
        """Its linked statements, if the plan still uses the same packs; else none."""
        return self.linked if self.packs == tuple(sorted(packs)) else {}


NEW = KeptPlan(None, {})


class Kept:
    """Shared by linkers that run one after another; not for concurrent use."""

    def __init__(self) -> None:
        self.plans: dict[str, KeptPlan] = {}
        self._ground: tuple[Settings, dict[str, bytes | None]] | None = None
        self._catalogue: Catalogue | None = None
        self._bind: Callable[[Tool, str, str | None], Bound] | None = None
        self._loaded: dict[tuple[str, bytes], Loaded] = {}
        self._linked = 0
        self._facts: dict[type, object] = {}

    def stand_on(self, linker: LookUp, asked: set[str]) -> None:
        """Drops everything unless the settings and the files that the linker `asked` for when it was made are unchanged."""
        settings = linker.settings
        names = {*asked, settings.protocols.rstrip("/") + "/"}  # a folder: which files are in it
        ground = settings, {name: linker.files.seen.get(name) for name in names}
        self._linked += 1
        same = ground == self._ground and self._linked < MOST_LINKED
        if not same or self._catalogue is None or self._bind is None:
            self.plans.clear()
            self._loaded.clear()
            self._facts.clear()
            self._linked = 0
            self._ground, self._catalogue, self._bind = ground, linker.catalogue, linker.bind
        linker.catalogue, linker.bind = self._catalogue, self._bind
        linker.loaded = self._loaded

    def fact(self, kind: type[Fact], make: Callable[[], Fact]) -> Fact:
        """The store of an analysis, by its class; it is dropped together with the plans."""
        fact = self._facts.get(kind)
        if not isinstance(fact, kind):
            fact = self._facts[kind] = make()
        return fact

    def unit(self, linker: LookUp, key: str, data: bytes | None) -> Unit | None:
        """The kept unit of a plan, if linking it again would give the same; else None."""
        plan = self.plans.get(key)
        if plan is None or plan.unit is None or plan.data != data:
            return None
        if any(linker.files.read(name) != before for name, before in plan.asked.items()):
            return None
        for name in plan.unit.reads:
            linker.automaton(name)
        return plan.unit

    def keep(
        self,
        linker: LookUp,
        unit: Unit,
        asked: set[str],
        parsed: Parsed,
        linked: dict[int, Linked],
    ) -> None:
        """Keeps a plan that was just linked; its unit only if it has no findings."""
        if len(self.plans) >= MOST_PLANS and unit.key not in self.plans:
            del self.plans[next(iter(self.plans))]
        is_clean = unit.plan is not None and not unit.diagnostics
        seen = linker.files.seen
        before = {name: seen.get(name) for name in asked}
        self.plans[unit.key] = KeptPlan(
            parsed,
            linked,
            unit if is_clean else None,
            seen.get(unit.key),
            before,
            tuple(sorted(unit.packs)),
        )
