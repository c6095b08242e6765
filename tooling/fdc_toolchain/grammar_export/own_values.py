"""What is known of the names of one plan: the types of the values that it binds to each, and where it reads them.

The order of the text is not followed: a name has a type for each way in which the plan binds it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from ..linking import types
from ..linking.graph import Instance
from ..linking.model import Act, Choice, Collect, Gate, Invoke, Loop, Node, Param
from ..linking.types import ANY, LIST, TEXT, Type
from ..rules.solver.types import Views
from ..syntax.values import Ref, Value

_TURNS = 8
"""How often a plan is gone through; types that are not stable then may be anything."""


class Kinds:
    """The types of a plan's names. `names`: by name; `given`: by called plan and parameter, what the plan gives it;
    `yields`: what its loops collect."""

    def __init__(self, instance: Instance, views: Views, root: bool) -> None:
        self.instance = instance
        self.views = views
        self.names: dict[str, set[Type]] = {"run": {Type(types.WORDS)}}
        self.given: dict[tuple[str, str], set[Type]] = {}
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
                for name, value in node.arguments.items():
                    self.given.setdefault((node.name, name), set()).update(self.value(value))
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


def reads(nodes: list[Node]) -> Counter[tuple[str, ...]]:
    """How often a body reads each name, and each field of one."""
    return Counter(tuple(ref.path) for ref in _read(nodes))


def _read(nodes: list[Node]) -> Iterator[Ref]:
    for node in nodes:
        yield from _refs(node)


def _refs(node: Node) -> Iterator[Ref]:
    if isinstance(node, Act):
        for value in node.bound.arguments.values():
            yield from value.refs
    elif isinstance(node, Invoke):
        for value in node.arguments.values():
            yield from value.refs
    elif isinstance(node, Choice):
        yield from node.condition.refs if node.condition is not None else ()
        yield from _read(node.then + node.orelse)
    elif isinstance(node, Loop):
        yield from node.over.refs if node.over is not None else ()
        yield from node.until.refs if node.until is not None else ()
        yield from _read(node.body)
    elif isinstance(node, Gate):
        yield from node.condition.refs if node.condition is not None else ()
    elif isinstance(node, Collect) and node.value is not None:
        yield from node.value.refs
