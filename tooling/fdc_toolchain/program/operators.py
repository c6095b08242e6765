"""The operators of conditions on JSON values, for the linter and for runs.

Every function is total but for `Unusable`: an operation that has no meaning for the values that are there (an
order between a list and a number). Plan parameters arrive as text, so a number beside a text that spells a
number is compared as one.
"""

from __future__ import annotations

import json
from operator import ge, gt, le, lt

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Never, TypeGuard

_INFINITE = float("inf")
_COMPACT = json.JSONEncoder(ensure_ascii=False, check_circular=False, separators=(",", ":"))


class Unusable(Exception):
    """A value that cannot be used where the plan uses it; the message is one sentence."""


def text(value: object) -> str:
    """A value as text: text as it is, everything else as compact JSON."""
    if type(value) is str:
        return value
    return str(value) if type(value) is int else _COMPACT.encode(value)


def length(value: object) -> int:
    """How many items, characters or fields; 0 for null. Raises Unusable."""
    if value is None:
        return 0
    if isinstance(value, (str, list, dict)):
        return len(value)
    raise Unusable(f"{_shown(value)} has no length")


def test(operator: str, left: object, right: object) -> bool:
    """A comparison. Raises Unusable for values that have no order, or nothing in them."""
    if operator == "==":
        return same(left, right)
    if operator == "!=":
        return not same(left, right)
    if operator == "in":
        return _within(left, right)
    left, right = _alike(left, right)
    if type(left) is not str or type(right) is not str:
        if not (is_number(left) and is_number(right)):
            raise Unusable(f"{_shown(left)} and {_shown(right)} have no order")
    if operator == "<":
        return bool(lt(left, right))
    if operator == "<=":
        return bool(le(left, right))
    if operator == ">":
        return bool(gt(left, right))
    if operator == ">=":
        return bool(ge(left, right))
    _unknown(operator)


def same(left: object, right: object) -> bool:
    """Equality of JSON values: true is not 1, 1 is 1.0, and `3` is 3 where one side is a number."""
    left, right = _alike(left, right)
    if is_number(left) and is_number(right):
        return bool(left == right)
    if type(left) is not type(right):
        return False
    if isinstance(left, (list, dict)):
        from .codec import encode

        return encode(left) == encode(right)
    return bool(left == right)


def _within(left: object, right: object) -> bool:
    if isinstance(right, str):
        if not isinstance(left, str):
            raise Unusable(f"{_shown(left)} cannot stand in a text")
        return left in right
    if isinstance(right, dict):
        return isinstance(left, str) and left in right
    if isinstance(right, list):
        return any(same(left, item) for item in right)
    raise Unusable(f"{_shown(right)} has nothing in it")


def _alike(left: object, right: object) -> tuple[object, object]:
    if type(left) is str and is_number(right):
        return as_number(left), right
    if type(right) is str and is_number(left):
        return left, as_number(right)
    return left, right


def as_number(spelling: str) -> object:
    """The number that a text spells; the text, where it spells none."""
    digits = spelling[1:] if spelling[:1] == "-" else spelling
    if len(digits) > 300 or not digits.isascii() or not digits[:1].isdigit() or "_" in digits:
        return spelling
    try:
        number = int(spelling) if digits.isdigit() else float(spelling)
    except ValueError:
        return spelling
    return number if abs(number) != _INFINITE else spelling


def is_number(value: object) -> TypeGuard[float]:
    """True for numbers; true and false do not count."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _shown(value: object) -> str:
    kinds = {
        str: "text",
        list: "a list",
        dict: "an object",
        type(None): "null",
        bool: "a truth value",
    }
    kind = kinds.get(type(value), "a number")
    if isinstance(value, (list, dict)) or value is None:
        return kind
    spelling = text(value)
    return f"{kind} (`{spelling if len(spelling) <= 40 else spelling[:39] + '…'}`)"


def _unknown(operator: str) -> Never:
    raise Unusable(f"`{operator}` is not an operator")
