"""The part of the checker that defines labels, and how they are written. Like `control.py` it imports nothing of fdc.

A label is a set of facts (level, power): it has text of that level, which may not choose this. No fact: the author's own text.
Sets of facts are numbers, a bit for a fact.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from .file_sets import Files

if TYPE_CHECKING:
    from .forms import FileFacts, Kind, Program

Key = TypeVar("Key", str, Files)

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
KEPT: dict[Kind, int] = {"texts": LEVEL["model"] | LEVEL["untrusted"], "there": LEVEL["untrusted"]}
"""The levels that are tracked of files: a model may choose which exist, and text of the workspace is expected in them."""


class Name(NamedTuple):
    """A bound name: its label, and its fields that are declared numbers or truth values. `own`: the fields of it, or of its
    items, that are declared to be made by the service behind a tool (`[]`: which items there are); `inner`: their label."""

    label: int
    bare: frozenset[str] = frozenset()
    own: frozenset[str] = frozenset()
    inner: int = 0

    def joined(self, other: Name) -> Name:
        """The join of two names."""
        return Name(self.label | other.label, self.bare & other.bare, self.own & other.own, self.inner | other.inner)  # fmt: skip

    def under(self, choices: int) -> Name:
        """The same name, with the label of the choices that led to it."""
        return Name(self.label | choices, self.bare, self.own, self.inner | choices)

    def claimed(self, claim: Name) -> bool:
        """Whether a claim covers this name."""
        less = self.label & ~claim.label or claim.own and self.inner & ~claim.inner
        return not less and self.bare >= claim.bare and self.own >= claim.own


class State:
    """What holds at one point: labels of names, of texts in files, of which files exist, and of the conditions so far."""

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


def stored(program: Program, kind: Kind) -> dict[Files, int]:
    """The files of earlier runs that hold text from outside, or (`there`) that such text made or deleted."""
    of = program.get("stored", ()) if kind == "texts" else program.get("chosen", ())
    return {(path,): LEVEL["untrusted"] for path in of}


def within(labels: Mapping[Key, int], claims: Mapping[Key, int]) -> bool:
    """Whether all labels are covered by the claims."""
    return all(not label & ~claims.get(key, 0) for key, label in labels.items())


def covers(claim: State, state: State) -> bool:
    """Whether a claim covers a state."""
    return (
        all(
            name in claim.names and value.claimed(claim.names[name])
            for name, value in state.names.items()
        )
        and all(within(getattr(state, kind), getattr(claim, kind)) for kind in KEPT)
        and not state.inner & ~claim.inner
    )


def label_of(facts: Iterable[str]) -> int:
    """A label as it is written: `["workspace", "untrusted path url"]`; a level alone has all that it may not choose."""
    bits = 0
    for level, *powers in (fact.split(" ") for fact in facts):
        bits |= sum(BITS[level, power] for power in set(powers)) if powers else LEVEL[level]
    return bits


def name_of(
    facts: Iterable[str], bare: Iterable[str], own: Iterable[str] = (), inner: Iterable[str] = ()
) -> Name:
    """A name as it is written; the last two parts are left out where it has no fields of a service."""
    return Name(label_of(facts), frozenset(bare), frozenset(own), label_of(inner))


def labels_of(rows: FileFacts) -> dict[Files, int]:
    """Labels by files, as they are written."""
    return {tuple(files): label_of(facts) for files, facts in rows}


def described(label: int) -> str:
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
    facts = []
    for level in MAY:
        powers = [power for power in POWERS if label & BITS[level, power]]
        if powers:
            facts.append(
                level if label & LEVEL[level] == LEVEL[level] else " ".join((level, *powers))
            )
    return facts


def cleared(label: int, sinks: Iterable[str]) -> int:
    """The label after a check, or a person's answer, that clears text for some sinks."""
    powers = {power for sink in sinks for power in CLEARS.get(sink, (sink,))}
    powers |= {"anything"} if powers >= {"command", "path", "url", "message"} else set()
    return label & ~sum(POWER[power] for power in powers)


def deciding(label: int) -> int:
    """The label of what is decided by a text that chose a path: as if nothing but a check of the choice had cleared it."""
    return label | LEVEL["untrusted"] if label & BITS["untrusted", "choice"] else label


def sum_of(labels: Iterable[int]) -> int:
    """The join of some labels."""
    union = 0
    for label in labels:
        union |= label
    return union


def paths(value: object) -> Iterator[list[str]]:
    """The references in templates and conditions."""
    if isinstance(value, dict) and "const" not in value:
        if "ref" in value:
            yield value["ref"]
        value = [part for key, part in value.items() if key != "ref"]
    for part in value if isinstance(value, list) else ():
        yield from paths(part)


def predicates_in(cond: object) -> Iterator[str]:
    """The predicates that a condition calls."""
    inner = (
        cond.values()
        if isinstance(cond, dict) and "const" not in cond
        else cond
        if isinstance(cond, list)
        else ()
    )
    if isinstance(cond, dict) and "call" in cond:
        yield cond["call"]
    for part in inner:
        yield from predicates_in(part)
