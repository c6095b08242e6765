"""Types of values: what a catalogue, a construct or a literal says of a value before there is one.

    null  boolean  number  text  list  list[TYPE]  object  object{field: TYPE, ...}  value  any  TYPE?

is how they are written (`value`: anything but null; `TYPE?`: that, or null). A type is a set of kinds, with what is
known of a list's items and of an object's fields; text is two kinds, because a text that spells a number is compared as one.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, NamedTuple, Optional

from ..program.operators import as_number, is_number

NULL, BOOLEAN, NUMBER, WORDS, DIGITS, LIST, OBJECT, OPEN = (1 << bit for bit in range(8))
"""`WORDS`: a text that spells no number, `DIGITS`: one that does. `OPEN`: who calls the plan may give something else."""

TEXTS = WORDS | DIGITS
KINDS = OPEN - 1

MOST_DEPTH = 4
"""Levels of lists and fields that are followed; what is below may be anything."""


class Type(NamedTuple):
    """A set of kinds; what the items of a list are, and the fields of an object (None: anything)."""

    kinds: int
    item: Optional[Type] = None  # noqa: UP045 - a type that names itself in quotes
    fields: tuple[tuple[str, Type], ...] | None = None

    def field(self, name: str) -> Type:
        """The type of a field; null, where a value has none."""
        out = NEVER
        if self.kinds & OBJECT:
            out = ANY if self.fields is None else dict(self.fields).get(name, NOTHING)
        if self.kinds & KINDS & ~OBJECT:
            out = joined(out, NOTHING)
        return out._replace(kinds=out.kinds | self.kinds & OPEN)

    def of_item(self) -> Type:
        """The type of the items, where it is a list."""
        out = (ANY if self.item is None else self.item) if self.kinds & LIST else NEVER
        return out._replace(kinds=out.kinds | self.kinds & OPEN)


NEVER = Type(0)
ANY = Type(KINDS)
NOTHING = Type(NULL)
TRUTH = Type(BOOLEAN)
COUNT = Type(NUMBER)
TEXT = Type(TEXTS)
GIVEN = Type(TEXTS | OPEN)
"""What a plan is given: text, where it is started from outside."""

SIMPLE = {
    "null": NOTHING, "boolean": TRUTH, "number": COUNT, "text": TEXT, "list": Type(LIST), "object": Type(OBJECT),
    "value": Type(KINDS & ~NULL), "any": ANY,
}  # fmt: skip


def list_of(item: Type) -> Type:
    """The lists with such items."""
    return Type(LIST, _cut(item, MOST_DEPTH))


def object_of(fields: dict[str, Type]) -> Type:
    """The objects with these fields."""
    return Type(
        OBJECT,
        None,
        tuple(sorted((name, _cut(inner, MOST_DEPTH)) for name, inner in fields.items())),
    )


def of_constant(value: Any) -> Type:
    """The type of a literal."""
    if isinstance(value, str):
        return Type(DIGITS if is_number(as_number(value)) else WORDS)
    return TRUTH if isinstance(value, bool) else COUNT


def joined(one: Type, other: Type) -> Type:
    """The type of what is of the one or of the other."""
    if one == other:
        return one
    return Type(one.kinds | other.kinds, _joined_items(one, other), _joined_fields(one, other))


def _joined_items(one: Type, other: Type) -> Type | None:
    if one.kinds & other.kinds & LIST:
        return None if one.item is None or other.item is None else joined(one.item, other.item)
    return one.item if one.kinds & LIST else other.item


def _joined_fields(one: Type, other: Type) -> tuple[tuple[str, Type], ...] | None:
    if not one.kinds & other.kinds & OBJECT:
        return one.fields if one.kinds & OBJECT else other.fields
    if one.fields is None or other.fields is None:
        return None
    left, right = dict(one.fields), dict(other.fields)
    names = sorted({*left, *right})
    return tuple(
        (name, joined(left.get(name, NOTHING), right.get(name, NOTHING))) for name in names
    )


def _cut(one: Type, levels: int) -> Type:
    if one.item is None and not one.fields:
        return one
    if levels == 0:
        return Type(one.kinds)
    item = None if one.item is None else _cut(one.item, levels - 1)
    fields = (
        None
        if one.fields is None
        else tuple((name, _cut(inner, levels - 1)) for name, inner in one.fields)
    )
    return Type(one.kinds, item, fields)


def shown(one: Type) -> str:
    """A type in words, for messages."""
    if one.kinds & KINDS == KINDS:
        return "anything"
    words = [
        (NULL, "null"), (BOOLEAN, "true or false"), (NUMBER, "a number"), (TEXTS, "text"), (LIST, "a list"),
        (OBJECT, "an object"),
    ]  # fmt: skip
    return " or ".join(word for bits, word in words if one.kinds & bits) or "nothing"


# ---- as catalogues write them ----------------------------------------------------------------

_TOKEN = re.compile(r"\s*(?:([A-Za-z_][A-Za-z0-9_]*)|(.))")


class NoType(ValueError):
    """A text that is not a type; the message is one sentence."""


@lru_cache(maxsize=1 << 10)
def parsed(text: str) -> Type:
    """The type that a text of a catalogue writes. Raises NoType."""
    found = SIMPLE.get(text)
    if found is not None:
        return found
    tokens = [name or mark for name, mark in _TOKEN.findall(text.strip())]
    made, at = _read(tokens, 0, text)
    if at != len(tokens):
        raise NoType(f"`{text}` is not a type")
    return made


def _read(tokens: list[str], at: int, text: str, depth: int = 0) -> tuple[Type, int]:
    found, at = _one(tokens, at, text, depth)
    if at < len(tokens) and tokens[at] == "?":
        return found._replace(kinds=found.kinds | NULL), at + 1
    return found, at


def _one(tokens: list[str], at: int, text: str, depth: int) -> tuple[Type, int]:
    word = tokens[at] if at < len(tokens) else ""
    found = SIMPLE.get(word)
    if found is None or depth > MOST_DEPTH:
        raise NoType(
            f"`{text}` is not a type; expected one of {', '.join(SIMPLE)}, list[TYPE], object{{field: TYPE}}, TYPE?"
        )
    mark = tokens[at + 1] if at + 1 < len(tokens) else ""
    if word == "list" and mark == "[":
        item, at = _read(tokens, at + 2, text, depth + 1)
        if at >= len(tokens) or tokens[at] != "]":
            raise NoType(f"`{text}` is not a type: a `]` is missing")
        return list_of(item), at + 1
    if word == "object" and mark == "{":
        fields: dict[str, Type] = {}
        at += 2
        while at + 1 < len(tokens) and tokens[at].isidentifier() and tokens[at + 1] == ":":
            name = tokens[at]
            fields[name], at = _read(tokens, at + 2, text, depth + 1)
            if at < len(tokens) and tokens[at] == ",":
                at += 1
        if at >= len(tokens) or tokens[at] != "}":
            raise NoType(f"`{text}` is not a type: expected `field: TYPE`, or `}}`")
        return object_of(fields), at + 1
    return found, at + 1


def of_result(result: Any) -> Type:
    """The type that a catalogue's row gives to a result: a text, an object of texts by field, or nothing."""
    if result is None:
        return ANY
    if isinstance(result, dict):
        return object_of({name: parsed(kind) for name, kind in result.items()})
    return parsed(result)


FAILED = object_of({"failed": TEXT, "why": TEXT})
"""What a step gives whose failure is its result."""


def kept(item: Type) -> Type:
    """The record of a branch that stopped, with the item that it was for."""
    return object_of(
        {"failed": TEXT, "why": TEXT, "item": item, "at": TEXT, "path": TEXT, "line": COUNT}
    )


# ---- values beside types -----------------------------------------------------------------------

_KIND = {bool: BOOLEAN, int: NUMBER, float: NUMBER, list: LIST, dict: OBJECT, type(None): NULL}


def misfit(value: Any, kind: Type, name: str = "") -> str | None:
    """What of a JSON value is not of a type, as one clause: its first part that does not fit; None where all fits.

    A field that is not there is null; one of which the type says nothing may be anything.
    """
    found = TEXT.kinds & kind.kinds if isinstance(value, str) else _KIND[type(value)]
    if not found & kind.kinds:
        who = f"`{name}`" if name else "it"
        return f"{who} is {shown(of_value(value))}, not {shown(kind)}"
    if isinstance(value, list) and kind.item is not None and kind.item.kinds & KINDS != KINDS:
        return next(
            (
                said
                for at, one in enumerate(value)
                if (said := misfit(one, kind.item, f"{name}[{at}]"))
            ),
            None,
        )
    if isinstance(value, dict) and kind.fields is not None:
        within = f"{name}." if name else ""
        return next(
            (
                said
                for key, inner in kind.fields
                if (said := misfit(value.get(key), inner, within + key))
            ),
            None,
        )
    return None


def of_value(value: Any) -> Type:
    """The type of a JSON value, without its items and fields."""
    return of_constant(value) if isinstance(value, str) else Type(_KIND[type(value)])
