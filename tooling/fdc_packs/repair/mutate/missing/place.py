"""What the place of a forgotten statement lacks: names without a value there; and what nothing reads without that statement."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..known import Known
from ..source import OWN, Function, Scoped, name_of

SHOWN = 4
"""Names of one kind that are tried."""


class Place:
    """The place of a statement, with its names in the order of the text."""

    def __init__(self, known: Known, node: ast.stmt, function: Function) -> None:
        self.known, self.node, self.function = known, node, function
        up = known.parents.get(node)
        blocks = (getattr(up, name, None) for name in ("body", "orelse", "finalbody"))
        self.last = function.body[-1] is node
        """Whether nothing comes after the place in the function; in its block:"""
        self.ends = any(isinstance(one, list) and one and one[-1] is node for one in blocks)
        args = function.args
        self.taken = [one.arg for one in (*args.posonlyargs, *args.args, *args.kwonlyargs) if one.arg not in OWN]  # fmt: skip
        bound = sorted(known.names(node).items(), key=lambda row: row[1])
        self.plain = [name for name, _ in bound if name not in (*OWN, "_")]
        unused = known.unused(node) | _stored_in_vain(known, function)
        rank = {name: at for at, name in enumerate(_bound(function))}
        self.idle = sorted(unused, key=lambda name: rank.get(name, 0))
        """Names that nothing reads, as they are bound one after another."""
        above = {one.id for one in _stores(function) if one.lineno < node.lineno}
        self.before = [name for name in rank if name in above or name in self.taken]
        """Names that have a value before the place, the latest last."""

    @property
    def owner(self) -> ast.ClassDef | None:
        """The class whose method the function is, if it has `self`."""
        first = self.function.args.args[:1]
        return self.known.owner(self.node) if first and first[0].arg == "self" else None

    def useful(self) -> list[str]:
        """The names that a statement would most likely read: those that nothing reads, then the latest."""
        return list(dict.fromkeys((*self.idle, *self.before[::-1])))[:SHOWN]


def _stored_in_vain(known: Known, function: Function) -> set[str]:
    """Names that begin with `_`, that the function itself gives a value, and that it does not read."""
    given = (to for one in ast.walk(function) if isinstance(one, ast.Assign) for to in one.targets)
    names = {to.id for to in given if isinstance(to, ast.Name) and to.id.strip("_")}
    return {name for name in names if name.startswith("_")} - set(known.reads(function))


def lacking(known: Known, function: Function) -> list[str]:
    """Names that a function reads, and that have no value there: nothing binds them, or only later."""
    early = (name for name in late(function) if name not in known.top)
    return [*known.unknown(function.body[0]), *early]


def late(function: Function) -> list[str]:
    """Names that a function reads before the statement that binds them: another one must have bound them before."""
    events = sorted(_events(function), key=lambda row: row[:3])
    first: dict[str, bool] = {}
    for _, _, _, name, reads in events:
        first.setdefault(name, reads)
    stored = {one.id for one in _stores(function)}
    return [name for name, reads in first.items() if reads and name in stored]


def _events(function: Function) -> Iterator[tuple[int, int, int, str, bool]]:
    """Line, order and column of each name in the statements of a function, and whether it is read there."""
    taken = {one.arg for one in ast.walk(function.args) if isinstance(one, ast.arg)}
    outer = {name for one in ast.walk(function) if isinstance(one, ast.Global | ast.Nonlocal) for name in one.names}  # fmt: skip
    stack: list[ast.AST] = [*function.body]
    while stack:
        one = stack.pop()
        if isinstance(
            one,
            Scoped | ast.ClassDef | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp,
        ):
            continue  # what is in it has names of its own
        stack += ast.iter_child_nodes(one)
        if (
            isinstance(one, ast.AugAssign)
            and isinstance(one.target, ast.Name)
            and one.target.id not in taken | outer
        ):
            yield one.lineno, 0, one.col_offset, one.target.id, True
        elif isinstance(one, ast.NamedExpr):
            yield one.lineno, 0, one.col_offset - 1, one.target.id, False
        elif isinstance(one, ast.Name) and one.id not in taken | outer:
            reads = isinstance(one.ctx, ast.Load)
            yield one.lineno, int(not reads), one.col_offset, one.id, reads


def _stores(function: Function) -> Iterator[ast.Name]:
    for one in ast.walk(function):
        if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store):
            yield one


def _bound(function: Function) -> list[str]:
    """Parameters, then the other names, in the order in which they are bound."""
    args = function.args
    more = [one for one in (args.vararg, args.kwarg) if one is not None]
    taken = [one.arg for one in (*args.posonlyargs, *args.args, *more, *args.kwonlyargs)]
    stored = sorted(_stores(function), key=lambda one: (one.lineno, one.col_offset))
    return list(dict.fromkeys((*taken, *(one.id for one in stored))))


def given_to(function: Function, method: bool) -> list[str]:
    """The names of what a call gives by position; `method`: a call of an object, which is given itself, if it is asked for."""
    args = [one.arg for one in (*function.args.posonlyargs, *function.args.args)]
    return args[method and "staticmethod" not in map(name_of, function.decorator_list) :]
