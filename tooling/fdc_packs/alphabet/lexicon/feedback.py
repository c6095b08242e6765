"""Near-minimum feedback vertex sets: a cheap set of nodes without which a directed graph has no circle. Pure.

A graph maps each node to the nodes that lead to it. The same graph, prices and seed give the same set.
"""

from __future__ import annotations

import heapq
import random
from collections.abc import Iterable, Mapping, Set

from ..circles import shortest_circle

Graph = Mapping[int, Set[int]]
Prices = Mapping[int, float]


def cut(graph: Graph, prices: Prices, rounds: int) -> set[int]:
    """A set whose removal leaves no cycle: what reductions decide, a greedy set of the rest, `rounds` of local search."""
    whole = Shrinking(graph, prices)
    whole.reduce()
    sure, rest = set(whole.taken), {node: set(one) for node, one in whole.before.items()}
    return sure | improved(rest, prices, whole.greedy() - sure, rounds)


class Shrinking:
    """A graph under reductions that keep a cheapest set (Levy and Low 1988; Lin and Jou 2000); `taken`: nodes of the set."""

    def __init__(self, graph: Graph, prices: Prices) -> None:
        self.prices = prices
        self.taken: set[int] = set()
        self.before = {node: {one for one in some if one in graph} for node, some in graph.items()}
        self.after: dict[int, set[int]] = {node: set() for node in graph}
        for node, some in self.before.items():
            for one in some:
                self.after[one].add(node)
        self.changed = set(graph)

    def remove(self, node: int, *, join: bool) -> None:
        """Takes a node out. `join` leads each way in to each way out."""
        before, after = self.before.pop(node) - {node}, self.after.pop(node) - {node}
        for one in before:
            self.after[one].discard(node)
            if join:
                self.after[one] |= after
        for one in after:
            self.before[one].discard(node)
            if join:
                self.before[one] |= before
        self.changed |= before | after

    def take(self, node: int) -> None:
        """Takes a node out and into the set."""
        self.taken.add(node)
        self.remove(node, join=False)

    def reduce_nodes(self) -> None:
        """Takes each node that leads to itself; joins each with one way in or out that costs no less than its neighbour."""
        while self.changed:
            node = self.changed.pop()
            if node not in self.before:
                continue
            before, after = self.before[node], self.after[node]
            if node in before:
                self.take(node)
            elif not before or not after or self._replaceable(node, before, after):
                self.remove(node, join=True)

    def _replaceable(self, node: int, before: set[int], after: set[int]) -> bool:
        return any(
            len(some) == 1 and self.prices[min(some)] <= self.prices[node]
            for some in (before, after)
        )

    def reduce(self) -> None:
        """The same, and without each edge all of whose circles hold a smaller circle, until nothing changes."""
        self.reduce_nodes()
        while self._edges():
            self.reduce_nodes()

    def _edges(self) -> bool:
        for node, some in list(self.before.items()):
            for one in some - self.after[node]:
                if (
                    self.before[one] - self.after[one] <= some
                    or self.after[node] - self.before[node] <= self.after[one]
                ):
                    some.discard(one)
                    self.after[one].discard(node)
                    self.changed |= {one, node}
        return bool(self.changed)

    def greedy(self) -> set[int]:
        """Takes the node with most ways through it for its price, reduces, and so on; the whole set."""

        def key(node: int) -> float:
            return -len(self.before[node]) * len(self.after[node]) / self.prices[node]

        self.reduce_nodes()
        heap = [(key(node), node) for node in self.before]
        heapq.heapify(heap)
        while heap:
            old, node = heapq.heappop(heap)
            if node not in self.before:
                continue
            if key(node) != old:
                heapq.heappush(heap, (key(node), node))
                continue
            self.take(node)
            self.reduce_nodes()
        return self.taken


def improved(graph: Graph, prices: Prices, found: set[int], rounds: int, seed: int = 1) -> set[int]:
    """Local search: a neighbourhood of the set is given back and cut again at shaken prices; what is not dearer is kept."""
    rng, after = random.Random(seed), following(graph)
    total = sum(prices[node] for node in sorted(found))
    for _ in range(rounds if found else 0):
        kept = found - _near(graph, after, found, rng)
        shaken = {node: price * rng.uniform(0.8, 1.25) for node, price in prices.items()}
        left = {node: some for node, some in graph.items() if node not in kept}
        again = kept | Shrinking(left, shaken).greedy()
        for node in sorted(again - kept, key=lambda one: (-prices[one], one)):
            again.discard(node)
            if _on_circle(graph, node, again):
                again.add(node)
        value = sum(prices[node] for node in sorted(again))
        if value <= total:
            found, total = again, value
    return found


def _on_circle(graph: Graph, node: int, without: Set[int]) -> bool:
    """Whether a node is on a circle that holds no node of a set."""
    none: Set[int] = frozenset()
    return bool(
        shortest_circle(node, lambda at: (one for one in graph.get(at, none) if one not in without))
    )


def _near(
    graph: Graph, after: Mapping[int, list[int]], found: set[int], rng: random.Random
) -> set[int]:
    """Some members of a set that lie close together."""
    size = rng.randint(5, 6 + len(found) // 3)
    near: set[int] = set()
    waiting = [rng.choice(sorted(found))]
    seen = set(waiting)
    while waiting and len(near) < size:
        node = waiting.pop(rng.randrange(len(waiting)))
        near |= {node} & found
        waiting += sorted({*graph[node], *after[node]} - seen)
        seen.update(waiting)
    return near


def bound(graph: Graph, prices: Prices) -> float:
    """What every set whose removal leaves no cycle costs at least: what reductions decide, and a packing of the rest."""
    whole = Shrinking(graph, prices)
    whole.reduce()
    return sum(prices[node] for node in sorted(whole.taken)) + packing(whole.before, prices)


def packing(graph: Graph, prices: Prices) -> float:
    """A lower bound: circles are packed, short ones first, and each takes of its nodes' prices what the cheapest has left. Each
    circle holds a node of any set, and no node pays more than its price (linear duality)."""
    left, alive, packed = dict(prices), set(graph), 0.0
    longest, further = 2, True
    while further:
        further = False
        for node in sorted(graph):
            while node in alive:
                way = shortest_circle(node, lambda one: filter(alive.__contains__, graph[one]))
                if not way:
                    alive.discard(node)
                elif len(way) > longest:
                    further = True
                    break
                else:
                    least = min(left[one] for one in way)
                    packed += least
                    for one in way:
                        left[one] -= least
                        if left[one] <= 1e-12:
                            alive.discard(one)
        longest += 1
    return packed


def following(graph: Mapping[int, Iterable[int]]) -> dict[int, list[int]]:
    """For each node, those that it leads to."""
    found: dict[int, list[int]] = {node: [] for node in graph}
    for node, some in graph.items():
        for one in some:
            found.setdefault(one, []).append(node)
    return found
