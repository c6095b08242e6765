"""What a file has that could stand elsewhere in it."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator

from .source import Source


class Known:
    """What a file has that could stand elsewhere in it."""

    def __init__(self, source: Source) -> None:
        self.source = source
        calls = [one for one in source.nodes if isinstance(one, ast.Call)]
        self.calls: dict[str, list[ast.Call]] = {}
        for one in calls:
            self.calls.setdefault(source.segment(one.func), []).append(one)
        self.defined = {one.name: one for one in source.nodes if isinstance(one, ast.FunctionDef)}
        tree = source.tree
        assert isinstance(tree, ast.Module)
        top = [
            one.name
            for one in tree.body
            if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        ]
        top += [alias.asname or alias.name.partition(".")[0] for one in source.nodes
                if isinstance(one, ast.Import | ast.ImportFrom) for alias in one.names]  # fmt: skip
        top += [one.id for part in tree.body for one in ast.walk(part) if isinstance(one, ast.Name)
                and isinstance(one.ctx, ast.Store)] if len(source.nodes) < 40_000 else []  # fmt: skip
        self.everywhere = {*top, *dir(builtins)}

    def above(self, node: ast.AST) -> Iterator[ast.AST]:
        """What a node is in, up to its statement."""
        at = self.source.parents.get(node)
        while at is not None and not isinstance(at, ast.stmt):
            yield at
            at = self.source.parents.get(at)

    def value(self, node: ast.AST) -> bool:
        """True where a call could stand around an expression: it is an argument, a returned or an assigned value, an operand."""
        up = self.source.parents.get(node)
        if isinstance(getattr(node, "ctx", None), ast.Store | ast.Del):
            return False
        if isinstance(up, ast.Call):
            return node in up.args
        if isinstance(up, ast.For | ast.comprehension):
            return node is up.iter
        within = (
            ast.Return
            | ast.Assign
            | ast.AugAssign
            | ast.BinOp
            | ast.Compare
            | ast.keyword
            | ast.IfExp
            | ast.Tuple
        )
        return isinstance(up, within)

    def reads(self, node: ast.AST, place: ast.AST) -> bool:
        """True where all names that a statement reads are known in another place."""
        own = self.source.names(place)
        stores = {
            one.id
            for one in ast.walk(node)
            if isinstance(one, ast.Name) and not isinstance(one.ctx, ast.Load)
        }
        return all(
            one.id in own or one.id in self.everywhere or one.id in stores
            for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load)
        )  # fmt: skip
