"""The call graph: its cycles, and the acyclic graph of plan instances.

A call that states a `depth` may close a cycle: it is made at most that often on one stack,
and skipped after that. So a plan on such a cycle stands in the graph once for each number of
times its stated calls have been made: an `Instance`. Every other plan has one instance, and
the graph of instances has no cycle, which is what every analysis and the program rely on.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from .model import Invoke, Unit

Context = tuple[tuple[tuple[str, int], int], ...]

MOST_INSTANCES = 10_000


class Instance:
    """A unit at one point of its stated recursion. `callees[n]` belongs to call n; None: skipped or unknown."""

    __slots__ = ("unit", "context", "callees", "height", "deepest")

    def __init__(self, unit: Unit, context: Context) -> None:
        self.unit = unit
        self.context = context
        self.callees: list[Instance | None] = []
        self.height = 1
        self.deepest: int | None = None

    @property
    def id(self) -> str:
        """Unique among the instances of a program."""
        if not self.context:
            return self.unit.key
        return (
            self.unit.key
            + "#"
            + ",".join(f"{key}:{number}={count}" for (key, number), count in self.context)
        )


def components(calls: Mapping[str, Collection[str | None]]) -> list[list[str]]:
    """Groups of plans that reach each other along their calls, callees before callers (Tarjan, without recursion)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    on_stack: set[str] = set()
    stack: list[str] = []
    out: list[list[str]] = []
    edges = {caller: [key for key in callees if key in calls] for caller, callees in calls.items()}
    for root in edges:
        if root in index:
            continue
        work: list[tuple[str, int]] = [(root, 0)]
        while work:
            key, at = work.pop()
            if at == 0:
                index[key] = low[key] = len(index)
                stack.append(key)
                on_stack.add(key)
            following = edges[key]
            for position in range(at, len(following)):
                target = following[position]
                assert target is not None
                if target not in index:
                    work.append((key, position + 1))
                    work.append((target, 0))
                    break
                if target in on_stack:
                    low[key] = min(low[key], index[target])
            else:
                if low[key] == index[key]:
                    group = []
                    while True:
                        member = stack.pop()
                        on_stack.discard(member)
                        group.append(member)
                        if member == key:
                            break
                    out.append(group)
                if work:
                    caller = work[-1][0]
                    low[caller] = min(low[caller], low[key])
    return out


def calls_of(units: Mapping[str, Unit], *, stated: bool = True) -> dict[str, list[str | None]]:
    """What each plan calls; `stated`: also where the call says how deep."""
    return {
        key: [call.key for call in unit.calls if stated or call.depth is None]
        for key, unit in units.items()
    }


class Graph:
    """Instances of everything reachable from some units. `cyclic` holds keys on an unbounded cycle."""

    def __init__(self, units: Mapping[str, Unit]) -> None:
        self.units = units
        self.cycles = [
            group
            for group in components(calls_of(units, stated=False))
            if len(group) > 1
            or any(call.key == group[0] and call.depth is None for call in units[group[0]].calls)
        ]
        self.cyclic = {key for group in self.cycles for key in group}
        self._component: dict[str, int] = {}
        groups = self.cycles
        if any(call.depth is not None for unit in units.values() for call in unit.calls):
            groups = components(calls_of(units))
            for number, group in enumerate(groups):
                for key in group:
                    self._component[key] = number
        self.rings = [sorted(group) for group in groups if len(group) > 1]
        """Plans that reach each other, callees first. Where all analyses begin with these, how much is judged besides changes
        no order in them."""
        self._instances: dict[tuple[str, Context], Instance] = {}
        self.overflow: set[str] = set()

    def instance(self, key: str) -> Instance:
        """The instance of a plan as a root; builds all instances that it reaches."""
        root = self._instances.get((key, ()))
        if root is None:
            root = self._instances[(key, ())] = Instance(self.units[key], ())
            self._expand(root)
        return root

    def _expand(self, root: Instance) -> None:
        work: list[tuple[Instance, int]] = [(root, 0)]
        while work:
            caller, at = work.pop()
            calls = caller.unit.calls
            descended = False
            while at < len(calls):
                reached = self._find_callee(caller, calls[at])
                if reached is None or reached[1]:
                    caller.callees.append(reached and reached[0])
                    at += 1
                    continue
                work.append((caller, at))
                work.append((reached[0], 0))
                descended = True
                break
            if descended:
                continue
            for number, callee in enumerate(caller.callees):
                if callee is not None and callee.height >= caller.height:
                    caller.height = callee.height + 1
                    caller.deepest = number

    def _find_callee(self, caller: Instance, call: Invoke) -> tuple[Instance, bool] | None:
        """The instance that a call reaches, and whether it existed already; None where the call has no target."""
        key = call.key
        if key is None or key not in self.units:
            return None
        if (
            key in self.cyclic
            and caller.unit.key in self.cyclic
            and self._same_cycle(caller.unit.key, key)
        ):
            return None
        context: Context = ()
        if call.depth is not None and self._component.get(key) == self._component.get(
            caller.unit.key
        ):
            counts = dict(caller.context)
            edge = (caller.unit.key, call.number)
            count = counts.get(edge, 0)
            if count >= call.depth:
                return None
            counts[edge] = count + 1
            context = tuple(sorted(counts.items()))
        elif caller.context and self._component.get(key) == self._component.get(caller.unit.key):
            context = caller.context
        existing = self._instances.get((key, context))
        if existing is not None:
            return existing, True
        if len(self._instances) >= MOST_INSTANCES + len(self.units):
            self.overflow.add(caller.unit.key)
            return None
        instance = self._instances[(key, context)] = Instance(self.units[key], context)
        return instance, False

    def _same_cycle(self, left: str, right: str) -> bool:
        return any(left in group and right in group for group in self.cycles)

    def order(self, roots: Iterable[Instance]) -> list[Instance]:
        """Everything reachable from the roots, callees before callers, each once."""
        seen: set[int] = set()
        out: list[Instance] = []
        for root in roots:
            if id(root) in seen:
                continue
            seen.add(id(root))
            work: list[tuple[Instance, int]] = [(root, 0)]
            while work:
                current, at = work.pop()
                for position in range(at, len(current.callees)):
                    callee = current.callees[position]
                    if callee is not None and id(callee) not in seen:
                        seen.add(id(callee))
                        work.append((current, position + 1))
                        work.append((callee, 0))
                        break
                else:
                    out.append(current)
        return out
