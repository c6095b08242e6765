"""Python's own names where nothing of Python's can be meant: whatever stands there instead, it is not they. Pure."""

from __future__ import annotations

import ast
import builtins

from ..known import Known


def impossible(source: Known, node: ast.AST) -> bool:
    """True for a built-in name or constant that is used as it never can be: `NotImplemented.first`, `len[0]`, `Ellipsis()`;
    or of whose type nobody asks, as everybody knows it: `isinstance(str, int)`."""
    up = source.parents.get(node)
    if isinstance(node, ast.Constant):
        value: object = node.value
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        if node.id in source.names(node) or node.id in source.top or not hasattr(builtins, node.id):
            return False
        value = getattr(builtins, node.id)
    else:
        return False
    if isinstance(up, ast.Attribute):
        return not hasattr(value, up.attr)
    if isinstance(up, ast.Subscript) and up.value is node:
        return not (hasattr(value, "__getitem__") or hasattr(value, "__class_getitem__"))
    if isinstance(up, ast.Call) and up.args[:1] == [node]:
        return isinstance(up.func, ast.Name) and up.func.id == "isinstance"
    return isinstance(up, ast.Call) and up.func is node and not callable(value)


def of_a_parent(source: Known, node: ast.AST) -> bool:
    """True for `name` in `name().METHOD(...)` in a method METHOD: of an object that is made there and kept nowhere nobody wants
    that, of the class above everybody does."""
    call = source.parents.get(node)
    member, function = source.parents.get(call) if call is not None else None, source.function(node)
    if not isinstance(node, ast.Name) or not isinstance(call, ast.Call) or call.func is not node:
        return False
    called = isinstance(member, ast.Attribute) and isinstance(source.parents.get(member), ast.Call)
    named = function is not None and isinstance(member, ast.Attribute) and member.attr == function.name  # fmt: skip
    return called and named and not call.args and source.owner(node) is not None
