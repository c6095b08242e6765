"""Labels: where text comes from and what it may choose (security.md 8.1, 8.3).

A label is a set of atoms, each with the place that it stands for. An atom names a level of trust, or stands for
what a plan is given: a parameter, the choices that led to it, what its callers wrote into files. With it goes what
a check or a person has cleared the text for. No atom at all: the text is the author's own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from ..text.span import Span

LEVELS = {"trusted": 0, "workspace": 1, "model": 2, "untrusted": 3}

MOST = {"command": 0, "argument": 1, "path": 1, "url": 1, "message": 2, "choice": 2}
"""The least trusted level that may choose each: a command is the author's, its arguments, paths and addresses may be
the workspace's too, and a model may choose words to send and which steps are done."""

CHOICES = "\0choices"
"""Stands for the choices that led to the plan."""

FILES = "\0files:"
"""Begins what stands for the text that callers put into files."""


class Origin(NamedTuple):
    """A step that brought text: its place and its tool."""

    span: Span
    tool: str


class Atom(NamedTuple):
    """A level, or a name that stands for one (`given`); `cleared`: what the text may choose all the same."""

    source: str
    cleared: frozenset[str]

    @property
    def given(self) -> bool:
        return self.source not in LEVELS


Label = Mapping[Atom, Origin | None]

TRUSTED: Label = {}
_NOTHING: frozenset[str] = frozenset()


def of(level: str, origin: Origin) -> Label:
    """The label of a level."""
    return TRUSTED if level == "trusted" else {Atom(level, _NOTHING): origin}


def stands_for(name: str) -> Label:
    """The label of what a plan is given under a name."""
    return {Atom(name, _NOTHING): None}


def join(labels: Iterable[Label]) -> Label:
    """Text made of several texts."""
    out: dict[Atom, Origin | None] = {}
    for label in labels:
        for atom, origin in label.items():
            out.setdefault(atom, origin)
    return out


def cleared(label: Label, sinks: Iterable[str]) -> Label:
    """The label after a check that clears text for some sinks."""
    more = frozenset(sinks)
    if "command" in more:
        more |= {"argument"}
    return {Atom(atom.source, atom.cleared | more): origin for atom, origin in label.items()} if more else label


def refused(label: Label, sink: str) -> list[tuple[Atom, Origin | None]]:
    """The atoms that may not choose `sink`: levels that are trusted too little, worst first, and all that stand for something."""
    most = MOST[sink]
    found = [
        (atom, origin)
        for atom, origin in label.items()
        if sink not in atom.cleared and (atom.given or LEVELS[atom.source] > most)
    ]
    return sorted(found, key=lambda item: -LEVELS.get(item[0].source, 0))


def filled(label: Label, given: Mapping[str, Label]) -> Label:
    """A callee's label in its caller: what stands for something replaced by the label of that; what is not given is trusted."""
    if not any(atom.given for atom in label):
        return label
    parts: list[Label] = []
    for atom, origin in label.items():
        if not atom.given:
            parts.append({atom: origin})
        else:
            parts.append(cleared(given.get(atom.source, TRUSTED), atom.cleared))
    return join(parts)
