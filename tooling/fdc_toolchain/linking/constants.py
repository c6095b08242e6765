"""Constant folding of conditions, through `not`, `and`, `or`, comparisons and `len`.

The operators are those of a run (`program.operators`), so a folded condition is what every run finds there.
"""

from __future__ import annotations

from ..program.operators import Unusable, length, test

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..certificate.forms import Value as OperandTree
    from ..syntax.conditions import ConditionTree

UNKNOWN = object()
"""The value of a name, of a predicate, or of an operation that stops the run."""


def fold(tree: ConditionTree) -> bool | None:
    """The constant value of a condition; None: it depends on a value of the run.

    A part that would stop the run counts as unknown: `x and false` never holds, for any `x`.
    """
    if "test" in tree:
        left, right = value_of(tree["left"]), value_of(tree["right"])
        if left is UNKNOWN or right is UNKNOWN:
            return None
        try:
            return test(tree["test"], left, right)
        except Unusable:
            return None
    if "value" in tree:
        operand = value_of(tree["value"])
        return None if operand is UNKNOWN else bool(operand)
    if "not" in tree:
        inner = fold(tree["not"])
        return None if inner is None else not inner
    is_and = "and" in tree
    parts = [fold(part) for part in tree["and" if is_and else "or"]]
    if (not is_and) in parts:
        return not is_and
    return None if None in parts else is_and


def value_of(tree: OperandTree) -> object:
    """The value of an operand, or UNKNOWN."""
    if "const" in tree:
        return tree["const"]
    if "len" in tree:
        operand = value_of(tree["len"])
        if operand is not UNKNOWN:
            try:
                return length(operand)
            except Unusable:
                return UNKNOWN
    return UNKNOWN
