"""The rules of protocols at work in a run (issue 3, *Rules that bite*): each an automaton that reads the steps.

What the linter proved, or could not prove, is watched here with the values of this run: a step after which
nothing can repair a rule is refused before it begins, and a run that ends and still owes something stops as that.

Steps of a fork count in the order in which they begin. Two steps between which a rule can tell the order are
never under way at once: so the order in which they come back, which the journal has, is that order too.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..program.model import Program
from ..text import glob_match
from .events import Perform, Stop
from .values import text

SINK = -1


class Monitor:
    """One rule of a program, and the states that the steps so far have led to: one, or one for each value."""

    __slots__ = (
        "name", "description", "events", "same", "is_path", "automata", "states", "accept", "table", "at", "_about", "_apart",
    )  # fmt: skip

    def __init__(self, rule: dict[str, Any], is_path: bool) -> None:
        self.name = f"`{rule['rule']}` of `{rule['protocol']}`"
        self.description: str = rule["description"]
        self.events: list[list[dict[str, Any]]] = rule["events"]
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
        """(the value that it is about, its letter) of a step; None where the rule does not look at it.

        `paths`: the parameters of its tool that take paths.
        """
        value = ""
        if self.same is not None:
            given = effect.args.get(self.same)
            if self.same not in effect.args:
                return None
            value = glob_match.plain(text(given)) if self.is_path else text(given)
        kind = (effect.tool, action)
        if kind not in self._about:
            self._about[kind] = self._meant(*kind)
        letter = 0
        for number, group in enumerate(self._about[kind] or ()):
            if any(self._fits(effect, globs, value, paths) for globs in group):
                letter |= 1 << number
        return value, letter

    def _meant(self, tool: str, action: str | None) -> list[list[dict[str, str]]] | None:
        """For each letter the globs under which a step of this kind is its event; None where it is of none."""
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
            given = value if name == self.same else text(effect.args[name])
            if name != self.same and name in paths:
                given = glob_match.plain(given)
            if not glob_match.matches(given, glob):
                return False
        return True

    def apart(self, first: int, second: int) -> bool:
        """True where the automaton can tell in which order two letters came."""
        key = (first, second)
        found = self._apart.get(key)
        if found is None:
            one, two = self.table[first], self.table[second]
            here = range(len(self.states))
            found = any(
                _after(two, _after(one, state)) != _after(one, _after(two, state)) for state in here
            )
            self._apart[key] = found
        return found

    def after(self, value: str, letter: int, now: int | None = None) -> int:
        """The state after a step, from the one that it is in or from `now`."""
        return _after(self.table[letter], self.at.get(value, 0) if now is None else now)

    def unmet(self) -> tuple[str, int] | None:
        """(value, state) of the first thing, by its name, that is still owed; None where the run may end."""
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


def paths_of(tool: dict[str, Any]) -> list[str]:
    """The parameters of a tool that take paths."""
    return [
        one["name"] for one in tool.get("parameters", ()) if one.get("kind") in ("path", "glob")
    ]


def noticed(
    rules: tuple[Monitor, ...],
    tool: dict[str, Any],
    effect: Perform,
    action: str | None,
    cycles: tuple[str, ...] = (),
) -> Noticed:
    """What the monitors make of a step, below the automata in `cycles`; one that names others does not look."""
    paths = paths_of(tool)
    out = []
    for monitor in rules:
        if monitor.automata and not monitor.automata.issuperset(cycles):
            continue
        found = monitor.read(effect, action, paths)
        if found is not None:
            out.append((monitor, *found))
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
    """Why a step may not begin; otherwise None, and `moved` knows where it leads (it starts from there)."""
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
    """A step begins: the monitors move. The first that does not allow it, if one does not."""
    for monitor, value, letter in seen:
        target = monitor.after(value, letter)
        if target < 0:
            return monitor
        monitor.at[value] = target
    return None


def unmet(rules: tuple[Monitor, ...], path: str, line: int) -> Stop | None:
    """Why a run that has done all of its plan may not end; None where nothing is owed."""
    for monitor in rules:
        found = monitor.unmet()
        if found is not None:
            value, state = found
            message = (
                f"the run breaks the rule {monitor.name}{_about(monitor, value)}: {monitor.description}"
                f" (at its end, {monitor.states[state]})"
            )
            return Stop("rule", message, "main", path, line)
    return None


def _about(monitor: Monitor, value: str) -> str:
    return "" if monitor.same is None else f" for the {monitor.same} `{value}`"
