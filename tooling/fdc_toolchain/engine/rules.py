"""The rules of protocols at work in a run (issue 3, *Rules that bite*): each an automaton that reads the steps.

What the linter proved, or could not prove, is watched here with the values of this run: a step after which
nothing can repair a rule is refused before it begins, and a run that ends and still owes something stops as that.

Steps of a fork count in the order in which they begin. Two steps between which a rule can tell the order are
never under way at once: so the order in which they come back, which the journal has, is that order too.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ..program.model import Program, RuleRow, ToolRow
from ..text import glob_match
from .events import Perform, Stop
from .values import text

if TYPE_CHECKING:
    from ..certificate.forms import Event

SINK = -1


class Monitor:
    """One rule of a program, and the states that the steps so far have led to: one, or one for each value."""

    __slots__ = (
        "name", "description", "events", "same", "is_path", "automata", "states", "accept", "table", "at", "_about", "_apart",
    )  # fmt: skip

    def __init__(self, rule: RuleRow, is_path: bool) -> None:
        self.name = f"`{rule['rule']}` of `{rule['protocol']}`"
        self.description: str = rule["description"]
        self.events: list[list[Event]] = rule["events"]
        self.same: str | None = rule["same"]
        self.automata = frozenset(rule.get("automata", ()))
        self.is_path = is_path
        self.states: list[str] = rule["states"]
        self.accept = frozenset(rule["accept"])
        self.table: list[list[int]] = rule["table"]
        self.at: dict[str, int] = {} if self.same is not None else {"": 0}
        self._about: dict[tuple[str, str | None], list[list[dict[str, str]]] | None] = {}
        self._apart: dict[tuple[int, int], bool] = {}

    def read(
        self, effect: Perform, action: str | None, paths: Iterable[str]
    ) -> tuple[str, int] | None:
        """(the value that it is about, its letter) of a step; None where the rule does not read it.

        `paths`: the parameters of its tool that take paths.
        """
        value = ""
        if self.same is not None:
            argument = effect.args.get(self.same)
            if self.same not in effect.args:
                return None
            value = glob_match.plain(text(argument)) if self.is_path else text(argument)
        kind = (effect.tool, action)
        if kind not in self._about:
            self._about[kind] = self._event_globs(*kind)
        letter = 0
        for number, group in enumerate(self._about[kind] or ()):
            if any(self._fits(effect, globs, value, paths) for globs in group):
                letter |= 1 << number
        return value, letter

    def _event_globs(self, tool: str, action: str | None) -> list[list[dict[str, str]]] | None:
        """For each letter the globs under which a step of this kind is its event; None where it is no event."""
        out = []
        for group in self.events:
            out.append(
                [
                    event.get("arguments", {})
                    for event in group
                    if event.get("name") in (None, tool, action)
                    and event.get("tool") in (None, tool)
                    and event.get("action") in (None, action)
                ]
            )
        return out if any(out) else None

    def _fits(
        self, effect: Perform, globs: dict[str, str], value: str, paths: Iterable[str]
    ) -> bool:
        for name, glob in globs.items():
            if name not in effect.args:
                return False
            argument = value if name == self.same else text(effect.args[name])
            if name != self.same and name in paths:
                argument = glob_match.plain(argument)
            if not glob_match.matches(argument, glob):
                return False
        return True

    def apart(self, first: int, second: int) -> bool:
        """True where the automaton can tell in which order two letters came."""
        key = (first, second)
        distinct = self._apart.get(key)
        if distinct is None:
            first_row, second_row = self.table[first], self.table[second]
            states = range(len(self.states))
            distinct = any(
                _after(second_row, _after(first_row, state))
                != _after(first_row, _after(second_row, state))
                for state in states
            )
            self._apart[key] = distinct
        return distinct

    def after(self, value: str, letter: int, start: int | None = None) -> int:
        """The state after a step, from the one that it is in or from `now`."""
        return _after(self.table[letter], self.at.get(value, 0) if start is None else start)

    def unmet(self) -> tuple[str, int] | None:
        """(value, state) of the first value, by name, for which the rule is not yet kept; None where the run may end."""
        return min(
            ((value, state) for value, state in self.at.items() if state not in self.accept),
            default=None,
        )


def _after(row: list[int], state: int) -> int:
    return SINK if state < 0 else row[state]


Noticed = tuple[tuple[Monitor, str, int], ...]
"""Which monitors look at a step: each with the value that it is about, and the letter."""


def monitors(program: Program) -> tuple[Monitor, ...]:
    """The rules of a program, nothing read yet."""
    rules = program.get("rules")
    if not rules:
        return ()
    paths = {name for tool in program["tools"].values() for name in paths_of(tool)}
    return tuple(Monitor(rule, rule["same"] in paths) for rule in rules)


def paths_of(tool: ToolRow) -> list[str]:
    """The parameters of a tool that take paths."""
    return [
        parameter["name"]
        for parameter in tool.get("parameters", ())
        if parameter.get("kind") in ("path", "glob")
    ]


def noticed(
    rules: tuple[Monitor, ...],
    tool: ToolRow,
    effect: Perform,
    action: str | None,
    cycles: tuple[str, ...] = (),
) -> Noticed:
    """How the monitors read a step below the automata in `cycles`; a rule that names other automata does not read it."""
    paths = paths_of(tool)
    out = []
    for monitor in rules:
        if monitor.automata and not monitor.automata.issuperset(cycles):
            continue
        reading = monitor.read(effect, action, paths)
        if reading is not None:
            out.append((monitor, *reading))
    return tuple(out)


def must_wait(seen: Noticed, under_way: Iterable[Noticed]) -> bool:
    """True where a rule can tell whether a step comes before or after one that is under way."""
    return any(
        monitor is other and value == theirs and monitor.apart(letter, before)
        for noticed_before in under_way
        for other, theirs, before in noticed_before
        for monitor, value, letter in seen
    )


def refused(seen: Noticed, moved: dict[tuple[int, str], int], effect: Perform) -> Stop | None:
    """Why a step may not begin; None if it may, and then `moved` has the states after it (it also starts from these)."""
    after = []
    for monitor, value, letter in seen:
        key = (id(monitor), value)
        target = monitor.after(value, letter, moved.get(key))
        if target < 0:
            message = f"`{effect.tool}` breaks the rule {monitor.name}{_about(monitor, value)}: {monitor.description}"
            return Stop("rule", message, effect.address, effect.path, effect.line)
        after.append((key, target))
    moved.update(after)
    return None


def begin(seen: Noticed) -> Monitor | None:
    """A step begins: the monitors change state. Returns the first monitor that does not allow it, or None."""
    for monitor, value, letter in seen:
        target = monitor.after(value, letter)
        if target < 0:
            return monitor
        monitor.at[value] = target
    return None


def unmet(rules: tuple[Monitor, ...], path: str, line: int) -> Stop | None:
    """Why a run that has done all of its plan may not end; None where every rule is kept."""
    for monitor in rules:
        owed = monitor.unmet()
        if owed is not None:
            value, state = owed
            message = (
                f"the run breaks the rule {monitor.name}{_about(monitor, value)}: {monitor.description}"
                f" (at its end, {monitor.states[state]})"
            )
            return Stop("rule", message, "main", path, line)
    return None


def _about(monitor: Monitor, value: str) -> str:
    return "" if monitor.same is None else f" for the {monitor.same} `{value}`"
