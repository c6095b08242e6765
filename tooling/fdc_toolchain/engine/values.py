"""Templates and conditions over JSON values: the whole expression language, pure.

Every function is total but for `Unusable`: an operation that has no meaning for the values that
the run brought (an order between a list and a number). It stops the run; nothing is guessed.
Plan parameters arrive as text, so a number beside a text that spells a number is compared as one.
"""

from __future__ import annotations

import json
from typing import Any, Never

from ..program.codec import encode

_COMPACT = json.JSONEncoder(ensure_ascii=False, check_circular=False, separators=(",", ":"))


class Unusable(Exception):
    """A value that cannot be used where the plan uses it; the message is one sentence."""


class PredicateWanted(Exception):
    """A condition needs the answer of a predicate that it does not have yet."""

    def __init__(self, name: str, args: list[Any]) -> None:
        super().__init__(name)
        self.name = name
        self.wanted = args


def text(value: Any) -> str:
    """A value as text: text as it is, everything else as compact JSON."""
    if type(value) is str:
        return value
    return str(value) if type(value) is int else _COMPACT.encode(value)


def render(template: list[Any], names: dict[str, Any]) -> Any:
    """The value of a template: one reference alone has that value, everything else is text."""
    if len(template) == 1:
        part = template[0]
        return part if type(part) is str else lookup(part["ref"], names) if "quote" not in part else _text(part, names)
    return "".join([part if type(part) is str else _text(part, names) for part in template])


def _text(part: dict[str, Any], names: dict[str, Any]) -> str:
    """A reference as text; in a command quoted, so that it stays one word of it."""
    value = text(lookup(part["ref"], names))
    if "quote" in part:
        from ..syntax.shell_text import quoted

        return quoted(value, part["quote"])
    return value


def lookup(ref: list[str], names: dict[str, Any]) -> Any:
    """The value of a name, or of a field of it. What nothing has bound is null, and so are its fields."""
    value = names.get(ref[0])
    for field in ref[1:]:
        value = value.get(field) if type(value) is dict else None
    return value


def truth(value: Any) -> bool:
    """True for true, what is not empty, and numbers other than zero."""
    return bool(value)


def holds(cond: dict[str, Any], names: dict[str, Any], answers: list[Any]) -> bool:
    """Whether a condition holds, read from left to right and no further than needed.

    `answers` are those of the predicates asked so far, in the order in which they are reached.
    Raises PredicateWanted for the first that has none, Unusable for values without a meaning here.
    """
    return _holds(cond, names, iter(answers))


def _holds(cond: dict[str, Any], names: dict[str, Any], answers: Any) -> bool:
    if "test" in cond:
        left = _value(cond["left"], names, answers)
        return _test(cond["test"], left, _value(cond["right"], names, answers))
    if "value" in cond:
        return truth(_value(cond["value"], names, answers))
    if "not" in cond:
        return not _holds(cond["not"], names, answers)
    if "and" in cond:
        return all(_holds(one, names, answers) for one in cond["and"])
    return any(_holds(one, names, answers) for one in cond["or"])


def _value(value: dict[str, Any], names: dict[str, Any], answers: Any) -> Any:
    if "ref" in value:
        return lookup(value["ref"], names)
    if "const" in value:
        return value["const"]
    if "len" in value:
        found = _value(value["len"], names, answers)
        if found is None:
            return 0
        if isinstance(found, (str, list, dict)):
            return len(found)
        raise Unusable(f"{_shown(found)} has no length")
    args = [_value(one, names, answers) for one in value["args"]]
    for answer in answers:
        return answer
    raise PredicateWanted(value["call"], args)


def _test(operator: str, left: Any, right: Any) -> bool:
    if operator == "==":
        return same(left, right)
    if operator == "!=":
        return not same(left, right)
    if operator == "in":
        return _within(left, right)
    left, right = _alike(left, right)
    if type(left) is not str or type(right) is not str:
        if not (_is_number(left) and _is_number(right)):
            raise Unusable(f"{_shown(left)} and {_shown(right)} have no order")
    if operator == "<":
        return bool(left < right)
    if operator == "<=":
        return bool(left <= right)
    if operator == ">":
        return bool(left > right)
    if operator == ">=":
        return bool(left >= right)
    _unknown(operator)


def same(left: Any, right: Any) -> bool:
    """Equality of JSON values: true is not 1, 1 is 1.0, and `3` is 3 where one side is a number."""
    left, right = _alike(left, right)
    if _is_number(left) and _is_number(right):
        return bool(left == right)
    if type(left) is not type(right):
        return False
    if isinstance(left, (list, dict)):
        return encode(left) == encode(right)
    return bool(left == right)


def _within(left: Any, right: Any) -> bool:
    if isinstance(right, str):
        if not isinstance(left, str):
            raise Unusable(f"{_shown(left)} cannot stand in a text")
        return left in right
    if isinstance(right, dict):
        return isinstance(left, str) and left in right
    if isinstance(right, list):
        return any(same(left, one) for one in right)
    raise Unusable(f"{_shown(right)} has nothing in it")


def _alike(left: Any, right: Any) -> tuple[Any, Any]:
    if type(left) is str and _is_number(right):
        return _as_number(left), right
    if type(right) is str and _is_number(left):
        return left, _as_number(right)
    return left, right


def _as_number(written: str) -> Any:
    digits = written[1:] if written[:1] == "-" else written
    if len(digits) > 300 or not digits.isascii() or not digits[:1].isdigit() or "_" in digits:
        return written
    try:
        return int(written) if digits.isdigit() else float(written)
    except ValueError:
        return written


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _shown(value: Any) -> str:
    kinds = {str: "text", list: "a list", dict: "an object", type(None): "null", bool: "a truth value"}
    kind = kinds.get(type(value), "a number")
    if isinstance(value, (list, dict)) or value is None:
        return kind
    written = text(value)
    return f"{kind} (`{written if len(written) <= 40 else written[:39] + '…'}`)"


def _unknown(operator: str) -> Never:
    raise Unusable(f"`{operator}` is no operator")
