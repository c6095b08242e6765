"""A step of a position that is a number and should be the length of what was found there."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..known import Known
from ..source import name_of

BESIDE, MEASURED, SIZED = 0.5, 0.25, 0.08
"""How common the fault is with what the function adds to the same name elsewhere, with a length that it takes elsewhere, and
with one of something that it goes through or cuts."""


def stepped(known: Known, node: ast.AST, number: int) -> Iterator[tuple[str, float]]:
    """What may stand for a number that is added to a name, or taken from it, each with how common that is."""
    up, function = known.parents.get(node), known.function(node)
    if function is None or not 1 <= number <= 2:
        return
    if isinstance(up, ast.AugAssign) and isinstance(up.op, ast.Add | ast.Sub):
        target = name_of(up.target)
    elif isinstance(up, ast.BinOp) and isinstance(up.op, ast.Add | ast.Sub) and up.right is node:
        target = name_of(up.left)
    else:
        return
    bound = known.names(node)
    for one in ast.walk(function):
        if (
            isinstance(one, ast.BinOp)
            and isinstance(one.op, ast.Add)
            and name_of(one.left) == target
        ):
            if target and isinstance(one.right, ast.Call) and known.fits(one.right, node):
                yield known.segment(one.right), BESIDE
        elif isinstance(one, ast.Call) and name_of(one.func) == "len" and known.fits(one, node):
            yield known.segment(one), MEASURED
        elif isinstance(one, ast.Subscript | ast.For):
            name = name_of(one.value if isinstance(one, ast.Subscript) else one.target)
            if name in bound and name != target:
                yield f"len({name})", SIZED
