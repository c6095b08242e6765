"""A graph as a Mermaid flowchart, which code forges draw inside Markdown."""

from __future__ import annotations

import json

from .drawing import Cluster, Edge, Graph, Node, numbered, shown, shown_lines, text_lines

_SHAPES = {
    "state": ("(", ")"),
    "accept": ("(((", ")))"),
    "step": ("[", "]"),
    "call": ("[[", "]]"),
    "loop": ("[/", "\\]"),
    "fork": ("[/", "/]"),
    "branch": ("{{", "}}"),
    "gate": ("{", "}"),
    "end": ("([", "])"),
}
_ARROWS = {"flow": "-->", "back": "-.->", "call": "-.->"}


def render(graph: Graph) -> str:
    """Mermaid text with one line a node and an edge, the same for the same graph."""
    number = numbered(graph)
    # The title stands in YAML front matter, where a JSON string of ASCII is a YAML string.
    lines = ["---", f"title: {json.dumps(shown(graph.title, 120))}", "---", "flowchart TD"]
    for cluster in [Cluster("", ""), *graph.clusters]:
        indent = "  "
        if cluster.id:
            indent = "    "
            lines.append(
                f"  subgraph c{graph.clusters.index(cluster)}[{_text(text_lines(cluster))}]"
            )
        for node in graph.nodes:
            if node.cluster == cluster.id:
                lines += [indent + line for line in _node(node, number[node.id])]
        if cluster.id:
            lines.append("  end")
    lines += ["  " + _edge(edge, number) for edge in graph.edges]
    return "\n".join([*lines, ""])


def _node(node: Node, number: int) -> list[str]:
    left, right = _SHAPES[node.kind]
    lines = [f"n{number}{left}{_text(text_lines(node))}{right}"]
    if node.start:
        lines += [f"s{number}(( ))", f"s{number} --> n{number}"]
    return lines


def _edge(edge: Edge, number: dict[str, int]) -> str:
    label = f"|{_text(shown_lines(edge.labels))}|" if edge.labels else ""
    return f"n{number[edge.source]} {_ARROWS[edge.kind]}{label} n{number[edge.target]}"


def _text(lines: list[str]) -> str:
    """A quoted label. Characters that have a meaning in Mermaid, Markdown or HTML are written as character codes."""
    return '"' + "<br/>".join("".join(_character(c) for c in line) or " " for line in lines) + '"'


def _character(character: str) -> str:
    plain = character.isalnum() or character in " _,=/" or character > "\x7f"
    return character if plain else f"#{ord(character)};"
