"""The part of the checker that says what is known of paths at one place. Like `control.py` it imports nothing of fdc."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .places import Key, apart, atoms, below, certainly, key_of, opaque

Reason = tuple[Any, ...]
Side = frozenset[Reason]
State = tuple[Side, Side]
"""Why a path may be absent, and why it may be there: each reason is enough for it. No reason: it is not so on any run.

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

Did = frozenset[tuple[str, Any]]
"""What is done to paths: an access with a key, or `command` with its place."""


class Here:
    """What holds at one place: what names stand for, and what is known of paths. Of other paths nothing is known."""

    def __init__(self, names: dict[str, Key], files: dict[Key, State]) -> None:
        self.names, self.files = names, files

    def copy(self) -> Here:
        return Here(dict(self.names), dict(self.files))

    def become(self, other: Here) -> None:
        self.names, self.files = other.names, other.files

    def forget(self, prefix: str) -> None:
        """Without the paths of values that are made in the loop at a place."""
        local = [key for key in self.files if any(below(atom, prefix) for atom in atoms(key))]
        for key in local:
            del self.files[key]


def joined(states: list[Here], where: str) -> Here:
    """Any of some states. A name that they have for different values stands for one that is made here."""
    first, *rest = states
    names = {name: key if all(one.names.get(name) == key for one in states) else ((f"{where}${name}", "", ""),)
             for one in states for name, key in one.names.items()}  # fmt: skip
    return Here(names, {key: either(one.files[key] for one in states) for key in first.files
                        if all(key in one.files for one in rest)})  # fmt: skip


def within(here: Here, claim: Here) -> bool:
    """Whether what is known of paths is as is claimed."""
    states = ((here.files.get(key, ANYHOW), claim.files[key]) for key in claim.files)
    return all(state[0] <= known[0] and state[1] <= known[1] for state, known in states)


# ---- states --------------------------------------------------------------------------------------------


def meets(cause: Key, key: Key) -> Reason | None:
    """Why a step that names one path may mean the other; None: it does not."""
    if apart(cause, key):
        return None
    return CHANCE if opaque(cause) or opaque(key) else ALWAYS if certainly(cause, key) else OPEN


def state_of(value: Any) -> State:
    """A state as it is written: the reasons for its absence, and those for its presence."""
    gone, there = (frozenset(tuple(reason) for reason in side) for side in value)
    return gone, there


def more(side: Side, reason: Reason) -> Side:
    """What is not known at all is assumed where it is used: further reasons do not matter."""
    return side if UNKNOWN in side else side | {reason}


def either(states: Iterable[State]) -> State:
    """Any of some states."""
    gone, there = zip(*states, strict=True)
    return frozenset().union(*gone), frozenset().union(*there)


def commanded(state: State, where: Any) -> State:
    """What is so after the command at a place. Where the path is gone then, the command did not make it; if the path was there
    before, the command did not leave it alone either: each of the two is said where a proof says it."""
    (gone, there), made, kept = state, ("made", *where), ("kept", *where)
    left = frozenset(made if reason == ALWAYS else reason for reason in gone)
    if there:
        left = more(left, kept if ALWAYS in there else OPEN if OPEN in there else made)
    return left, (more(there, kept) if gone else there)


def touched(state: State, access: str, reason: Reason) -> State:
    """What is so after a step that may have meant this path."""
    gone, there = state
    if access == "delete":
        return (more(gone, reason) if there else gone), there
    return gone, (more(there, reason) if gone else there)


# ---- claims --------------------------------------------------------------------------------------------


def by_line(program: Any) -> dict[Any, set[int]]:
    """The numbers of the assumptions that are about a line."""
    found: dict[Any, set[int]] = {}
    for number, one in enumerate(program.get("assumptions", ())):
        for path, line in one["uses"]:
            found.setdefault((path, line), set()).add(number)
    return found


def dids(rows: Any) -> Did:
    """What is done to paths, as it is written."""
    return frozenset(
        (access, tuple(what) if access == "command" else key_of(what)) for access, what in rows
    )


def claimed(before: Here, rows: Any) -> Here:
    """What is claimed: of paths that are not said, what was before; a path alone: nothing is known of it."""
    here = before.copy()
    for key, *state in rows:
        here.files.pop(key_of(key), None)
        if state:
            here.files[key_of(key)] = state_of(state)
    return here


def bound(body: Any) -> set[str]:
    """The names that a body binds, but those of its loops."""
    found = {node["bind"] for node in body if node.get("bind")}
    for node in body:
        for side in ("then", "else", *(["body"] if node["op"] != "fork" else [])):
            found |= bound(node.get(side, ()))
    return found
