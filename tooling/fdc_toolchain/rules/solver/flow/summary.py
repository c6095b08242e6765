"""What the flow analysis knows of a plan, for those that call it."""

from __future__ import annotations

from ....named_tuples import NamedTuple
from .file_taint import Pattern
from .labels import TRUSTED
from .need import Need

Store = tuple[str, int, str]
"""A step that writes text from outside into files: its plan and line, and `text`, or `choice` where such text chooses whether."""


class Summary(NamedTuple):
    """A plan in terms of what it is given: its result, what chooses there, what it does to files, why it may fail.

    `writes`: what it puts into files. `there`: what chooses whether files are there. `sees`: what it leaves where
    commands see it. `fails`: what the reason of a failure is made of; `stops`: what decides whether it fails.
    `files`: the files that callers may have put something into which matters. `stores`: by what is given, the steps that
    write it into files.
    """

    result: int
    needs: dict[tuple[str, str], Need]
    writes: dict[Pattern, int]
    there: dict[Pattern, int]
    sees: int
    fails: int
    stops: int
    files: tuple[tuple[str, Pattern], ...]
    stores: dict[str, frozenset[Store]]


ITEMS = "[]"
"""Stands among fields for the number and the order of a list's items."""

NOTHING = Summary(TRUSTED, {}, {}, {}, TRUSTED, TRUSTED, TRUSTED, (), {})
"""A plan that does nothing; one that is not known yet."""


def same(before: Summary | None, after: Summary) -> bool:
    """True where a summary says nothing new."""
    return (
        before is not None
        and before.needs.keys() == after.needs.keys()
        and before._replace(needs={}) == after._replace(needs={})
    )


class Name(NamedTuple):
    """What a plan has bound: the label of the value, and the kinds of its fields where they are known.

    `own`: the fields of it, or of its items, that the service behind its tool makes itself (a catalogue's `own`; `ITEMS`: how
    many items there are, and in which order); `inner` is the label of these.
    """

    label: int
    fields: dict[str, str] | None
    own: frozenset[str] = frozenset()
    inner: int = TRUSTED


def merged(one: Name | None, other: Name | None) -> Name:
    """A name that is the one or the other; None: it is not bound there."""
    if one is None or other is None or one is other:
        found = one or other
        assert found is not None
        return found
    fields = one.fields if one.fields == other.fields else None
    return Name(one.label | other.label, fields, one.own & other.own, one.inner | other.inner)
