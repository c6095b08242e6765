"""Which states of an automaton are of no use.

Both questions are one walk over the transitions, linear in their number. A final state that a
transition leaves is of use and legal: whether a run stops there is the controller's affair
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


def _closure(found: list[str], edges: dict[str, list[str]]) -> set[str]:
    seen = set(found)
    waiting = list(found)
    while waiting:
        for other in edges[waiting.pop()]:
            if other not in seen:
                seen.add(other)
                waiting.append(other)
    return seen


def _without(states: tuple[str, ...], found: set[str]) -> tuple[str, ...]:
    return tuple(state for state in states if state not in found)
