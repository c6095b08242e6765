"""Automata: files of two forms, and a place in one."""

from __future__ import annotations

import json
from typing import NamedTuple


class Automaton(NamedTuple):
    start: str
    accepts: frozenset[str]
    ways: dict[tuple[str, str], str]
    alphabet: frozenset[str]


def read(text: str) -> Automaton:
    """The automaton of a file, in its table form or its list form."""
    data = json.loads(text)
    if isinstance(data["transitions"], list):
        ways = {(one["source"], one["trigger"]): one["dest"] for one in data["transitions"]}
        return Automaton(
            data["initial_state"],
            frozenset(data["final_states"]),
            ways,
            frozenset(key[1] for key in ways),
        )
    ways = {
        (state, symbol): to
        for state, row in data["transitions"].items()
        for symbol, to in row.items()
    }
    return Automaton(
        data["start_state"], frozenset(data["accept_states"]), ways, frozenset(data["alphabet"])
    )


class Cursor:
    """A place in an automaton, shared by all plans and branches that continue in it."""

    def __init__(self, automaton: Automaton) -> None:
        self.automaton, self.state = automaton, automaton.start

    def move(self, symbol: str) -> bool:
        """Whether the automaton takes the symbol here; then the place is the next one."""
        to = self.automaton.ways.get((self.state, symbol))
        if to is None:
            return False
        self.state = to
        return True

    def accepts(self) -> bool:
        return self.state in self.automaton.accepts
