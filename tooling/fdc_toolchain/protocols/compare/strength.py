"""Which of two checks of a rule asks more: proved on the automata of their templates, never guessed (issue 3)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from ...automata.declare import SINK, Template, at_every_prefix, compiled, from_first_step

MOST_EVENTS = 10
"""Different events of two checks of which every combination is tried."""

Check = Mapping[str, Any]


def compare(old: Check | None, new: Check | None) -> str:
    """What becomes of a rule whose check `old` gives way to `new` (None: it has none, and is advice).

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
        return _said([_subset({*_listed(old["code"])}, {*_listed(new["code"])})])
    places = [_meant(old, new, key) for key in ("automata", "plans")]
    severity = [check.get("severity", "error") == "error" for check in (old, new)]
    return _said(
        [_runs(old, new), *places, (severity[0] <= severity[1], severity[1] <= severity[0])]
    )


Order = tuple[bool, bool]
"""Whether the new is at least as strong as the old, and the old as the new."""


def _said(orders: list[Order]) -> str:
    stronger, weaker = all(order[0] for order in orders), all(order[1] for order in orders)
    if stronger:
        return "equivalent" if weaker else "strengthened"
    return "weakened" if weaker else "changed"


def _subset(old: set[str], new: set[str]) -> Order:
    return old <= new, new <= old


def _meant(old: Check, new: Check, key: str) -> Order:
    """By the plans or automata that each is for; an empty list means all."""
    sides = [set(check.get("where", {}).get(key, ())) for check in (old, new)]
    if not all(sides):
        return not sides[1], not sides[0]
    return _subset(*sides)


def _runs(old: Check, new: Check) -> Order:
    """By the runs that each accepts."""
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
    made = compiled(check["template"], check.get("n", 1))
    made = from_first_step(made) if "same" in check else made
    return at_every_prefix(made) if check.get("on_abort") == "check" else made


def _reader(check: Check) -> Callable[[frozenset[str]], int]:
    """What a step that is these events is to the check's automaton."""
    events = [frozenset(_events(check, name)) for name in "abc"]
    letters = _machine(check).letters
    return lambda step: sum(1 << at for at in range(3) if step & events[at]) & letters


def _included(first: Template, second: Template, letters: set[tuple[int, ...]]) -> bool:
    """Whether `second` accepts all that `first` accepts, where they read a step as one of these pairs."""
    seen = {(0, 0)}
    todo = [(0, 0)]
    while todo:
        one, other = todo.pop()
        if first.accept >> one & 1 and (other == SINK or not second.accept >> other & 1):
            return False
        for a, b in letters:
            left = first.table[a][one]
            if left == SINK:
                continue
            pair = (left, SINK if other == SINK else second.table[b][other])
            if pair not in seen:
                seen.add(pair)
                todo.append(pair)
    return True


def _events(check: Check, name: str) -> list[str]:
    return [json.dumps(event, sort_keys=True) for event in _listed(check.get(name, []))]


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
