"""A graph in the DOT language of Graphviz."""

from __future__ import annotations

from .drawing import Cluster, Edge, Graph, Node, full, numbered, shown, shown_lines, text_lines

_SHAPES = {
    "state": 'shape=box, style="rounded,filled"',
    "accept": 'shape=box, style="rounded,filled", peripheries=2',
    "step": "shape=box",
    "call": 'shape=box, style="bold,filled"',
    "loop": 'shape=box, style="diagonals,filled"',
    "fork": 'shape=parallelogram, style="filled"',
    "branch": "shape=hexagon",
    "gate": "shape=octagon",
    "end": 'shape=box, style="rounded,filled", penwidth=2',
}
_EDGES = {
    "flow": "",
    "back": "style=dotted",
    "call": 'style=dashed, arrowhead=open, constraint=false, color="#6b46c1"',
}


def render(graph: Graph) -> str:
    """DOT text with one line a node and an edge, the same for the same graph."""
    number = numbered(graph)
    lines = [
        "digraph fdc {",
        f"  label={_quoted([shown(graph.title, 120)])};",
        '  labelloc=t; labeljust=l; rankdir=TB; fontname="sans-serif";',
        '  node [fontname="monospace", fontsize=12, style=filled, fillcolor="#f6f8fa", color="#57606a"];',
        '  edge [fontname="monospace", fontsize=10, color="#57606a"];',
    ]
    for cluster in [Cluster("", ""), *graph.clusters]:
        inside = [node for node in graph.nodes if node.cluster == cluster.id]
        indent = "  "
        if cluster.id:
            indent = "    "
            position = graph.clusters.index(cluster)
            lines.append(f"  subgraph cluster_{position} {{")
            lines.append(f"{indent}label={_quoted(text_lines(cluster))};")
        for node in inside:
            lines += [indent + line for line in _node(node, number[node.id])]
        if cluster.id:
            lines.append("  }")
    lines += ["  " + _edge(edge, number) for edge in graph.edges]
    return "\n".join([*lines, "}", ""])


def _node(node: Node, number: int) -> list[str]:
    lines = [
        f"n{number} [label={_quoted(text_lines(node))}, tooltip={_quoted([full(node)])}, {_SHAPES[node.kind]}];"
    ]
    if node.start:
        lines.append(f's{number} [label="", shape=point, width=0.12, fillcolor="#57606a"];')
        lines.append(f"s{number} -> n{number};")
    return lines


def _edge(edge: Edge, number: dict[str, int]) -> str:
    attributes = [f"label={_quoted(shown_lines(edge.labels))}"] if edge.labels else []
    if _EDGES[edge.kind]:
        attributes.append(_EDGES[edge.kind])
    listed = f" [{', '.join(attributes)}]" if attributes else ""
    return f"n{number[edge.source]} -> n{number[edge.target]}{listed};"


def _quoted(lines: list[str]) -> str:
    """A DOT string of several lines. Graphviz reads backslash escapes and HTML entities in it."""
    safe = [line.replace("&", "&amp;").replace("\\", "\\\\").replace('"', '\\"') for line in lines]
    return '"' + "\\n".join(safe) + '"'
