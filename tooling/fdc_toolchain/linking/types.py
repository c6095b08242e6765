"""Static types of values, from catalogues, constructs and literals.

    null  boolean  number  text  list  list[TYPE]  object  object{field: TYPE, ...}  value  any  TYPE?

is how they are written (`value`: anything but null; `TYPE?`: that, or null). A type is a set of kinds, with what is
known of a list's items and of an object's fields; text is two kinds, because a text that spells a number is compared as one.
"""

from __future__ import annotations

import re
from functools import lru_cache

from ..named_tuples import NamedTuple
from ..program.operators import as_number, is_number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Optional

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


def of_constant(value: object) -> Type:
    """The type of a literal."""
    if isinstance(value, str):
        return Type(DIGITS if is_number(as_number(value)) else WORDS)
    return TRUTH if isinstance(value, bool) else COUNT


def joined(first: Type, second: Type) -> Type:
    """The union of two types."""
    if first == second:
        return first
    return Type(
        first.kinds | second.kinds, _joined_items(first, second), _joined_fields(first, second)
    )


def _joined_items(first: Type, second: Type) -> Type | None:
    if first.kinds & second.kinds & LIST:
        return (
            None if first.item is None or second.item is None else joined(first.item, second.item)
        )
    return first.item if first.kinds & LIST else second.item


def _joined_fields(first: Type, second: Type) -> tuple[tuple[str, Type], ...] | None:
    if not first.kinds & second.kinds & OBJECT:
        return first.fields if first.kinds & OBJECT else second.fields
    if first.fields is None or second.fields is None:
        return None
    left, right = dict(first.fields), dict(second.fields)
    names = sorted({*left, *right})
    return tuple(
        (name, joined(left.get(name, NOTHING), right.get(name, NOTHING))) for name in names
    )


def _cut(kind: Type, levels: int) -> Type:
    if kind.item is None and not kind.fields:
        return kind
    if levels == 0:
        return Type(kind.kinds)
    item = None if kind.item is None else _cut(kind.item, levels - 1)
    fields = (
        None
        if kind.fields is None
        else tuple((name, _cut(inner, levels - 1)) for name, inner in kind.fields)
    )
    return Type(kind.kinds, item, fields)


def shown(kind: Type) -> str:
    """A type in words, for messages."""
    if kind.kinds & KINDS == KINDS:
        return "anything"
    words = [
        (NULL, "null"), (BOOLEAN, "true or false"), (NUMBER, "a number"), (TEXTS, "text"), (LIST, "a list"),
        (OBJECT, "an object"),
    ]  # fmt: skip
    return " or ".join(word for bits, word in words if kind.kinds & bits) or "nothing"


# ---- as catalogues write them ----------------------------------------------------------------

_TOKEN = re.compile(r"\s*(?:([A-Za-z_][A-Za-z0-9_]*)|(.))")


class NoType(ValueError):
    """A text that is not a type; the message is one sentence."""


@lru_cache(maxsize=1 << 10)
def parsed(text: str) -> Type:
    """The type that a text of a catalogue writes. Raises NoType."""
    simple = SIMPLE.get(text)
    if simple is not None:
        return simple
    tokens = [name or mark for name, mark in _TOKEN.findall(text.strip())]
    result, at = _read(tokens, 0, text)
    if at != len(tokens):
        raise NoType(f"`{text}` is not a type")
    return result


def _read(tokens: list[str], at: int, text: str, depth: int = 0) -> tuple[Type, int]:
    kind, at = _read_plain(tokens, at, text, depth)
    if at < len(tokens) and tokens[at] == "?":
        return kind._replace(kinds=kind.kinds | NULL), at + 1
    return kind, at


def _read_plain(tokens: list[str], at: int, text: str, depth: int) -> tuple[Type, int]:
    word = tokens[at] if at < len(tokens) else ""
    simple = SIMPLE.get(word)
    if simple is None or depth > MOST_DEPTH:
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
    return simple, at + 1


def of_result(result: object) -> Type:
    """The type that a catalogue's row gives to a result: a text, an object of texts by field, or nothing."""
    if result is None:
        return ANY
    if isinstance(result, dict):
        return object_of({name: parsed(kind) for name, kind in result.items()})
    return parsed(result)


FAILED = object_of({"failed": TEXT, "why": TEXT})
"""The result of a step whose failure is its result (`failure: value`)."""


def kept(item: Type) -> Type:
    """The record of a branch that stopped, with the item that it was for."""
    return object_of(
        {"failed": TEXT, "why": TEXT, "item": item, "at": TEXT, "path": TEXT, "line": COUNT}
    )


# ---- values beside types -----------------------------------------------------------------------

_KIND = {bool: BOOLEAN, int: NUMBER, float: NUMBER, list: LIST, dict: OBJECT, type(None): NULL}


def misfit(value: object, kind: Type, name: str = "") -> str | None:
    """One clause about the first part of a JSON value that does not fit a type; None if all fits.

    A missing field counts as null; a field that the type does not list may be anything.
    """
    kinds = TEXT.kinds & kind.kinds if isinstance(value, str) else _KIND[type(value)]
    if not kinds & kind.kinds:
        subject = f"`{name}`" if name else "it"
        return f"{subject} is {shown(of_value(value))}, not {shown(kind)}"
    if isinstance(value, list) and kind.item is not None and kind.item.kinds & KINDS != KINDS:
        return next(
            (
                fault
                for at, item in enumerate(value)
                if (fault := misfit(item, kind.item, f"{name}[{at}]"))
            ),
            None,
        )
    if isinstance(value, dict) and kind.fields is not None:
        within = f"{name}." if name else ""
        return next(
            (
                fault
                for key, inner in kind.fields
                if (fault := misfit(value.get(key), inner, within + key))
            ),
            None,
        )
    return None


def of_value(value: object) -> Type:
    """The type of a JSON value, without its items and fields."""
    return of_constant(value) if isinstance(value, str) else Type(_KIND[type(value)])
