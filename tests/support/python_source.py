"""Python files as the tests of the repository read them."""

from __future__ import annotations

import ast
from collections.abc import Iterator


def statements(node: ast.AST) -> Iterator[ast.stmt]:
    """Every statement below a node. Expressions, which are nine of ten nodes, are not looked into."""
    for part in ("body", "handlers", "orelse", "finalbody", "cases"):
        for child in getattr(node, part, ()):
            if isinstance(child, ast.stmt):
                yield child
            yield from statements(child)
