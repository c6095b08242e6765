"""Values of a script that are known before its launch: Python's own, and three that stand for others."""

from __future__ import annotations

import re
from collections.abc import Callable
from math import ceil, floor, isfinite, trunc

from ....named_tuples import NamedTuple
from .only_read import Path


class NotKnown(Exception):
    """The value is not known before the launch."""


class Undefined:
    """`undefined`, or `args` where nothing was given, which may also be `null`."""


class Many(NamedTuple):
    """A list of so many items or fewer; which ones is not known."""

    most: int


UNDEFINED = Undefined()
ANY = object()
"""Something of which nothing is known."""

ROUNDED: dict[str, Callable[[float], int]] = {
    "Math.ceil": ceil,
    "Math.floor": floor,
    "Math.trunc": trunc,
    "Math.round": lambda value: floor(value + 0.5),
}


def amount(value: object) -> float | None:
    """How often a loop that counts to a value can go round, None where that is not known."""
    if value is None or value is UNDEFINED:
        return 0
    return max(0, ceil(value)) if isinstance(value, int | float) and isfinite(value) else None


def items(value: object) -> int | None:
    """How many items a value has at most, None where that is not known."""
    if value is None or value is UNDEFINED:
        return 0  # nothing can be taken from it
    if isinstance(value, str):
        return len(value.encode("utf-16-le", "surrogatepass")) // 2
    return (
        value.most if isinstance(value, Many) else len(value) if isinstance(value, list) else None
    )


def containers(value: object) -> list[tuple[Path, object]]:
    """The lists and objects in a value, each with the names that lead to it; not those in lists."""
    out: list[tuple[Path, object]] = []
    work: list[tuple[Path, object]] = [((), value)]
    while work:
        path, here = work.pop()
        if isinstance(here, dict | list | Many):
            out.append((path, here))
        if isinstance(here, dict):
            work += [((*path, str(key)), item) for key, item in here.items()]
    return out


def true(value: object) -> bool:
    """Whether a condition holds."""
    if isinstance(value, dict | list | Many):
        return True
    return value is not UNDEFINED and value == value and bool(value)


def type_of(value: object) -> str:
    """What `typeof` says."""
    if value is UNDEFINED:
        return "undefined"
    names = {bool: "boolean", int: "number", float: "number", str: "string"}
    return names.get(type(value), "object")


def plain(value: object) -> float:
    """A number that JavaScript and Python calculate with alike. Raises NotKnown."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
        raise NotKnown
    return value


def number_of(value: object) -> float:
    """What `Number` makes of a value. Raises NotKnown."""
    if isinstance(value, str) and re.fullmatch(r"-?[0-9]{1,12}", value):
        return int(value)
    return plain(value)


def larger(one: object, two: object) -> Many:
    """At least as large as each of the two, whichever it is."""
    if not all(isinstance(value, list | Many) for value in (one, two)):
        raise NotKnown
    return Many(max(items(value) or 0 for value in (one, two)))


def arithmetic(word: str, one: object, two: object) -> object:
    """What an operator makes of two values. Raises NotKnown."""
    if word == "+" and isinstance(one, str) and isinstance(two, str):
        return one + two
    left, right = plain(one), plain(two)
    if word in ("/", "%") and right <= 0 or word == "%" and left < 0:
        raise NotKnown
    found = _OPERATORS.get(word)
    if found is None:
        raise NotKnown
    return found(left, right)


_OPERATORS: dict[str, Callable[[float, float], float | bool]] = {
    "+": lambda one, two: one + two,
    "-": lambda one, two: one - two,
    "*": lambda one, two: one * two,
    "/": lambda one, two: one / two,
    "%": lambda one, two: one % two,
    "<": lambda one, two: one < two,
    "<=": lambda one, two: one <= two,
    ">": lambda one, two: one > two,
    ">=": lambda one, two: one >= two,
}
