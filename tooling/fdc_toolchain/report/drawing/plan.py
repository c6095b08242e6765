"""The drawing of a plan with the plans that it calls: a frame for each, a box for each line that runs."""

from __future__ import annotations

from collections.abc import Mapping

from ...named_tuples import NamedTuple
from ...syntax import tree
from .drawing import Cluster, Edge, EdgeKind, Graph, Node, NodeKind

Open = list[tuple[str, tuple[str, ...]]]
"""Boxes from which the next line is reached, each with the words on the arrow to it."""


class Drawn(NamedTuple):
    """One plan to draw. `calls` gives, for the line of a call, the key of the plan called (None: there is none)."""

    key: str
    name: str
    note: str
    plan: tree.Plan
    calls: Mapping[int, str | None]


def plan_graph(title: str, plans: list[Drawn]) -> Graph:
    """The flow of every plan, in the order given, and the calls between them.

    A loop is a box with an arrow into its body and a dotted one back; `end` is where a run of
    the plan returns. Calls of plans that are not among `plans` are boxes like any other step.
    """
    entries = {item.key: _entry(item.plan, item.key) for item in plans}
    nodes: list[Node] = []
    edges: list[Edge] = []
    for item in plans:
        flow = _Flow(item, entries)
        flow.close(flow.body(item.plan.statements, []))
        nodes += flow.nodes
        edges += flow.edges
    return Graph(
        title,
        tuple(nodes),
        tuple(edges),
        tuple(Cluster(item.key, item.name, item.note) for item in plans),
    )


def _entry(plan: tree.Plan, key: str) -> str:
    """The id of a plan's first box."""
    for node in plan.statements:
        if not isinstance(node, (tree.Header, tree.Comment)):
            return f"{key}:{node.line}"
    return f"{key}:end"


class _Flow:
    def __init__(self, item: Drawn, entries: Mapping[str, str]) -> None:
        self.item = item
        self.entries = entries
        self.nodes: list[Node] = []
        self.edges: list[Edge] = []

    def add(self, name: str, label: str, kind: NodeKind, note: str, open_: Open) -> str:
        """A box that everything open leads to."""
        id_ = f"{self.item.key}:{name}"
        self.nodes.append(Node(id_, label, kind, note, self.item.key, start=not self.nodes))
        self.lead(open_, id_, "flow")
        return id_

    def lead(self, open_: Open, target: str, kind: EdgeKind) -> None:
        self.edges += [Edge(source, target, words, kind) for source, words in open_]

    def close(self, open_: Open) -> None:
        self.add("end", "end", "end", "", open_)

    def body(self, statements: list[tree.Statement], open_: Open) -> Open:
        for node in statements:
            if not isinstance(node, (tree.Header, tree.Comment)):
                open_ = self.statement(node, open_)
        return open_

    def statement(self, node: tree.Statement, open_: Open) -> Open:
        line = str(node.line)
        note = f"line {node.line}"
        label = _source_line(node)
        if isinstance(node, tree.If):
            branch = self.add(line, label, "branch", note, open_)
            held = self.body(node.body, [(branch, ("true",))])
            return held + self.body(node.orelse, [(branch, ("false",))])
        if isinstance(node, (tree.ForEach, tree.For, tree.Iterate)):
            parallel = isinstance(node, tree.For) and node.fork
            loop = self.add(line, label, "fork" if parallel else "loop", note, open_)
            word = "again" if isinstance(node, tree.Iterate) else "each"
            self.lead(self.body(node.body, [(loop, (word,))]), loop, "back")
            return [(loop, ("done",))]
        if isinstance(node, tree.Call):
            callee = self.item.calls.get(node.line)
            if callee is None:
                note += ", plan not found"
            call = self.add(line, label, "call", note, open_)
            if callee is not None and callee in self.entries:
                self.edges.append(Edge(call, self.entries[callee], (), "call"))
            return [(call, ())]
        return [
            (
                self.add(
                    line, label, "gate" if isinstance(node, tree.Require) else "step", note, open_
                ),
                (),
            )
        ]


def _source_line(node: tree.Statement) -> str:
    """The line as it is written, without its indentation."""
    if isinstance(node, tree.Step):
        word = node.tool
    else:
        word = node.word  # type: ignore[union-attr]
    bind = getattr(node, "bind", None)
    text = f"{word} {node.tail}" if node.tail else word  # type: ignore[union-attr]
    return f"{bind} <- {text}" if bind else text
