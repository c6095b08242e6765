"""A drawing as a value, independent of the format.

Automata and plans both become a `Graph`; `mermaid.render`, `dot.render` and `svg.render` turn one
into text. Labels may hold any text of a user: each renderer must escape them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from ...named_tuples import NamedTuple
from ..terminal.terminal_text import cut, visible

NodeKind = Literal["state", "accept", "step", "call", "loop", "fork", "branch", "gate", "end"]
EdgeKind = Literal["flow", "back", "call"]

MAX_LABEL = 48
"""Columns of a label that are drawn; the rest is in a tooltip (SVG) or left out."""

MAX_LINES = 12
"""Labels of one edge that are drawn under each other; more are counted in a last line."""


class Node(NamedTuple):
    """A box. `note` is a second, smaller line; `start` marks where things begin; `cluster` is a `Cluster.id`.

    Kinds: `state` and `accept` are an automaton's; the others a plan's, where `gate` is
    `require`, `branch` is `if` and `end` is where a plan returns.
    """

    id: str
    label: str
    kind: NodeKind = "state"
    note: str = ""
    cluster: str = ""
    start: bool = False


class Edge(NamedTuple):
    """An arrow. Each of `labels` is a line of its own. `call` goes from a step to the plan it calls."""

    source: str
    target: str
    labels: tuple[str, ...] = ()
    kind: EdgeKind = "flow"


class Cluster(NamedTuple):
    """A frame around the nodes that name it: one plan of several."""

    id: str
    label: str
    note: str = ""


class Graph(NamedTuple):
    """Nodes in reading order, edges between their ids, and frames."""

    title: str
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    clusters: tuple[Cluster, ...] = ()


def shown(text: str, width: int = MAX_LABEL) -> str:
    """A label as it is drawn: one line, hidden characters escaped, shortened to `width` columns."""
    return cut(visible(text[: 4 * width]), width)


def shown_lines(labels: Iterable[str]) -> list[str]:
    """An edge's labels as they are drawn, no more than `MAX_LINES` of them."""
    lines = [shown(label) for label in labels]
    if len(lines) > MAX_LINES:
        return [*lines[: MAX_LINES - 1], f"and {len(lines) - MAX_LINES + 1} more"]
    return lines


def text_lines(item: Node | Cluster) -> list[str]:
    """The one or two lines of a node or frame as they are drawn."""
    return [shown(item.label), shown(item.note)] if item.note else [shown(item.label)]


def numbered(graph: Graph) -> dict[str, int]:
    """A number for every node, used as its id: a user's name would have to be escaped in every format."""
    return {node.id: number for number, node in enumerate(graph.nodes)}


def full(node: Node) -> str:
    """The label and the note of a node, in one line of bounded length."""
    text = f"{node.label} ({node.note})" if node.note else node.label
    return visible(text if len(text) <= 400 else text[:400] + "...")
