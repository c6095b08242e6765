"""What a condition says of the values that it reads, once it held (or did not): kinds that these values can still have."""

from __future__ import annotations

from ....linking.types import BOOLEAN, KINDS, NULL, NUMBER, OBJECT, OPEN, TEXTS
from ....syntax.values import Condition

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ....certificate.forms import Value as OperandTree
    from ....syntax.conditions import ConditionTree

Tested = dict[tuple[str, ...], int]
"""Kinds by reference (`("a", "b")` is `a.b`)."""

_ORDERED = ("<", "<=", ">", ">=")


def tested(condition: Condition | None, held: bool) -> Tested:
    """What follows where the condition came to `held`."""
    return {} if condition is None else _tested(condition.tree, held)


def _tested(tree: ConditionTree, held: bool) -> Tested:
    if "not" in tree:
        return _tested(tree["not"], not held)
    if "and" in tree or "or" in tree:
        parts = tree.get("and") or tree["or"]
        out: Tested = {}
        if held is ("and" in tree):  # each part came to the same
            for part in parts:
                out = both(out, _tested(part, held))
        return out
    if "value" in tree:
        return _of(tree["value"], KINDS & ~NULL) if held else {}
    return _compared(tree, held)


def both(one: Tested, other: Tested) -> Tested:
    """What follows from two facts."""
    out = dict(one)
    for path, kinds in other.items():
        out[path] = out.get(path, KINDS) & kinds
    return out


def without(facts: Tested, names: set[str]) -> Tested:
    """What is left of it where these names are bound again."""
    if not any(
        (name,) in facts for name in names
    ):  # what is known of a field, is known of its name
        return facts
    return {path: kinds for path, kinds in facts.items() if path[0] not in names}


def _compared(tree: ConditionTree, held: bool) -> Tested:
    operator = tree["test"]
    out: Tested = {}
    for side, other in ((tree["left"], tree["right"]), (tree["right"], tree["left"])):
        if operator in _ORDERED:  # the run went on, so they have an order
            out = both(out, _of(side, NUMBER | TEXTS))
        elif operator in ("==", "!=") and "const" in other and held is (operator == "=="):
            out = both(
                out, _of(side, BOOLEAN if isinstance(other["const"], bool) else NUMBER | TEXTS)
            )
    return out


def _of(operand: OperandTree, kinds: int) -> Tested:
    """What is known of a reference that has one of the kinds, and of what it is a field of."""
    path = tuple(operand.get("ref", ()))
    return {path[:size]: OBJECT if size < len(path) else kinds for size in range(1, len(path) + 1)}


def limited(kinds: int, fact: int) -> int:
    """The kinds of a value of which a fact is known; who calls the plan may still give something else."""
    return kinds & (fact | OPEN)
