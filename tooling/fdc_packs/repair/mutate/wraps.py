"""Edits that put a call around an expression, take one away, or exchange it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from .known import Known
from .scope import Scope, _name_of
from .source import Edit

_WRAPS = "list tuple sorted set str int len iter dict reversed bool next sum max min abs".split()
_ITERATED = ("range", "enumerate", "reversed", "sorted", "list", "iter", "set", "zip")
_BARE = (
    "groups groupdict group lower upper strip items keys values copy split encode decode".split()
)


def wraps(known: Known, scope: Scope, node: ast.AST) -> Iterator[Edit]:
    """A call around a value."""
    source = known.source
    text = source.segment(node)
    up = source.parents.get(node)
    around, own = (
        _name_of(up.func) if isinstance(up, ast.Call) else "",
        _name_of(node.func) if isinstance(node, ast.Call) else "",
    )
    if isinstance(node, ast.Constant) and not isinstance(node.value, int | str) or "\n" in text:
        return
    found: dict[str, float] = {}
    if isinstance(up, ast.For | ast.comprehension):
        for rank, name in enumerate(_ITERATED):
            found[name] = 0.3 - 0.02 * rank
    for name in _WRAPS:
        found.setdefault(name, 0.08)
    for name, count in scope.called.most_common(12):
        found.setdefault(name, 0.08 + 0.005 * min(count, 8))
    for name in known.defined:
        if (
            name.startswith("_")
            and not name.startswith("__")
            and name in scope.top
            and name not in scope.called
        ):
            found[name] = 0.3  # private, and nobody calls it any more
    fitting = {name: prior for name, prior in found.items() if name not in (around, own, text)}
    first, last = source.start(node), source.end(node)
    for name, prior in fitting.items():
        new = f"{name}({text})"
        yield Edit(
            "wrapped",
            node,
            ((first, last, new),),
            text,
            new,
            prior * (0.5 if isinstance(node, ast.Constant) else 1.0),
        )
    if not isinstance(node, ast.Constant):
        for name in dict.fromkeys((*sorted(scope.methods_called & set(_BARE)), *_BARE)):
            new = f"{text}.{name}()"
            yield Edit(
                "wrapped",
                node,
                ((first, last, new),),
                text,
                new,
                0.1 if name in scope.methods_called else 0.05,
            )
