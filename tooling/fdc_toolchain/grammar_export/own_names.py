"""What a grammar for the names of one plan is made of: its headers, tools, calls, and all names that it binds.

Types of values are followed (`own_values`), origins of texts are not. So is the automaton: where the plan leaves one of several
states, as a loop does that may go round no time, the grammar has a state that says so (`Sets`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations
from typing import TYPE_CHECKING

from ..automata.model import build
from ..exits import UsageError
from ..linking.bound import bound_in
from ..linking.graph import Graph, Instance
from ..linking.model import Act, Choice, Collect, Invoke, Loop, Node, Param, Unit
from ..linking.types import ANY, Type
from ..named_tuples import NamedTuple
from ..rules.solver.types.views import Views
from ..rules.solver.words import Machine, Summaries
from .form import MOST_NAMES
from .own_values import Kinds, own_texts, own_turns, reads
from .place import Call, Place, Slot, reached, with_closing

if TYPE_CHECKING:
    from ..automata.model import Automaton
    from ..linking.link import Linker


def place_of(linker: Linker, key: str, most: int) -> Place:
    """The place of a plan. Raises UsageError for one that does not link, or that binds too many names."""
    from ..check import check
    from ..syntax import tree

    unit = linker.link(key)
    if unit.plan is None or any(item.severity == "error" for item in unit.diagnostics):
        raise UsageError(f"`{key}` is not a plan that links without an error; see `fdc lint {key}`")
    automaton = unit.automaton or unit.continues or linker.automaton(linker.settings.fsm)[1]
    assert automaton is not None
    fragment = unit.automaton is None
    head = [
        f"{line.word} {line.tail}\n"
        for line in unit.plan.statements
        if isinstance(line, tree.Header)
    ]
    if unit.automaton is not None and not any(line.startswith("use fsm") for line in head):
        head.insert(0, unit.text.lstrip().splitlines()[0].rstrip() + "\n")
    names = [*unit.params, "run", *sorted(bound_in(unit.body) - {*unit.params})]
    if len(names) > MOST_NAMES:
        raise UsageError(
            f"`{key}` binds {len(names)} names; a grammar follows {MOST_NAMES} at most"
        )
    results = {*unit.results}
    kinds = {name: "file" for name in names if name.startswith("file") and name[4:].isdigit()}
    kinds |= {
        name: "both" if name in results else "item" for name in unit.loops if name not in kinds
    }
    context = check(linker, [key]).context
    known = Kinds(context.graph.instance(key), Views(context), not fragment)
    read = reads(unit.body)
    slots = tuple(
        Slot(
            name,
            _followed(known.names.get(name, ())),
            0,
            kinds.get(name, "any"),
            tuple(sorted(path[1:] for path in read if path[0] == name)),
            frozenset(act.bound.tool.name for act in unit.acts if act.step.bind == name),
        )
        for name in names
    )
    numbers = {name: number for number, name in enumerate(names)}
    shape = _shape(unit.body, numbers, {*unit.params, "run"}, read)
    both, ended = with_closing(automaton, fragment=fragment)
    sets = Sets(context.graph, both, unit, fragment)
    tools = {act.bound.tool.name: act.bound.tool for act in unit.acts}
    return Place(
        sets.automaton(), frozenset(name for name, mask in sets.masks.items() if sets.some(mask, ended)),
        "".join(head), tuple(tools.values()), (), slots, tuple(sets.calls(linker)),
        dict(linker.catalogue.predicates), False, True, False, (1 << len(unit.params) + 1) - 1,
        tuple(sorted(shape.joined)), shape.yields, shape.depth, most, sets.ways(),
        unions=sets.unions(), orders=_orders(unit), rounds=tuple(sorted(shape.rounds)),
        choices=frozenset(sets.choices), repeats=frozenset(sets.repeats),
        collects=frozenset(known.yields), own=own_texts(unit, numbers), turns=own_turns(unit.body),
    )  # fmt: skip


def _followed(kinds: Iterable[Type]) -> tuple[Type, ...]:
    """Types as a slot has them: what may be anything asks for nothing."""
    return tuple(sorted({*kinds} - {ANY}, key=repr))


def call_of(name: str, params: Mapping[str, Param]) -> Call:
    """A call of a plan with these parameters."""
    required = tuple(row.name for row in params.values() if row.default is None)
    return Call(name, required, tuple(name for name in params if name not in required), None)


class Sets:
    """The states that a plan is in before and behind each of its statements, as sets of an automaton's states, each with a name.

    A fragment may begin in whatever state it can be called in; the first of them stands for all.
    """

    def __init__(self, graph: Graph, automaton: Automaton, unit: Unit, fragment: bool) -> None:
        self.base = automaton
        self.unit = unit
        self.machine = Machine.of(automaton)
        self.summaries = Summaries(self.machine)
        self.instance = graph.instance(unit.key)
        self.graph = graph
        self.begin = 1 << self.machine.start
        if fragment:
            starts = [1 << number for number in range(self.machine.size)]
            fitting = (
                one
                for one in starts
                if not self.summaries.call(self.instance, one) & self.machine.sink
            )
            self.begin = next(fitting, self.begin)
        seen = {1 << number for number in range(self.machine.size)}
        self._choices: set[tuple[int, int, int]] = set()
        self._repeats: set[tuple[int, int]] = set()
        self.end = self._body(self.instance, unit.body, self.begin, seen)
        self.fragment = fragment
        self.masks = {
            self._name(mask): mask for mask in sorted(seen) if not mask & self.machine.sink
        }
        self.names = {mask: name for name, mask in self.masks.items()}

    @property
    def choices(self) -> Iterator[tuple[str, str, str]]:
        """The state before each `if` of the plan, and those that its two ways leave."""
        for row in self._choices:
            if all(mask in self.names for mask in row):
                yield (self.names[row[0]], self.names[row[1]], self.names[row[2]])

    @property
    def repeats(self) -> Iterator[tuple[str, str]]:
        """The state before each loop of the plan, and that behind a round."""
        for row in self._repeats:
            if all(mask in self.names for mask in row):
                yield self.names[row[0]], self.names[row[1]]

    def _name(self, mask: int) -> str:
        return " or ".join(
            name for number, name in enumerate(self.machine.states) if mask >> number & 1
        )

    def _body(self, instance: Instance, nodes: list[Node], mask: int, seen: set[int]) -> int:
        """The states behind a body; `seen` takes all that it comes by."""
        for node in nodes:
            if isinstance(node, Act):
                symbol = node.bound.action
                mask = mask if symbol is None else self.summaries.steps(symbol)[mask]
            elif isinstance(node, Invoke):
                callee = self.summaries.enter(instance, node)
                mask = mask if callee is None else self.summaries.call(callee, mask)
            elif isinstance(node, Choice):
                ends = [self._body(instance, body, mask, seen) for body in (node.then, node.orelse)]
                self._choices.add((mask, ends[0], ends[1]))
                mask = ends[0] | ends[1]
            elif isinstance(node, Loop):
                before, inside, after = mask, 0, mask
                while inside != inside | after:
                    inside |= after
                    seen.add(inside)
                    after = self._body(instance, node.body, inside, seen)
                self._repeats.add((before, after))
                mask = after if node.least else inside
            seen.add(mask)
        return mask

    def some(self, mask: int, states: frozenset[str]) -> bool:
        """Whether one of a set's states is among some."""
        return any(mask >> self.base.index[name] & 1 for name in states)

    def automaton(self) -> Automaton:
        """The automaton of the sets: a move of a set is one of each of its states."""
        rows: dict[str, dict[str, str]] = {name: {} for name in self.masks}
        for name, mask in self.masks.items():
            for symbol in self.base.alphabet:
                after = self.summaries.steps(symbol)[mask]
                if after in self.names:
                    rows[name][symbol] = self.names[after]
        accept = [name for name, mask in self.masks.items() if not mask & ~self.machine.accept]
        start = self.names[1 << self.machine.start]
        return build(self.base.name, self.base.path, rows, self.base.alphabet, start, accept, rows)

    def ways(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """The state in which the plan begins, with those in which it may end."""
        if self.fragment:
            goals = [name for name, mask in self.masks.items() if not mask & ~self.end]
        else:
            goals = [name for name, mask in self.masks.items() if not mask & ~self.machine.accept]
        return ((self.names[self.begin], tuple(sorted(goals))),)

    def unions(self) -> dict[tuple[str, str], str]:
        """By two sets, their union, where the plan comes by it."""
        return {
            pair: self.names[union]
            for one, other in combinations(self.masks, 2)
            if (union := self.masks[one] | self.masks[other]) in self.names
            for pair in ((one, other), (other, one))
        }

    def calls(self, linker: Linker) -> Iterator[Call]:
        """The plans that it calls, with what each leaves of a set of states, and is given."""
        groups: dict[tuple[str, bool], list[Invoke]] = {}
        for call in self.unit.calls:
            groups.setdefault((call.name, call.depth is not None), []).append(call)
        for (name, deep), calls in groups.items():
            callee = linker.units.get(calls[0].key or "")
            if callee is None:
                continue
            ends = None
            if callee.automaton is None:
                instance = self.graph.instance(callee.key)
                found = {
                    name: self.summaries.call(instance, mask) for name, mask in self.masks.items()
                }
                ends = {name: self.names[end] for name, end in found.items() if end in self.names}
            given = dict.fromkeys(one for call in calls for one in call.arguments)
            required = tuple(one for one in given if all(one in call.arguments for call in calls))
            optional = tuple(one for one in given if one not in required)
            binds = frozenset(call.call.bind for call in calls if call.call.bind)
            acts = [act for unit in reached(linker, callee) for act in unit.acts]
            shares = any("shares" in act.bound.tool.row for act in acts)
            yield Call(name, required, optional, ends, shares=shares, binds=binds, deep=deep)


def _orders(unit: Unit) -> dict[str, tuple[tuple[str, ...], ...]]:
    """By tool and by call, the orders in which the plan names arguments."""
    out: dict[str, dict[tuple[str, ...], None]] = {}
    rows: list[tuple[str, str, set[str]]] = [
        (act.bound.tool.name, act.step.tail, {item.name for item in act.bound.tool.inline})
        for act in unit.acts
    ]
    rows += [(f"call_plan {call.name}", call.call.tail, {*call.arguments}) for call in unit.calls]
    for title, tail, names in rows:
        found = dict.fromkeys(name for name in re.findall(r"(?:^|\s)(\w+)=", tail) if name in names)
        out.setdefault(title, {})[tuple(found)] = None
    return {title: tuple(orders) for title, orders in out.items()}


class _Shape(NamedTuple):
    """How deep the bodies of a plan are; by depth, the names (bits) that both branches of an `if` bind, and those that an
    `iterate` binds anew, which are read outside of it; whether a branch yields."""

    depth: int
    joined: frozenset[tuple[int, int]]
    rounds: frozenset[tuple[int, int]]
    yields: bool


def _shape(
    nodes: list[Node],
    numbers: dict[str, int],
    known: set[str],
    read: Counter[tuple[str, ...]],
    at: int = 0,
    inside: bool = False,
) -> _Shape:
    """The shape of a body. `known` takes the names that it surely binds; `read`: how often the plan reads each."""
    depth, yields = 0, False
    joined: set[tuple[int, int]] = set()
    rounds: set[tuple[int, int]] = set()
    for node in nodes:
        yields |= inside and isinstance(node, Collect)
        inner: list[tuple[list[Node], set[str]]] = []
        if isinstance(node, Choice):
            inner = [(body, {*known}) for body in (node.then, node.orelse)]
        elif isinstance(node, Loop):
            inner = [(node.body, {*known, *filter(None, (node.name, node.alias))})]
        for body, names in inner:
            found = _shape(body, numbers, names, read, at + 1, inside or isinstance(node, Choice))
            depth, yields = max(depth, 1 + found.depth), yields or found.yields
            joined |= found.joined
            rounds |= found.rounds
        new = set[str]()
        if isinstance(node, Choice):
            new = inner[0][1] & inner[1][1] - known
            both = bound_in(node.then) & bound_in(node.orelse)
            joined.add((at, _bits(both & _first(read - reads(node.then + node.orelse)), numbers)))
        elif isinstance(node, Loop) and node.least:
            new = inner[0][1] - known
            rounds.add((at, _bits(new & _first(read - reads(node.body)), numbers)))
        bound = bound_in([node]) if isinstance(node, Act | Invoke) else set()
        known |= (
            new | bound | {*filter(None, (getattr(getattr(node, "node", None), "bind", None),))}
        )
    joins, turns = (frozenset(row for row in rows if row[1]) for rows in (joined, rounds))
    return _Shape(depth, joins, turns, yields)


def _first(paths: Iterable[tuple[str, ...]]) -> set[str]:
    """The names of references."""
    return {path[0] for path in paths}


def _bits(names: set[str], numbers: dict[str, int]) -> int:
    return sum(1 << numbers[name] for name in names)
