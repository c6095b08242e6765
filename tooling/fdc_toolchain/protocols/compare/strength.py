"""Compares the strength of two checks of a rule, by a proof on the automata of their templates (issue 3)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from ...automata.declare import SINK, Template, at_every_prefix, compiled, from_first_step

MOST_EVENTS = 10
"""Maximum different events of two checks for which every combination is tried."""

Check = Mapping[str, object]


def compare(old: Check | None, new: Check | None) -> str:
    """How the strength of a rule changes when its check `old` is replaced by `new` (None: no check; the rule is advice).

    `strengthened`: every run that the new check accepts, the old one accepted, and not the other way round.
    `weakened`: the other way round. `equivalent`: both. `changed`: neither, or it could not be told, as where two
    globs would have to be compared. Where the plans that are meant, the severity or the codes differ, more of
    them is stronger.
    """
    if old is None or new is None:
        return "equivalent" if old is new else "weakened" if new is None else "strengthened"
    if ("code" in old) != ("code" in new):
        return "changed"
    if "code" in old:
        return _verdict([_subset({*_listed(old["code"])}, {*_listed(new["code"])})])
    places = [_places(old, new, key) for key in ("automata", "plans")]
    severity = [check.get("severity", "error") == "error" for check in (old, new)]
    return _verdict(
        [_runs(old, new), *places, (severity[0] <= severity[1], severity[1] <= severity[0])]
    )


Order = tuple[bool, bool]
"""Whether the new check is at least as strong as the old one, and whether the old is as strong as the new."""


def _verdict(orders: list[Order]) -> str:
    stronger, weaker = all(order[0] for order in orders), all(order[1] for order in orders)
    if stronger:
        return "equivalent" if weaker else "strengthened"
    return "weakened" if weaker else "changed"


def _subset(old: set[str], new: set[str]) -> Order:
    return old <= new, new <= old


def _places(old: Check, new: Check, key: str) -> Order:
    """Compares the plans or automata that each check is for; an empty list means all."""
    places = (check.get("where") for check in (old, new))
    sides = [set(where.get(key, ())) if isinstance(where, dict) else set() for where in places]
    if not all(sides):
        return not sides[1], not sides[0]
    return _subset(*sides)


def _runs(old: Check, new: Check) -> Order:
    """Compares the runs that each check accepts."""
    atoms = sorted(
        {event for check in (old, new) for name in "abc" for event in _events(check, name)}
    )
    if old.get("same") != new.get("same") or len(atoms) > MOST_EVENTS:
        return False, False
    letters = [
        frozenset(atom for at, atom in enumerate(atoms) if word >> at & 1)
        for word in range(1 << len(atoms))
    ]
    sides = [(_machine(check), _reader(check)) for check in (old, new)]
    pairs = {(*(read(letter) for _, read in sides),) for letter in letters}
    first, second = (machine for machine, _ in sides)
    return _included(second, first, {(b, a) for a, b in pairs}), _included(first, second, pairs)


def _machine(check: Check) -> Template:
    machine = compiled(check["template"], check.get("n", 1))
    machine = from_first_step(machine) if "same" in check else machine
    return at_every_prefix(machine) if check.get("on_abort") == "check" else machine


def _reader(check: Check) -> Callable[[frozenset[str]], int]:
    """A function from the events that a step is to the letter that the check's automaton reads."""
    events = [frozenset(_events(check, name)) for name in "abc"]
    letters = _machine(check).letters
    return lambda step: sum(1 << at for at in range(3) if step & events[at]) & letters


def _included(first: Template, second: Template, letters: set[tuple[int, ...]]) -> bool:
    """Whether `second` accepts all runs that `first` accepts, if each step is read as one of these pairs of letters."""
    seen = {(0, 0)}
    todo = [(0, 0)]
    while todo:
        left_state, right_state = todo.pop()
        if first.accept >> left_state & 1 and (
            right_state == SINK or not second.accept >> right_state & 1
        ):
            return False
        for a, b in letters:
            left = first.table[a][left_state]
            if left == SINK:
                continue
            pair = (left, SINK if right_state == SINK else second.table[b][right_state])
            if pair not in seen:
                seen.add(pair)
                todo.append(pair)
    return True


def _events(check: Check, name: str) -> list[str]:
    return [json.dumps(event, sort_keys=True) for event in _listed(check.get(name, []))]


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
