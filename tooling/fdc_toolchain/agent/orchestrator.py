"""The automaton of a task's life as data: which trigger leads from a state to another (FDC-01, FDC-86, FDC-87).

Both written forms of an automaton are read (`automata.load`); nothing here knows the name of a state.
"""

from __future__ import annotations

import os

from .. import durable
from ..automata.load import load
from ..automata.model import Automaton
from ..exits import reason
from ..narrow import narrow
from ..packs import shipped
from ..text.json_text import plain
from ..text.yaml_text import parse


class FsmError(ValueError):
    """The file of the automaton is missing or wrong; the message has its path and the reason."""


class Orchestrator:
    """An automaton that was read: `data` is what the file holds, `initial` and `final` its ends."""

    def __init__(self, data: dict[str, object], automaton: Automaton) -> None:
        self.data = data
        self.states: tuple[str, ...] = automaton.states
        self.initial: str = automaton.start
        self.final: frozenset[str] = automaton.accept
        self._rows: dict[str, dict[str, str]] = automaton.transitions

    def trigger(self, source: str, dest: str) -> str:
        """The one trigger from `source` to `dest`. Raises ValueError where there is none, or more than one."""
        found = [
            trigger for trigger, target in self._rows.get(source, {}).items() if target == dest
        ]
        if not found:
            raise ValueError(f"the automaton has no transition from `{source}` to `{dest}`")
        if len(found) > 1:
            names = ", ".join(f"`{trigger}`" for trigger in found)
            raise ValueError(f"the transition from `{source}` to `{dest}` is ambiguous: {names}")
        return found[0]

    def leads(self, source: str, dest: str) -> bool:
        """True if exactly one trigger leads there."""
        return list(self._rows.get(source, {}).values()).count(dest) == 1

    def after(self, state: str, trigger: str) -> str:
        """The state that a trigger leads to. Raises ValueError where the automaton refuses it."""
        found = self._rows.get(state, {}).get(trigger)
        if found is None:
            raise ValueError(f"the automaton refuses `{trigger}` in the state `{state}`")
        return found

    def has(self, state: str, trigger: str) -> bool:
        """True if the automaton accepts the trigger in that state."""
        return trigger in self._rows.get(state, {})


def read(fsm_path: str, root: str) -> Orchestrator:
    """The automaton at a path: as given, below the workspace, or shipped. Raises FsmError (FDC-01)."""
    places = [fsm_path] if os.path.isabs(fsm_path) else [fsm_path, os.path.join(root, fsm_path)]
    data = None
    try:
        for place in places:
            data = data if data is not None else durable.read(place)
        if data is None:
            data = shipped.read(fsm_path)
    except OSError as refused:
        raise FsmError(f"{fsm_path} cannot be read: {reason(refused)}") from refused
    if data is None:
        raise FsmError(f"{fsm_path} does not exist")
    automaton, found = load(data, fsm_path)
    held, _ = parse(fsm_path, data.decode("utf-8-sig", "replace"))
    if automaton is None or held is None:
        wrong = next(item for item in found if item.severity == "error")
        raise FsmError(f"{fsm_path}:{wrong.span.line}: {wrong.message} ({wrong.code})")
    return Orchestrator(narrow(plain(held), dict), automaton)
