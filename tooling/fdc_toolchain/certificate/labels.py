"""The part of the checker that says what labels are, and how they are written. Like `control.py` it imports nothing of fdc.

A label is a set of facts (level, power): text of that level is in it, which may not choose this. No fact: the author's own text.
Sets of facts are numbers, a bit for a fact.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from .file_sets import Files

MAY = {"workspace": ("argument", "path", "url", "anything", "message", "change", "choice", "code",
                     "plan"),
       "model": ("message", "change", "choice", "code", "plan"), "untrusted": ()}  # fmt: skip
POWERS = {
    "command": "a command", "argument": "an argument of a command", "path": "a path", "url": "an address",
    "anything": "what the tool does", "message": "a message", "change": "what is changed", "choice": "whether this is done",
    "code": "what a command executes", "plan": "a plan that is run",
}  # fmt: skip
"""What text may choose, in words."""
CLEARS = {"command": ("command", "argument", "code", "plan"), "message": ("message", "change")}
BITS = {
    (level, power): 1 << len(POWERS) * row + at
    for row, level in enumerate(MAY)
    for at, power in enumerate(POWERS)
}
LEVEL = {
    level: sum(BITS[level, power] for power in POWERS if power not in MAY[level]) for level in MAY
} | {"trusted": 0}
POWER = {power: sum(BITS[level, power] for level in MAY) for power in POWERS}
KEPT = {"texts": LEVEL["model"] | LEVEL["untrusted"], "there": LEVEL["untrusted"]}
"""What is remembered of files: a model may choose which of them there are, and text of the workspace is not news in them."""


class Name(NamedTuple):
    """A bound name: its label, and its fields that are declared numbers or truth values. `own`: the fields of it, or of its
    items, that are declared to be made by the service behind a tool (`[]`: which items there are); `inner`: their label."""

    label: int
    bare: frozenset[str] = frozenset()
    own: frozenset[str] = frozenset()
    inner: int = 0

    def joined(self, other: Name) -> Name:
        """The one or the other."""
        return Name(self.label | other.label, self.bare & other.bare, self.own & other.own, self.inner | other.inner)  # fmt: skip

    def under(self, choices: int) -> Name:
        """The same where these choices led to it."""
        return Name(self.label | choices, self.bare, self.own, self.inner | choices)

    def claimed(self, claim: Name) -> bool:
        """Whether a claim says all of it."""
        less = self.label & ~claim.label or claim.own and self.inner & ~claim.inner
        return not less and self.bare >= claim.bare and self.own >= claim.own


class State:
    """What holds at one place: names, what is in files, what chose that files are there, the conditions since the plan began."""

    def __init__(
        self, names: dict[str, Name], texts: dict[Files, int], there: dict[Files, int], inner: int
    ) -> None:
        self.names, self.texts, self.there, self.inner = names, texts, there, inner

    def copy(self) -> State:
        return State(dict(self.names), dict(self.texts), dict(self.there), self.inner)

    def add(self, other: State) -> None:
        """Joins another state into this one."""
        for name, value in other.names.items():
            mine = self.names.setdefault(name, value)
            if mine is not value:
                self.names[name] = mine.joined(value)
        for kind in KEPT:
            for files, label in getattr(other, kind).items():
                getattr(self, kind)[files] = getattr(self, kind).get(files, 0) | label
        self.inner |= other.inner


def stored(program: Any) -> dict[Files, int]:
    """The files with text from outside that earlier runs left, but those of the runs' own folders."""
    return {
        (path,): LEVEL["untrusted"]
        for path in program.get("stored", ())
        if not path.startswith("runs/")
    }


def within(one: dict[Any, int], other: dict[Any, int]) -> bool:
    """Whether the labels of one are claimed by the other."""
    return all(not label & ~other.get(key, 0) for key, label in one.items())


def covers(claim: State, state: State) -> bool:
    """Whether a state is claimed."""
    return (
        all(
            name in claim.names and one.claimed(claim.names[name])
            for name, one in state.names.items()
        )
        and all(within(getattr(state, kind), getattr(claim, kind)) for kind in KEPT)
        and not state.inner & ~claim.inner
    )


def label_of(facts: Any) -> int:
    """A label as it is written: `["workspace", "untrusted path url"]`; a level alone has all that it may not choose."""
    found = 0
    for level, *powers in (fact.split(" ") for fact in facts):
        found |= sum(BITS[level, power] for power in set(powers)) if powers else LEVEL[level]
    return found


def name_of(facts: Any, bare: Any, own: Any = (), inner: Any = ()) -> Name:
    """A name as it is written; the last two parts are left out where it has no fields of a service."""
    return Name(label_of(facts), frozenset(bare), frozenset(own), label_of(inner))


def labels_of(rows: Any) -> dict[Any, int]:
    """Labels by files, as they are written."""
    return {tuple(files): label_of(facts) for files, facts in rows}


def said(label: int) -> str:
    """The levels of a label, in words."""
    words = {
        "workspace": "text of the workspace",
        "model": "text of a model",
        "untrusted": "text from outside",
    }
    return " and ".join(
        words[level] for level in MAY if label & sum(BITS[level, power] for power in POWERS)
    )


def written(label: int) -> list[str]:
    """A label as `label_of` reads it."""
    found = []
    for level in MAY:
        powers = [power for power in POWERS if label & BITS[level, power]]
        if powers:
            found.append(
                level if label & LEVEL[level] == LEVEL[level] else " ".join((level, *powers))
            )
    return found


def cleared(label: int, sinks: Any) -> int:
    """What is left of a label after a check, or a person's answer, that clears text for some sinks."""
    powers = {power for sink in sinks for power in CLEARS.get(sink, (sink,))}
    powers |= {"anything"} if powers >= {"command", "path", "url", "message"} else set()
    return label & ~sum(POWER[power] for power in powers)


def sum_of(labels: Any) -> int:
    """The join of some labels."""
    found = 0
    for label in labels:
        found |= label
    return found


def paths(value: Any) -> Iterator[Any]:
    """The references in templates and conditions."""
    if isinstance(value, dict) and "const" not in value:
        if "ref" in value:
            yield value["ref"]
        value = [one for key, one in value.items() if key != "ref"]
    for one in value if isinstance(value, list) else ():
        yield from paths(one)


def asked(cond: Any) -> Iterator[str]:
    """The predicates that a condition asks."""
    inner = (
        cond.values()
        if isinstance(cond, dict) and "const" not in cond
        else cond
        if isinstance(cond, list)
        else ()
    )
    if isinstance(cond, dict) and "call" in cond:
        yield cond["call"]
    for one in inner:
        yield from asked(one)
