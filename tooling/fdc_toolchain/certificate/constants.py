"""The part of the checker that finds conditions of constants. Like `control.py` it imports nothing of fdc."""

from __future__ import annotations

import operator
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .forms import Condition, Json, Value

COMPARE = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


NUMBER = re.compile(r"-?(0|[1-9][0-9]{0,14})(\.[0-9]{1,15})?")
"""A text that is compared with a number as a number; other spellings are not decided here."""


def known(cond: Condition) -> bool | None:
    """The value of a condition of constants, where it does not stop the run; None where it depends on a value of the run."""
    if "test" in cond:
        sides = [constant(cond["left"]), constant(cond["right"])]
        if {type(side) for side in sides} in ({str, int}, {str, float}):
            sides = [
                float(side) if type(side) is str and NUMBER.fullmatch(side) else side
                for side in sides
            ]
        texts = [side for side in sides if type(side) is str]
        numbers = [side for side in sides if type(side) is int or type(side) is float]
        if cond["test"] not in COMPARE or 2 not in (len(texts), len(numbers)):
            return None
        compare = COMPARE[cond["test"]]
        return bool(compare(*texts) if texts else compare(*numbers))
    if "value" in cond:
        value = constant(cond["value"])
        return bool(value) if value is not None or "const" in cond["value"] else None
    if "not" in cond:
        return None if (inner := known(cond["not"])) is None else not inner
    decides = "and" not in cond
    verdicts = [known(part) for part in cond["or" if decides else "and"]]
    return decides if decides in verdicts else None if None in verdicts else not decides


def constant(value: Value) -> Json:
    """The value of an operand in every run; None where it depends on the run."""
    if "len" in value:
        return len(inner) if isinstance(inner := constant(value["len"]), str) else None
    return value.get("const")
