"""The small changes that `benchmarks.mutants` plants, as changes of the syntax tree."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

SILENT = ("strict", "maxsize")
"""Arguments whose values are left as they are: `zip` looks at lengths that are the same, and how much a cache holds."""

_OPPOSITE: dict[type, type] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.BitOr: ast.BitAnd, ast.BitAnd: ast.BitOr, ast.BitXor: ast.BitOr,
    ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip


def points(tree: ast.Module) -> Iterator[tuple[ast.expr | ast.stmt, Callable[[], None], str]]:
    """Every place that can be changed: the node, what changes it, and the change in words."""
    silent = _silent(tree)
    for parent in ast.walk(tree):
        if id(parent) in silent:
            continue
        if isinstance(parent, ast.Compare):
            for at, operator in enumerate(parent.ops):
                other = _OPPOSITE.get(type(operator))
                if other is not None:
                    yield (
                        parent,
                        _setter(parent.ops, at, other()),
                        f"{type(operator).__name__} -> {other.__name__}",
                    )
        elif isinstance(parent, (ast.BoolOp, ast.BinOp, ast.AugAssign)):
            other = _OPPOSITE.get(type(parent.op))
            if other is not None:
                yield (
                    parent,
                    _attribute(parent, "op", other()),
                    f"{type(parent.op).__name__} -> {other.__name__}",
                )
        elif isinstance(parent, ast.If):
            yield parent, _attribute(parent, "test", ast.Constant(True)), "if ... -> if True"
            yield parent, _attribute(parent, "test", ast.Constant(False)), "if ... -> if False"
        elif isinstance(parent, ast.Constant) and type(parent.value) is bool:
            yield (
                parent,
                _attribute(parent, "value", not parent.value),
                f"{parent.value} -> {not parent.value}",
            )
        elif isinstance(parent, ast.Constant) and type(parent.value) is int:
            yield (
                parent,
                _attribute(parent, "value", parent.value + 1),
                f"{parent.value} -> {parent.value + 1}",
            )
        if isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.Not):
            yield parent, _attribute(parent, "op", ast.UAdd()), "not removed"
        for name in ("body", "orelse"):
            block = getattr(parent, name, None)
            if isinstance(parent, (ast.FunctionDef, ast.For, ast.While, ast.If)) and isinstance(
                block, list
            ):
                for at, item in enumerate(block):
                    if isinstance(item, (ast.Assign, ast.AugAssign, ast.Continue, ast.Break)) or (
                        isinstance(item, ast.Expr)
                        and isinstance(item.value, (ast.Call, ast.Yield, ast.YieldFrom))
                    ):
                        yield (
                            item,
                            _setter(block, at, ast.Pass()),
                            f"left out: {ast.unparse(item)[:60]}",
                        )


def _silent(tree: ast.Module) -> set[int]:
    """What is in arguments that are left as they are, and in annotations, which nothing evaluates."""
    tops: list[ast.expr | None] = []
    for node in ast.walk(tree):
        if isinstance(node, (ast.arg, ast.AnnAssign)):
            tops.append(node.annotation)
        elif isinstance(node, ast.FunctionDef):
            tops.append(node.returns)
        elif isinstance(node, ast.keyword) and node.arg in SILENT:
            tops.append(node.value)
    return {id(one) for top in tops if top is not None for one in ast.walk(top)}


def _setter(items: list, at: int, value: object) -> Callable[[], None]:
    def change() -> None:
        items[at] = value

    return change


def _attribute(node: ast.AST, name: str, value: object) -> Callable[[], None]:
    def change() -> None:
        setattr(node, name, value)

    return change
