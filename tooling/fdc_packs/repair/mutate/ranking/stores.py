"""What code stores, and what it stores in vain."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from ..source import Function


def overwritten(nodes: Sequence[ast.AST]) -> set[ast.AST]:
    """Assignments to what the statement beside them gives a value as well, without a look at it: one of the two is in vain."""
    found: set[ast.AST] = set()
    for node in nodes:
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            for one, other in (
                zip(block, block[1:], strict=False) if isinstance(block, list) else ()
            ):
                if isinstance(one, ast.Assign) and isinstance(other, ast.Assign):
                    stored = {ast.dump(to) for to in one.targets}
                    again = {ast.dump(to) for to in other.targets}
                    if stored != again:
                        continue
                    read = {_loaded(part) for part in ast.walk(other.value)}
                    if not any(_loaded(to) in read for to in one.targets):
                        found |= {one, other}
    return found


def _loaded(node: ast.AST) -> str:
    """What a name or member is, whether it is read or stored."""
    return ast.unparse(node) if isinstance(node, ast.Name | ast.Attribute | ast.Subscript) else ""


def bound(node: ast.AST) -> Iterator[str]:
    """The names that a node itself binds."""
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        yield node.id
    elif isinstance(node, ast.arg):
        yield node.arg
    elif isinstance(node, Function | ast.ClassDef | ast.ExceptHandler):
        yield node.name or ""
    elif isinstance(node, ast.Import | ast.ImportFrom):
        yield from (alias.asname or alias.name.partition(".")[0] for alias in node.names)


def unpacked(node: ast.AST) -> set[str]:
    """The names in a node that get a part of something, beside others: not every part of what is unpacked is wanted."""
    targets = [one for one in ast.walk(node) if isinstance(one, ast.Tuple | ast.List)]
    parts = [one for target in targets if isinstance(target.ctx, ast.Store) for one in target.elts]
    return {one.id for one in parts if isinstance(one, ast.Name)}
