"""What a name says of the value that it is given, `length = len(x)`, and where it hides another one."""

from __future__ import annotations

import ast
import functools
import re

from ..known import Known
from ..source import Function

_SAYING = re.compile(r"(?<=\.)\w+|[^\W\d]\w*(?=\()")
"""Members, and what is called."""
_SHORT = {
    "length": "len", "size": "len", "maximum": "max", "minimum": "min", "total": "sum", "string": "str", "integer": "int",
}  # fmt: skip


def names_it(given: str, old: str, new: str) -> int:
    """1 where an edit says what the name says that the value is given to, as `length = len(x)` does; -1 where it no longer
    says that; 0 otherwise."""
    given = given.strip("_").lower()
    was, now = _words(old), _words(new)
    if not given or was == now:
        return 0
    return _says(now - was, given) - _says(was - now, given)


@functools.lru_cache(maxsize=256)
def _words(text: str) -> frozenset[str]:
    """Its members, and what it calls."""
    return frozenset(_SAYING.findall(f"{text}("))


def _says(words: frozenset[str], given: str) -> bool:
    """True where one of the words is a part of a name."""
    parts = _parts(given)
    return any(one.strip("_").lower() in parts for one in words if len(one) > 1)


@functools.lru_cache(maxsize=1024)
def _parts(given: str) -> frozenset[str]:
    """The words of a name, and what they are short for."""
    parts = {given, *given.split("_")}
    return frozenset(parts | {_SHORT.get(part, part.removesuffix("s")) for part in parts})


def hides(source: Known, node: ast.AST) -> bool:
    """True for a name that a lambda or a comprehension binds and never reads, and that means something else around it."""
    name, inside = str(getattr(node, "id", getattr(node, "arg", ""))), _reach(source, node)
    if inside is None:
        return False
    within, function = set(ast.walk(inside)), source.function(node)
    if any(
        isinstance(one, ast.Name) and one.id == name and isinstance(one.ctx, ast.Load)
        for one in within
    ):
        return False
    around = ast.walk(function) if isinstance(function, Function) else ()
    outside = (
        one
        for one in around
        if one not in within and name in (getattr(one, "id", ""), getattr(one, "arg", ""))
    )
    return name in source.everywhere or any(outside)


def _reach(source: Known, node: ast.AST) -> ast.AST | None:
    """The lambda or the comprehension that binds a name where it stands."""
    for up in source.around(node):
        if isinstance(up, ast.Lambda):
            return up if isinstance(node, ast.arg) else None
        if isinstance(up, _COMPREHENSIONS):
            return up if isinstance(getattr(node, "ctx", None), ast.Store) else None
        if isinstance(up, ast.stmt):
            return None
    return None


_COMPREHENSIONS = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
