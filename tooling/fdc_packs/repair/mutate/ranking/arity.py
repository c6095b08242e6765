"""Calls that can never be: of functions of the file that do not take these arguments. Pure."""

from __future__ import annotations

import ast

from ..known import Known
from ..source import OWN, Edit, Function


def misfits(source: Known, edit: Edit) -> bool:
    """True for an edit that puts a call there which no function or method of its name in the file takes."""
    up = source.parents.get(edit.node)
    if isinstance(up, ast.Call) and up.func is edit.node:
        return "(" not in edit.new and _no_one_takes(source, edit, _expression(edit.new), up)
    old = {ast.dump(one) for one in _calls(edit.old)}
    new = (one for one in _calls(edit.new) if ast.dump(one) not in old)
    return any(_no_one_takes(source, edit, one.func, one) for one in new)


def _calls(text: str) -> list[ast.Call]:
    """The calls of a statement or expression; none for a part of one."""
    try:
        tree = ast.parse(text.strip() if "(" in text else "")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    return [one for one in ast.walk(tree) if isinstance(one, ast.Call)]


def _expression(text: str) -> ast.expr | None:
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _no_one_takes(source: Known, edit: Edit, called: ast.expr | None, call: ast.Call) -> bool:
    """Of a function of the module, or a method of the class around that is called on `self` or `cls`."""
    if isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name):
        owner = source.owner(edit.node) if called.value.id in OWN else None
        name, bound, block = called.attr, called.value.id == "self", owner.body if owner else []
    elif isinstance(called, ast.Name) and called.id not in source.names(edit.node):
        name, bound, block = called.id, False, source.tree.body
    else:
        return False
    found = [one for one in block if isinstance(one, Function | ast.ClassDef) and one.name == name]
    return bool(found) and not any(
        _makes(one, call) if isinstance(one, ast.ClassDef) else _takes(one, call, bound)
        for one in found
    )


def _makes(owner: ast.ClassDef, call: ast.Call) -> bool:
    """Whether a class may be called so: as its `__init__`; one without may get it from elsewhere."""
    makers = [one for one in owner.body if getattr(one, "name", "") in ("__init__", "__new__")]
    sole = len(makers) == 1 and not owner.decorator_list
    return not sole or not isinstance(makers[0], Function) or _takes(makers[0], call, True)


def _takes(function: ast.FunctionDef | ast.AsyncFunctionDef, call: ast.Call, bound: bool) -> bool:
    """Whether a function may be called so; one with a decorator may be called in any way."""
    if function.decorator_list:
        return True
    args = function.args
    names = [one.arg for one in (*args.posonlyargs, *args.args)][bound:]
    starred = any(isinstance(one, ast.Starred) for one in call.args)
    given = {one.arg for one in call.keywords}
    count, only = len(call.args), [one.arg for one in args.kwonlyargs]
    if not args.vararg and not starred and count > len(names):
        return False
    if not args.kwarg and given - {None, *names, *only}:
        return False
    if starred or None in given:
        return True
    needed = names[count : len(names) - len(args.defaults)]
    needed += [name for name, value in zip(only, args.kw_defaults) if value is None]
    return given.issuperset(needed)
