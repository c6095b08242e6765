"""The value for nothing that a function takes, and that nothing in it uses."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..known import Known
from ..source import OWN
from ..values import Row

COMMON = 0.4
"""How common it is that such a parameter stands after `or`."""
_VALUED = ast.Return | ast.Assign | ast.Call | ast.keyword | ast.Tuple | ast.Dict | ast.List


def fallback(known: Known, node: ast.Call | ast.Subscript | ast.Attribute) -> Iterator[Row]:
    """`f(x) or default`, for a parameter `default` that nothing uses."""
    up, function, text = known.parents.get(node), known.function(node), known.segment(node)
    stored = isinstance(getattr(node, "ctx", None), ast.Store | ast.Del)
    callee = isinstance(up, ast.Call) and node is up.func
    if function is None or stored or callee or not isinstance(up, _VALUED) or "\n" in text:
        return
    taken = [one.arg for one in (*function.args.args, *function.args.kwonlyargs)]
    for name in [one for one in taken if one in known.unused(node) and one not in OWN][:2]:
        yield "wrapped", node, f"{text} or {name}", COMMON
