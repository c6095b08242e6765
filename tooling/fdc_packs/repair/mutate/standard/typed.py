"""Where only a type can be meant. Pure."""

from __future__ import annotations

import ast
import builtins
import re

from ..known import Known

_LIKE_A_TYPE = re.compile(r"_?[A-Z][A-Z0-9]*[a-z]\w*")


def among_types(known: Known, node: ast.AST) -> bool:
    """True for the left side of a comparison with types: only a type is equal to one, or among them."""
    up = known.parents.get(node)
    there = isinstance(up, ast.Compare) and up.left is node and len(up.ops) == 1
    return there and isinstance(up, ast.Compare) and is_type(known, up.comparators[0])


def is_type(known: Known, node: ast.expr) -> bool:
    """True for a built-in type, a class of the file, an imported name that is written like a class, or several of them."""
    if isinstance(node, ast.Tuple):
        return bool(node.elts) and all(is_type(known, one) for one in node.elts)
    if not isinstance(node, ast.Name):
        return False
    imported = node.id in known.imported and _LIKE_A_TYPE.fullmatch(node.id) is not None
    return imported or node.id in known.classes or isinstance(getattr(builtins, node.id, None), type)  # fmt: skip
