"""The part of the checker that finds conditions of constants. Like `control.py` it imports nothing of fdc."""

from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .forms import Condition, Json, Value

UNKNOWN: Json = []
"""An operand that depends on the run, or stops it."""

ORDERS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


def known(cond: Condition) -> bool | None:
    """The value of a condition of constants, where it does not stop the run; None where it depends on a value of the run."""
    if "test" in cond:
        return compared(cond["test"], constant(cond["left"]), constant(cond["right"]))
    if "value" in cond:
        value = constant(cond["value"])
        return None if value is UNKNOWN else bool(value)
    if "not" in cond:
        return None if (inner := known(cond["not"])) is None else not inner
    decides = "and" not in cond
    verdicts = [known(part) for part in cond["or" if decides else "and"]]
    return decides if decides in verdicts else None if None in verdicts else not decides


def compared(test: str, left: Json, right: Json) -> bool | None:
    """What a comparison of two operands finds; None where that is not known, or the comparison has no meaning."""
    if not {type(left), type(right)} <= {str, bool, int, float, type(None)}:
        return None
    if test == "in":
        return left in right if type(left) is str and type(right) is str else None
    left, right = spelled(left, right), spelled(right, left)
    alike = type(left) is type(right) or numbers(left, right)
    if test in ("==", "!="):
        return (alike and left == right) is (test == "==")
    if test not in ORDERS or not alike:
        return None
    texts = [side for side in (left, right) if type(side) is str]
    values = [side for side in (left, right) if type(side) is int or type(side) is float]
    return (
        bool(ORDERS[test](*texts) if texts else ORDERS[test](*values)) if texts or values else None
    )


def spelled(side: Json, other: Json) -> Json:
    """The number that a text beside a number spells; else what is there."""
    if type(side) is not str or not numbers(other):
        return side
    digits = side.removeprefix("-")
    if len(digits) > 300 or not digits.isascii() or "_" in digits or not digits[:1].isdigit():
        return side
    try:
        number = int(side) if digits.isdigit() else float(side)
    except ValueError:
        return side
    return number if math.isfinite(number) else side


def numbers(*sides: Json) -> bool:
    """Whether all are numbers; true and false are none."""
    return all(type(side) in (int, float) for side in sides)


def constant(value: Value) -> Json:
    """The value of an operand in every run, or UNKNOWN."""
    if "len" in value:
        inner = constant(value["len"])
        return 0 if inner is None else len(inner) if isinstance(inner, str) else UNKNOWN
    return value.get("const", UNKNOWN)
