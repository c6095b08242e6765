"""A rule of a protocol as an obligation of runs: which steps it speaks of, and the automaton that reads them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...automata import declare
from ...named_tuples import NamedTuple
from ..model import Unit

if TYPE_CHECKING:
    from ...certificate import forms


class Event(NamedTuple):
    """One kind of step. `name` is a tool or an action type; every field that is not None or empty must fit."""

    name: str | None
    tool: str | None
    action: str | None
    arguments: tuple[tuple[str, str], ...]

    def may_be(self, tool: str, action: str | None) -> bool:
        """True where a step of this tool and action type is the event, if its arguments are right."""
        return (
            (self.name is None or self.name in (tool, action))
            and (self.tool is None or self.tool == tool)
            and (self.action is None or self.action == action)
        )

    def plain(self) -> forms.Event:
        """The event as a program carries it."""
        event: forms.Event = {}
        if self.name:
            event["name"] = self.name
        if self.tool:
            event["tool"] = self.tool
        if self.action:
            event["action"] = self.action
        if self.arguments:
            event["arguments"] = dict(self.arguments)
        return event


class Obligation(NamedTuple):
    """A rule with a template: where it comes from, what it requires, and of the runs of which plans.

    `events` are those of a, b and c. `automata` are keys of automata, `plans` globs; empty: all.
    """

    protocol: str
    rule: str
    description: str
    path: str
    number: int
    template: str
    n: int
    events: tuple[tuple[Event, ...], tuple[Event, ...], tuple[Event, ...]]
    same: str | None
    automata: tuple[str, ...]
    plans: tuple[str, ...]
    severity: str
    strict: bool
    """True where the rule must hold for runs that stop early, too."""

    @property
    def id(self) -> str:
        """The rule's name among all rules."""
        return f"{self.protocol}/{self.rule}"

    @property
    def machine(self) -> declare.Template:
        """The automaton that reads the steps of a run, or those about one value, while it lasts."""
        machine = declare.compiled(self.template, self.n)
        if self.same is not None:
            machine = declare.from_first_step(machine)
        return declare.at_every_prefix(machine) if self.strict else machine

    @property
    def states(self) -> tuple[str, ...]:
        """The automaton's states in words."""
        names = {letter: described(group) for letter, group in zip("abc", self.events, strict=True)}
        return tuple(state.format(**names) for state in self.machine.states)

    def plain(self) -> forms.RuleRow:
        """The rule as a program carries it, its automaton with it: `table[letter][state]` is the next state or -1."""
        machine = self.machine
        return {
            "protocol": self.protocol,
            "rule": self.rule,
            "description": self.description,
            "same": self.same,
            "automata": [] if self.strict else list(self.automata),
            "events": [[event.plain() for event in group] for group in self.events],
            "states": list(self.states),
            "accept": [
                number for number in range(len(machine.states)) if machine.accept >> number & 1
            ],
            "table": [machine.table[letter] for letter in range(len(machine.table))],
        }

    def hides(self, unit: Unit) -> bool:
        """True for a called plan with an automaton of its own that the rule does not name: its steps do not count.

        Never for a `strict` rule, because the run may stop inside the called plan.
        """
        if not self.automata or self.strict or unit.stated is None:
            return False
        return unit.automaton is not None and unit.automaton.path not in self.automata

    def applies(self, key: str, automaton: str | None) -> bool:
        """True where the rule holds for the runs of the plan under `key`, which an automaton governs."""
        if self.automata and automaton not in self.automata:
            return False
        if not self.plans:
            return True
        from ...text.glob_match import matches

        return any(matches(key.removeprefix("fdc:"), glob) for glob in self.plans)


def described(group: tuple[Event, ...]) -> str:
    """Events in words."""
    return " or ".join(_describe(event) for event in group) or "nothing"


def _describe(event: Event) -> str:
    name = event.name or " ".join(
        part for part in (event.tool, event.action and f"({event.action})") if part
    )
    arguments = " and ".join(f"{key} `{glob}`" for key, glob in event.arguments)
    shown = f"`{name}`" if name and " " not in name else name or "a step"
    return f"{shown} with {arguments}" if arguments else shown
