"""Finds states of an automaton that cannot be used.

Both searches are one walk over the transitions, linear in their number. A final state that a
transition leaves is legal: the controller decides whether a run stops there
(requirement C-12).
"""

from __future__ import annotations

from .model import Automaton


def unreachable(automaton: Automaton) -> tuple[str, ...]:
    """The states that no run from the start state enters, in declared order."""
    onwards = {state: list(row.values()) for state, row in automaton.transitions.items()}
    return _without(automaton.states, _closure([automaton.start], onwards))


def dead(automaton: Automaton) -> tuple[str, ...]:
    """The states from which no accepting state can be reached, in declared order."""
    backwards: dict[str, list[str]] = {state: [] for state in automaton.states}
    for state, row in automaton.transitions.items():
        for target in row.values():
            backwards[target].append(state)
    return _without(automaton.states, _closure(list(automaton.accept), backwards))


def _closure(starts: list[str], edges: dict[str, list[str]]) -> set[str]:
    seen = set(starts)
    waiting = list(starts)
    while waiting:
        for other in edges[waiting.pop()]:
            if other not in seen:
                seen.add(other)
                waiting.append(other)
    return seen


def _without(states: tuple[str, ...], used: set[str]) -> tuple[str, ...]:
    return tuple(state for state in states if state not in used)
