"""The shortest circle through a node of a directed graph: of definitions, of presuppositions. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

Node = TypeVar("Node", int, str)


def shortest_circle(
    start: Node, after: Callable[[Node], Iterable[Node]], longest: int | None = None
) -> list[Node]:
    """The nodes of the shortest way from `start` along `after` back to it, `start` first and once; empty where there is none of
    at most `longest` steps."""
    before: dict[Node, Node] = {}
    ring, steps = [start], 0
    while ring and steps != longest:
        following = []
        for node in ring:
            for other in after(node):
                if other == start:
                    way = [node]
                    while way[-1] != start:
                        way.append(before[way[-1]])
                    return way[::-1]
                if other not in before:
                    before[other] = node
                    following.append(other)
        ring, steps = following, steps + 1
    return []
