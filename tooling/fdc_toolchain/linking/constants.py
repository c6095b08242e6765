"""What a condition comes to before anything is known: constants folded through `not`, `and`, `or`, comparisons and `len`.

The operators are those of a run (`program.operators`), so a folded condition is what every run finds there.
"""

from __future__ import annotations

from typing import Any

from ..program.operators import Unusable, length, test

UNKNOWN = object()
"""The value of a name, of a predicate, or of an operation that stops the run."""


def fold(tree: dict[str, Any]) -> bool | None:
    """What the condition is wherever it comes to something; None: it depends on a value.

    A part that would stop the run counts as one that is unknown: `x and false` never holds, whatever `x` is.
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
        found = value_of(tree["value"])
        return None if found is UNKNOWN else bool(found)
    if "not" in tree:
        inner = fold(tree["not"])
        return None if inner is None else not inner
    every = "and" in tree
    parts = [fold(one) for one in tree["and" if every else "or"]]
    if (not every) in parts:
        return not every
    return None if None in parts else every


def value_of(tree: dict[str, Any]) -> Any:
    """The value of an operand, or UNKNOWN."""
    if "const" in tree:
        return tree["const"]
    if "len" in tree:
        found = value_of(tree["len"])
        if found is not UNKNOWN:
            try:
                return length(found)
            except Unusable:
                return UNKNOWN
    return UNKNOWN
