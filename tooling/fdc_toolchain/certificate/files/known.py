"""The part of the checker for what is known of paths at one point of a plan. Like `control.py` it imports nothing of fdc."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, cast

from .places import Atom, Key, apart, atoms, below, certainly, key_of, opaque

if TYPE_CHECKING:
    from ..forms import Body, DidForm, KeyForm, PathForm, Place, Program, SideForm

Reason = tuple[str | int, ...]
Side = frozenset[Reason]
State = tuple[Side, Side]
"""Reasons why a path may be absent, and reasons why it may exist; one is enough. No reason: it is not so on any run.

`always`: it may be so; `unknown`: nothing is known of the path; `chance`: another value named this path; `made`, `kept`: unless
the command at a place made it, left it alone; `open`: the checker cannot tell."""

ALWAYS: Reason = ("always",)
UNKNOWN: Reason = ("unknown",)
CHANCE: Reason = ("chance",)
OPEN: Reason = ("open",)
NONE: Side = frozenset()
IS_THERE: State = NONE, frozenset({ALWAYS})
IS_GONE: State = frozenset({ALWAYS}), NONE
ANYHOW: State = frozenset({UNKNOWN}), frozenset({UNKNOWN})

Target = tuple[str | int | Atom, ...]
"""A path (`Key`), or the place of a command."""

Did = frozenset[tuple[str, Target]]
"""What is done to paths: an access with a key, or `command` with its place."""


class Point:
    """What holds at one point of a plan: the keys that names stand for, and the states of paths; other paths are unknown."""

    def __init__(self, names: dict[str, Key], files: dict[Key, State]) -> None:
        self.names, self.files = names, files

    def copy(self) -> Point:
        return Point(dict(self.names), dict(self.files))

    def become(self, other: Point) -> None:
        self.names, self.files = other.names, other.files

    def forget(self, prefix: str) -> None:
        """Drops the paths of values that are made in the loop at a place."""
        local = [key for key in self.files if any(below(atom, prefix) for atom in atoms(key))]
        for key in local:
            del self.files[key]


def joined(states: list[Point], where: str) -> Point:
    """The join of some points. A name that has different values in them stands for a new value."""
    first, *rest = states
    names = dict(first.names)
    if any(point.names != names for point in rest):
        for name in {name for point in states for name in point.names}:
            if any(point.names.get(name) != names.get(name) for point in rest):
                names[name] = ((f"{where}${name}", "", ""),)
    return Point(names, {key: either(point.files[key] for point in states) for key in first.files
                        if all(key in point.files for point in rest)})  # fmt: skip


def within(point: Point, claim: Point) -> bool:
    """Whether the states of paths are covered by a claim."""
    states = ((point.files.get(key, ANYHOW), claim.files[key]) for key in claim.files)
    return all(state[0] <= known[0] and state[1] <= known[1] for state, known in states)


# ---- states --------------------------------------------------------------------------------------------


def meets(cause: Key, key: Key) -> Reason | None:
    """Why a step that names one path may mean the other; None: it does not."""
    if apart(cause, key):
        return None
    return CHANCE if opaque(cause) or opaque(key) else ALWAYS if certainly(cause, key) else OPEN


def state_of(absent: SideForm, present: SideForm) -> State:
    """Reads a state from a certificate: the reasons for absence, and those for presence."""
    return frozenset(map(tuple, absent)), frozenset(map(tuple, present))


def more(side: Side, reason: Reason) -> Side:
    """Adds a reason; none is added to UNKNOWN, which is assumed where the path is used."""
    return side if UNKNOWN in side else side | {reason}


def either(states: Iterable[State]) -> State:
    """The join of some states."""
    absent, present = zip(*states, strict=True)
    return frozenset().union(*absent), frozenset().union(*present)


def commanded(state: State, place: Place) -> State:
    """The state after the command at a place. If the path is absent then, the command did not make it; if it existed before,
    the command did not leave it alone either: each reason names what a proof has to exclude."""
    (absent, present), made, kept = state, ("made", *place), ("kept", *place)
    left = frozenset(made if reason == ALWAYS else reason for reason in absent)
    if present:
        left = more(left, kept if ALWAYS in present else OPEN if OPEN in present else made)
    return left, (more(present, kept) if absent else present)


def touched(state: State, access: str, reason: Reason) -> State:
    """The state after a step that may have named this path."""
    absent, present = state
    if access == "delete":
        return (more(absent, reason) if present else absent), present
    return absent, (more(present, reason) if absent else present)


# ---- claims --------------------------------------------------------------------------------------------


def by_line(program: Program) -> dict[Reason, set[int]]:
    """The numbers of the assumptions that are about a line."""
    numbers: dict[Reason, set[int]] = {}
    for number, assumption in enumerate(program.get("assumptions", ())):
        for path, line in assumption["uses"]:
            numbers.setdefault((path, line), set()).add(number)
    return numbers


def dids(rows: DidForm) -> Did:
    """Reads from a certificate what is done to paths."""
    return frozenset(
        (access, _place(target) if access == "command" else key_of(target))
        for access, target in rows
    )


def _place(target: KeyForm) -> Place:
    path, line = target
    if not isinstance(path, str) or not isinstance(line, int):
        raise TypeError("no place of a command")
    return path, line


def commands(did: Iterable[tuple[str, Target]]) -> set[Place]:
    """The places of the commands in what is done."""
    return {cast("Place", target) for access, target in did if access == "command"}


def accesses(did: Iterable[tuple[str, Target]]) -> set[tuple[str, Key]]:
    """The accesses to paths in what is done."""
    return {(access, cast("Key", target)) for access, target in did if access != "command"}


def claimed(before: Point, rows: Iterable[PathForm]) -> Point:
    """The claimed point: paths that are not listed keep their state; a path without a state is unknown."""
    point = before.copy()
    for row in rows:
        key = key_of(row[0])
        if len(row) == 1:
            point.files.pop(key, None)
        else:
            _, absent, present = row
            point.files[key] = state_of(absent, present)
    return point


def bound(body: Body) -> set[str]:
    """The names that a body binds, but those of its loops."""
    names = {name for node in body if (name := node.get("bind"))}
    for node in body:
        names |= bound(node.get("then", [])) | bound(node.get("else", []))
        names |= bound(node.get("body", [])) if node["op"] != "fork" else set()
    return names
