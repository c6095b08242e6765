"""What a walk through a program finds: steps, gates, questions and looks, each with where it stands."""

from __future__ import annotations

import hashlib
import json
from collections import Counter

from ...named_tuples import NamedTuple
from .files import NO_FILE, Paths

Origin = str
Env = dict[str, Origin]
Loops = tuple[tuple[int, str], ...]
"""Loops from the outermost one, each with its number in the text and its gate, which another loop over the same has, too."""


class Done(NamedTuple):
    """A step where it stands: `what` with the texts that choose something, `given` with everything. `gates`: what must
    have held before. `found`: what it chooses depends on what a run finds out. `stores`: what
    it is given may be found by a later step. `place`: how many steps that store stand before it; `until`: before the end of the
    loops around it, too; `names`: it names a file itself, which opens one that is protected;
    `reads`: the files that it follows when it acts; `changes`: those that it may make, change or take away;
    `loops`: those around it; `often`: how many times they do it at most, where one that came before over the same stops the
    run at its own bound."""

    tool: str
    what: str
    given: str
    gates: frozenset[str]
    found: bool
    shown: str
    acts: bool
    stores: bool
    place: int
    until: int
    names: bool = False
    reads: Paths = NO_FILE
    changes: Paths = NO_FILE
    loops: Loops = ()
    often: float = 1


class Seen(NamedTuple):
    """What is asked or looked at, behind which gates. `place` and `until` are those of a step; `said`: how often the user was
    told something before; `heard`: before the end of the loops around it, too; `asks`: a person answers; `reads`: the files that
    it looks at; `loops`: those around it."""

    gates: frozenset[str]
    place: int
    until: int
    said: int
    heard: int
    asks: bool
    shown: str
    reads: Paths = NO_FILE
    loops: Loops = ()


class Walked(NamedTuple):
    """A whole program: its steps, its gates (how often each is asked: in an `iterate`, as often as that surely goes round), the
    globs of its loops; `acted`: the steps that store, in the order of the text; `said`: those that tell the user; `seen`: what
    is asked or looked at; `branches`: the gates that are ways of an `if` or a loop; `opposite`: the other way of an `if`;
    `turns`: how often an `iterate` goes round, by what it carries; `limits`: with how many items a loop goes on at most, by what
    it goes over; `lenient`: the ways in which something goes on beside what was stopped, each with what its fork goes over."""

    steps: list[Done]
    gates: dict[str, int]
    shown: dict[str, str]
    globs: set[str]
    acted: list[Done]
    said: list[Done]
    seen: dict[str, Seen]
    branches: set[str]
    opposite: dict[str, str]
    turns: dict[Origin, int]
    limits: dict[Origin, float]
    lenient: Counter[tuple[str, Origin]]


def told(*parts: object) -> Origin:
    """A short digest of a value's origins."""
    return hashlib.blake2b(json.dumps(parts, sort_keys=True).encode(), digest_size=12).hexdigest()
