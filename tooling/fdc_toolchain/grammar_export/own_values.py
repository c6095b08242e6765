"""What is known of the names of one plan: the types of the values that it binds to each, and where it reads them.

The order of the text is not followed: a name has a type for each way in which the plan binds it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING

from ..linking import types
from ..linking.bound import every
from ..linking.graph import Instance
from ..linking.model import Act, Choice, Collect, Gate, Invoke, Loop, Node, Param, Unit
from ..linking.types import ANY, LIST, TEXT, Type
from ..rules.solver.flow.labels import MOST
from ..rules.solver.flow.touched import sinks
from ..rules.solver.types.views import Views
from ..syntax.values import Ref, Value
from .form import Guard, Item, Literal, Use
from .place import OUTSIDE, Given

if TYPE_CHECKING:
    from ..linking.catalogue import Tool
    from .texts import Texts

_TURNS = 8
"""How often a plan is gone through; types that are not stable then may be anything."""


class Kinds:
    """The types of a plan's names. `names`: by name; `yields`: what its loops collect."""

    def __init__(self, instance: Instance, views: Views, root: bool) -> None:
        self.instance = instance
        self.views = views
        self.names: dict[str, set[Type]] = {"run": {Type(types.WORDS)}}
        self.yields: set[Type] = set()
        for param in instance.unit.params.values():
            self.names[param.name] = {_of_param(param) if root else ANY}
        for _ in range(_TURNS):
            before = {name: frozenset(kinds) for name, kinds in self.names.items()}
            self._body(instance.unit.body, False)
            if before == self.names:
                return
        self.names = {name: {ANY} for name in self.names}

    def of(self, path: tuple[str, ...]) -> set[Type]:
        """The types of a reference."""
        kinds = self.names.get(path[0], {ANY})
        for field in path[1:]:
            kinds = {kind.field(field) for kind in kinds}
        return kinds

    def value(self, value: Value) -> set[Type]:
        """The types of a template."""
        if len(value.parts) == 1 and isinstance(value.parts[0], Ref):
            return self.of(value.parts[0].path)
        return {TEXT}

    def result(self, node: Invoke) -> Type:
        """What a call gives."""
        callee = self.instance.callees[node.number]
        if node.depth is not None or callee is None:
            return types.NOTHING if callee is not None else ANY
        return self.views.own(callee).result

    def _put(self, name: str | None, kinds: set[Type]) -> None:
        if name:
            self.names.setdefault(name, set()).update(kinds)

    def _body(self, nodes: list[Node], collects: bool) -> None:
        for node in nodes:
            if isinstance(node, Act):
                self._put(node.step.bind, {self.views.result(node.bound.tool)})
            elif isinstance(node, Invoke):
                self._put(node.call.bind, {self.result(node)})
            elif isinstance(node, Choice):
                self._body(node.then, collects)
                self._body(node.orelse, collects)
            elif isinstance(node, Loop):
                self._loop(node, collects)
            elif isinstance(node, Collect) and collects and node.value is not None:
                self.yields |= self.value(node.value)

    def _loop(self, node: Loop, collects: bool) -> None:
        if node.kind == "each" or node.over is None:
            items = {TEXT}
        else:
            items = {kind.of_item() for kind in self.value(node.over) if kind.kinds & LIST} or {ANY}
        self._put(node.name, items)
        self._put(node.alias, items)
        bind = getattr(node.node, "bind", None)
        self._body(node.body, bool(bind) if node.kind in ("for", "fork") else collects)
        kept = {types.kept(kind) for kind in items} if node.keeps else set()
        self._put(bind, {types.list_of(kind) for kind in (*self.yields, *kept)} or {Type(LIST)})


def _of_param(param: Param) -> Type:
    return types.GIVEN if param.default is None else types.of_constant(param.default)


def chooses(tool: Tool) -> set[str]:
    """The parameters by which something is chosen: a file, a command, an address, words for others."""
    limits = zip(tool.parameters, sinks(tool), strict=True)
    return {
        item.name
        for item, sink in limits
        if item.kind in ("path", "glob") or sink in MOST or tool.writes_unknown and not sink
    }


def own_texts(unit: Unit, numbers: Mapping[str, int]) -> dict[str, tuple[Given, ...]]:
    """By tool, call (`call_plan NAME`) or `for_each_file`: what the plan gives to the parameters that choose something, and to
    plans that it calls."""
    out: dict[str, dict[Given, None]] = {}

    def put(title: str, tail: str, values: dict[str, Value]) -> None:
        names = {ref.path[0] for value in values.values() for ref in value.refs}
        bits = sum(1 << numbers[name] for name in names if name in numbers)
        texts = tuple((name, tail[value.start : value.end]) for name, value in values.items())
        out.setdefault(title, {})[Given(texts, bits)] = None

    for act in unit.acts:
        tool, given = act.bound.tool, act.bound.arguments
        names = [
            item.name for item in tool.inline if item.name in chooses(tool) and item.name in given
        ]
        put(tool.name, act.step.tail, {name: given[name] for name in names})
    for call in unit.calls:
        put(f"call_plan {call.name}", call.call.tail, call.arguments)
    for loop in reversed(every(unit.body)):
        if isinstance(loop, Loop) and loop.kind == "each" and loop.over is not None:
            put("for_each_file", loop.node.tail, {"glob": loop.over})
    return {title: tuple(rows) for title, rows in out.items()}


def given_by(
    texts: Texts, title: str, moves: bool, numbers: Collection[str] = ()
) -> Iterator[tuple[dict[str, list[Item]], Guard]]:
    """What the plan gives to the parameters that choose something: nothing else may choose there. What `moves` the automaton
    may be all that does: where no such names are bound, words (or `numbers`) stand there, so that there is a way on."""
    rows = texts.place.own.get(title, ())
    lacking = {0} if rows and moves else set()
    for values, bits in rows:
        yield {name: [Literal(text)] for name, text in values}, Guard(bits)
        bound = [1 << number for number in range(bits.bit_length()) if bits >> number & 1]
        masks = {mask | bit for mask in lacking for bit in bound}
        lacking = {
            mask for mask in masks if not any(one < mask and one & mask == one for one in masks)
        }
    texts.value("any", OUTSIDE)
    for mask in sorted(lacking):
        yield (
            {
                name: [texts.number() if name in numbers else Use("word")]
                for name, _ in rows[0].texts
            },
            Guard(clear=mask),
        )


def own_turns(nodes: list[Node]) -> tuple[int, ...]:
    """How often the loops of a body run at most."""
    return tuple(
        sorted(
            {node.most for node in every(nodes) if isinstance(node, Loop) and node.most is not None}
        )
    )


def reads(nodes: list[Node]) -> Counter[tuple[str, ...]]:
    """How often a body reads each name, and each field of one."""
    return Counter(tuple(ref.path) for node in every(nodes) for ref in _refs(node))


def _refs(node: Node) -> Iterator[Ref]:
    if isinstance(node, Act):
        for value in node.bound.arguments.values():
            yield from value.refs
    elif isinstance(node, Invoke):
        for value in node.arguments.values():
            yield from value.refs
    elif isinstance(node, Loop):
        yield from node.over.refs if node.over is not None else ()
        yield from node.until.refs if node.until is not None else ()
    elif isinstance(node, Choice | Gate):
        yield from node.condition.refs if node.condition is not None else ()
    elif isinstance(node, Collect) and node.value is not None:
        yield from node.value.refs
