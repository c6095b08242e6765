"""The call that made another value of one, where what is left does nothing or is only a generator."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..known import Known
from ..values import Row

_COLLECTS = "tuple list set any all sum sorted dict frozenset min max next iter".split()
_METHODS = (
    "items keys values strip lower upper rstrip lstrip title capitalize split splitlines casefold encode decode copy group groups"
).split()
_FUNCTIONS = "list tuple set sorted str int float dict bytes iter abs reversed".split()
_OF_TYPES = {
    "dict": "items keys values copy",
    "Mapping": "items keys values",
    "bytes": "decode",
    "str": "strip lower split encode",
}


def stays(known: Known, node: ast.Assign) -> Iterator[Row]:
    """For `x = x`, which does nothing: what may have been made of it; first what its type has, where an `if` asks for that."""
    target, value = node.targets[0], node.value
    if len(node.targets) > 1 or known.segment(target) != known.segment(value):
        return
    text, up = known.segment(value), known.parents.get(node)
    test = up.test if isinstance(up, ast.If) else None
    asked = (
        {one.id for one in ast.walk(test) if isinstance(one, ast.Name)}
        if test is not None
        else set()
    )
    of_type = " ".join(_OF_TYPES.get(one, "") for one in sorted(asked)).split()
    for rank, name in enumerate(dict.fromkeys((*of_type, *_METHODS))):
        firm = 0.9 if name in of_type else 0.6 if name in known.methods_called else 0.5
        yield "wrapped", value, f"{text}.{name}()", firm - 0.01 * rank
    for rank, name in enumerate(_FUNCTIONS):
        yield "wrapped", value, f"{name}({text})", 0.6 - 0.02 * rank


def collected(known: Known, node: ast.GeneratorExp) -> Iterator[Row]:
    """A collection of what a generator gives, where the generator itself is returned, stored or an element."""
    up, text = known.parents.get(node), known.segment(node)
    if isinstance(up, ast.Call | ast.For | ast.comprehension) or not text.startswith("("):
        return
    told = "<generator" in known.message
    for rank, name in enumerate(_COLLECTS):
        yield "wrapped", node, f"{name}{text}", (0.8 if told else 0.5) - 0.03 * rank
