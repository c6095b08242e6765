"""Calls of a function by way of a list, a dictionary or another container that keeps it, in Python.

`STEPS = [wash, pour]` keeps `pour`; `for step in STEPS: step()` and `STEPS[1]()` call it. A container is known by its
name: one that a function binds for itself in that function, any other in its file and where it is imported.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

_FILLS = frozenset(
    ("append", "appendleft", "add", "insert", "extend", "setdefault", "update", "register", "push")
)
_TAKES = frozenset(("get", "pop", "popleft", "setdefault", "values", "items", "copy"))
_ITERATES = frozenset(
    (
        "enumerate",
        "reversed",
        "list",
        "tuple",
        "set",
        "sorted",
        "iter",
        "next",
        "zip",
        "chain",
        "filter",
    )
)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
Scope = tuple[ast.AST, ...]
"""The functions around a node, outermost first."""


class Container(NamedTuple):
    """A container that keeps the function: its name, whether it is an attribute, the function that binds it (None: the file),
    and the line that puts the function into it."""

    name: str
    attribute: bool
    owner: ast.AST | None
    line: int


def keepers(tree: ast.Module, name: str) -> list[Container]:
    """The containers of a file into which the function of that name is put."""
    out = []
    for node, scope in _scoped(tree):
        for target, inside, values in _puts(node):
            called = last_name(target)
            line = next((line for one in values for line in _kept(one, name, inside)), 0)
            if called and line:
                attribute = isinstance(target, ast.Attribute)
                owner = None if attribute else _binder(scope, called)
                out.append(Container(called, attribute, owner, line))
    return out


def _puts(node: ast.AST) -> Iterator[tuple[ast.expr, bool, list[ast.expr]]]:
    """What a node puts where: the container, whether the values become elements of it, and the values."""
    if isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)) and node.value is not None:
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            inside = isinstance(target, ast.Subscript)
            yield (
                target.value if isinstance(target, ast.Subscript) else target,
                inside,
                [node.value],
            )
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr in _FILLS:
            yield node.func.value, True, [*node.args, *(one.value for one in node.keywords)]


def _kept(value: ast.expr, name: str, inside: bool) -> Iterator[int]:
    """The lines on which a value keeps the function: as an element at any depth, or itself where it is put `inside`."""
    if isinstance(value, (ast.List, ast.Tuple, ast.Set)):
        for one in value.elts:
            yield from _kept(one, name, True)
    elif isinstance(value, ast.Dict):
        for one in value.values:
            yield from _kept(one, name, True)
    elif isinstance(value, ast.Call) and last_name(value.func) != name:
        for one in value.args:
            yield from _kept(one, name, inside)
        for word in value.keywords:
            yield from _kept(word.value, name, True)
    elif isinstance(value, ast.BinOp):
        yield from _kept(value.left, name, inside)
        yield from _kept(value.right, name, inside)
    elif inside and last_name(value) == name:
        yield value.end_lineno or value.lineno


def calls_through(
    tree: ast.Module, containers: list[Container], here: bool
) -> Iterator[tuple[int, str]]:
    """Where what a container keeps is called, with the container's name. `here`: whether the containers are of this file;
    else only those count that are bound by a file, and are imported here or read from a module."""
    reader = _Reader(tree, containers, here)
    reader.bind()
    yield from reader.calls()


class _Reader:
    def __init__(self, tree: ast.Module, containers: list[Container], here: bool) -> None:
        self.nodes = list(_scoped(tree))
        self.owned = {(one.owner, one.name) for one in containers if one.owner is not None and here}
        self.attributes = {one.name for one in containers if one.attribute and here}
        self.shared = {one.name for one in containers if one.owner is None and not one.attribute}
        if not here:
            self.shared &= _imported(tree)
        self.names = {one.name for one in containers}
        self.bound: dict[tuple[ast.AST | None, str], str] = {}

    def bind(self) -> None:
        """Notes the variables that get what a container keeps: those of loops, and those that an element is assigned to."""
        for node, scope in self.nodes:
            for target, value in _bindings(node):
                found = self.kept(value, scope)
                for one in ast.walk(target) if found else ():
                    if isinstance(one, ast.Name):
                        self.bound[scope[-1] if scope else None, one.id] = found

    def calls(self) -> Iterator[tuple[int, str]]:
        """The calls of an element, or of a variable that has one."""
        for node, scope in self.nodes:
            if not isinstance(node, ast.Call) or isinstance(node.func, ast.Attribute):
                continue
            called = node.func
            whole = isinstance(called, ast.Name) and called.id in self.names
            if isinstance(called, ast.Call):
                whole = last_name(called.func) in _ITERATES - {"next"}
            found = "" if whole else self.kept(called, scope)
            if found:
                yield called.end_lineno or node.lineno, found

    def kept(self, node: ast.expr, scope: Scope) -> str:
        """The container that an expression is, or takes something out of; empty where it is none."""
        if isinstance(node, (ast.Subscript, ast.Starred)):
            return self.kept(node.value, scope)
        if isinstance(node, ast.Call):
            if isinstance(node.func, ast.Attribute) and node.func.attr in _TAKES:
                return self.kept(node.func.value, scope)
            some = node.args if last_name(node.func) in _ITERATES else []
            return next((found for one in some if (found := self.kept(one, scope))), "")
        called = last_name(node)
        if isinstance(node, ast.Attribute):
            return called if called in self.attributes | self.shared else ""
        if any((one, called) in self.owned for one in scope):
            return called
        if called in self.shared and _binder(scope, called) is None:
            return called
        around = (*reversed(scope), None)
        return next((self.bound[one, called] for one in around if (one, called) in self.bound), "")


def _bindings(node: ast.AST) -> list[tuple[ast.expr, ast.expr]]:
    """The targets that a node binds, each with the expression that it gets its value from."""
    if isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension)):
        return [(node.target, node.iter)]
    if isinstance(node, ast.Assign) and not isinstance(node.value, (ast.Name, ast.Attribute)):
        return [(one, node.value) for one in node.targets]
    return [(node.target, node.value)] if isinstance(node, ast.NamedExpr) else []


def _imported(tree: ast.Module) -> set[str]:
    """The names that a file imports, and those that it reads from what it imports."""
    names = {
        one.asname or one.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for one in node.names
    }
    plain = [one for node in ast.walk(tree) if isinstance(node, ast.Import) for one in node.names]
    modules = names | {(one.asname or one.name).partition(".")[0] for one in plain}
    read = {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id in modules
    }
    return names | read


def _binder(scope: Scope, name: str) -> ast.AST | None:
    """The innermost function around that binds a name for itself; None where the file does."""
    for function in reversed(scope):
        if name in _bound_in(function):
            return function
    return None


@lru_cache(maxsize=1000)
def _bound_in(function: ast.AST) -> frozenset[str]:
    """The names that a function binds: its parameters, and what it stores into, `global` and `nonlocal` names aside."""
    assert isinstance(function, _FUNCTIONS)
    given = function.args
    names = {
        one.arg
        for one in (*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg)
        if one
    }
    outside: set[str] = set()
    work: list[ast.AST] = list(ast.iter_child_nodes(function))
    while work:
        node = work.pop()
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            outside.update(node.names)
        if not isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
            work += ast.iter_child_nodes(node)
    return frozenset(names - outside)


def _scoped(tree: ast.Module) -> Iterator[tuple[ast.AST, Scope]]:
    """Every node with the functions around it, in the order of the text."""
    work: list[tuple[ast.AST, Scope]] = [(tree, ())]
    while work:
        node, scope = work.pop()
        yield node, scope
        inner = (*scope, node) if isinstance(node, _FUNCTIONS) else scope
        work += [(child, inner) for child in reversed(list(ast.iter_child_nodes(node)))]


def last_name(node: ast.expr | None) -> str:
    """The name of a variable or an attribute; empty for other expressions."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""
