"""The drawing of an automaton."""

from __future__ import annotations

from ...automata.model import Automaton
from .drawing import Edge, Graph, Node


def automaton_graph(automaton: Automaton) -> Graph:
    """A node for each state, and one edge for each pair of states with the symbols that lead from one to the other.

    States are in declared order, symbols in the alphabet's, so that equal automata give equal drawings.
    """
    nodes = tuple(
        Node(
            state,
            state,
            kind="accept" if state in automaton.accept else "state",
            start=state == automaton.start,
        )
        for state in automaton.states
    )
    order = {symbol: number for number, symbol in enumerate(automaton.alphabet)}
    edges = []
    for source, row in automaton.transitions.items():
        symbols: dict[str, list[str]] = {}
        for symbol in sorted(row, key=order.__getitem__):
            symbols.setdefault(row[symbol], []).append(symbol)
        edges += [Edge(source, target, tuple(names)) for target, names in symbols.items()]
    return Graph(automaton.name, nodes, tuple(edges))
