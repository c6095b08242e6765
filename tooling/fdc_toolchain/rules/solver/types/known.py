"""What is known of a value: its type and where it comes from; and which kinds an operator takes beside each other."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ....diagnostics.span import Span
from ....linking import types
from ....linking.types import (
    ANY,
    BOOLEAN,
    DIGITS,
    KINDS,
    LIST,
    NULL,
    NUMBER,
    OBJECT,
    OPEN,
    TEXTS,
    WORDS,
    Type,
)
from ....named_tuples import NamedTuple


class Origin(NamedTuple):
    """Where a value comes from: the step or header that an assumption about it stands at."""

    span: Span
    who: str
    param: str | None = None
    """The parameter that it is; then the assumption is of the caller the plan."""


class Known(NamedTuple):
    """What is known of a name: its type, and where its value comes from; each with its part of the type, if they are several."""

    type: Type
    origin: Origin
    parts: tuple[tuple[Type, Origin], ...] = ()

    def made(self, change: Callable[[Type], Type]) -> Known:
        """What comes of the value by a change."""
        return Known(
            change(self.type),
            self.origin,
            tuple((change(kind), origin) for kind, origin in self.parts),
        )

    def unfollowed(self, again: Iterable[Origin]) -> Known:
        """The same where rounds are not followed: anything, from here or where they bind the name `again`."""
        return Known(
            ANY, self.origin, tuple((ANY, one) for one in dict.fromkeys((*self.origins, *again)))
        )

    @property
    def origins(self) -> tuple[Origin, ...]:
        """The places that the value may come from."""
        return tuple(origin for _, origin in self.parts) or (self.origin,)

    def blamed(self, bad: int) -> tuple[Origin, ...]:
        """The places that the value may come from where it is of one of these kinds."""
        found = [
            origin
            for kind, origin in self.parts
            if kind.kinds & bad or not kind.kinds & KINDS and kind.kinds & OPEN
        ]
        return tuple(found) or (self.origin,)


Operand = tuple[Known | None, Type, str, Span]
"""One side of a comparison: what is known of it (None: a constant), its type, its text, its place."""


def either(one: Known, other: Known) -> Known:
    """What is known of the one or the other."""
    if one == other:
        return one
    parts: dict[Origin, Type] = {}
    for known in (one, other):
        for kind, origin in known.parts or ((known.type, known.origin),):
            parts[origin] = types.joined(parts[origin], kind) if origin in parts else kind
    several = tuple((kind, origin) for origin, kind in parts.items()) if len(parts) > 1 else ()
    return Known(types.joined(one.type, other.type), one.origin, several)


def bits(kinds: int) -> list[int]:
    return [bit for bit in (NULL, BOOLEAN, NUMBER, WORDS, DIGITS, LIST, OBJECT) if kinds & bit]


def _ordered(left: int, right: int) -> bool:
    """Whether two kinds have an order."""
    if left | right == NUMBER or not (left | right) & ~TEXTS:
        return True
    return left | right == NUMBER | DIGITS


def _member(left: int, right: int) -> bool:
    """Whether one kind can stand in another."""
    return bool(right & (LIST | OBJECT)) or bool(right & TEXTS and left & TEXTS)


def wanted(operator: str, holder: bool, other: Operand) -> str:
    """What a side of a comparison has to be; `holder`: it is what the other is sought in."""
    kinds = other[1].kinds & KINDS
    if operator == "in":
        return (
            f"something that can hold `{other[2]}`"
            if holder
            else f"something that `{other[2]}` can hold"
        )
    if kinds == NUMBER:
        return "a number, or a text that contains one"
    return (
        "text" if kinds and not kinds & ~TEXTS else f"something that has an order with `{other[2]}`"
    )


def written(value: object) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value).lower()


Pairs = list[tuple[int, int, bool]]
"""Kinds of the left and of the right side of a comparison, and whether they may stand beside each other."""


def pairs(operator: str, left: Type, right: Type) -> Pairs:
    """Every kind of the one side beside every kind of the other, for an order or for `in`."""
    rule = _member if operator == "in" else _ordered
    return [
        (bit, other, rule(bit, other)) for bit in bits(left.kinds) for other in bits(right.kinds)
    ]


def at_fault(
    left: Operand, right: Operand, pairs: Pairs, first: Operand
) -> tuple[Operand, Operand]:
    """The side of a comparison to which an assumption belongs, and the other: one with a kind that nothing there fits."""
    ways = [(left, right, {one for one, _, _ in pairs}, {one for one, _, fine in pairs if fine}),
            (right, left, {one for _, one, _ in pairs}, {one for _, one, fine in pairs if fine})]  # fmt: skip
    ways = [way for way in ways if way[0][0] is not None] or ways
    ways.sort(key=lambda way: (not way[0][1].kinds & OPEN, way[2] == way[3], way[0] is not first))
    return ways[0][0], ways[0][1]
