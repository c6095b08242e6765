"""The graph of the protocols as text: DOT, Mermaid, GraphML, Turtle. The same bytes for the same graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...report.drawing import dot, mermaid
from ...report.drawing import drawing as draw
from ...report.terminal.terminal_text import visible

if TYPE_CHECKING:
    from networkx import DiGraph

FORMS = ("mermaid", "dot", "graphml", "turtle")

_SHAPES: dict[str, draw.NodeKind] = {
    "protocol": "call", "rule": "state", "check": "gate", "action": "branch", "unresolved": "loop",
}  # fmt: skip
_NAMESPACE = "urn:fdc:protocols:"


def text_of(graph: DiGraph, form: str) -> str:
    """The graph in one of `FORMS`."""
    if form == "graphml":
        return _graphml(graph)
    if form == "turtle":
        return _turtle(graph)
    return (dot if form == "dot" else mermaid).render(drawing(graph))


def drawing(graph: DiGraph) -> draw.Graph:
    """The graph as a drawing: a frame for each protocol with its rules, the others around them."""
    rows = list(graph.nodes(data=True))
    frames = tuple(
        draw.Cluster(name, row["label"], name.split(":", 1)[1])
        for name, row in rows
        if row["kind"] == "protocol"
    )
    inside = {rule: owner for owner, rule, row in graph.edges(data=True) if row["kind"] == "has"}
    nodes = []
    for name, row in rows:
        kind = row["kind"]
        note = {
            "rule": "enforced" if row.get("enforced") else "advice",
            "protocol": "",
            "check": "check",
        }.get(kind, kind)
        frame = name if kind == "protocol" else inside.get(name, "")
        nodes.append(draw.Node(name, row["label"], _SHAPES.get(kind, "step"), note, frame))
    edges = tuple(
        draw.Edge(source, target, (), "call" if row["kind"] == "uses" else "flow")
        for source, target, row in graph.edges(data=True)
    )
    return draw.Graph("Protocols, rules, checks and tools", tuple(nodes), edges, frames)


def _graphml(graph: DiGraph) -> str:
    import networkx

    plain = networkx.DiGraph(
        name=graph.graph["name"]
    )  # XML cannot hold every character that JSON can
    plain.add_nodes_from(
        (visible(name), {**row, "label": visible(row["label"])})
        for name, row in graph.nodes(data=True)
    )
    plain.add_edges_from((visible(a), visible(b), row) for a, b, row in graph.edges(data=True))
    return "\n".join(
        ["<?xml version='1.0' encoding='utf-8'?>", *networkx.generate_graphml(plain), ""]
    )


def _turtle(graph: DiGraph) -> str:
    import json

    lines = [
        f"@prefix : <{_NAMESPACE}> .",
        "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .",
    ]
    for name, row in graph.nodes(data=True):
        statements = [
            f"a :{row['kind'].capitalize()}",
            f"rdfs:label {json.dumps(visible(row['label']))}",
        ]
        if "enforced" in row:
            statements.append(f":enforced {str(row['enforced']).lower()}")
        statements += [
            f":{edge['kind']} {_iri(target)}"
            for _, target, edge in graph.out_edges(name, data=True)
        ]
        lines += ["", f"{_iri(name)} " + " ;\n    ".join(statements) + " ."]
    return "\n".join([*lines, ""])


def _iri(name: str) -> str:
    from urllib.parse import quote

    return f"<{_NAMESPACE}{quote(name, safe=':/')}>"
