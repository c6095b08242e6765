"""The table of operators: what can be edited of which nodes. An operator gives texts for a node, or whole edits."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from . import calls, constants, statements, values, words
from .forgotten import argument, around, bound, converted, mirrored, statement, turning
from .known import Known
from .missing import absent, fallback, handed_up
from .source import Edit, Function

Operator = Callable[[Known, Any], Iterator[Any]]
_TESTED = ast.If | ast.While | ast.IfExp | ast.Assert | ast.comprehension | ast.Return
_WRAPPED = ast.Name | ast.Attribute | ast.Call | ast.Subscript | ast.Constant
_TIGHT = ast.Name | ast.Attribute | ast.Call
OPERATORS: tuple[tuple[Any, Operator], ...] = (
    (ast.Compare, values.compare), (ast.BoolOp, values.boolean), (ast.BinOp, values.binary), (ast.UnaryOp, values.unary),
    (ast.Call, values.call), (ast.Subscript, values.subscript), (ast.Subscript, bound.bounded), (ast.IfExp, values.conditional),
    (ast.Name | ast.Attribute, bound.part), (ast.Starred, bound.starred),
    (ast.Tuple | ast.DictComp, values.pairs), (_TESTED, values.question),
    (ast.Name, words.name), (ast.arg, words.parameter), (ast.Attribute, words.member), (ast.Constant, constants.constant),
    (ast.AugAssign, statements.augmented), (ast.Assign, statements.assigned),
    (ast.Assign, statements.gone_through), (ast.Assign, converted.stays),
    (ast.ExceptHandler | ast.Raise, statements.exceptions),
    (ast.Break | ast.Continue, statements.jump), (ast.Return | ast.Pass | ast.Continue, statements.ended),
    (ast.Expr, statements.value), (Function, statements.function), (Function, absent.absent),
    (ast.AST, statements.blocks), (ast.If, statements.cases),
    (ast.Pass, statement.statement), (ast.Expr, around.idle), (ast.stmt, around.inserted), (ast.Call, argument.well_known),
    (ast.Call, calls.arguments), (ast.Call, handed_up.handed_up), (ast.Call, argument.put_back),
    (ast.Call, argument.within_others),
    (ast.Compare, calls.likewise), (ast.Call, calls.as_elsewhere),
    (ast.GeneratorExp, converted.collected), (ast.Call, calls.awaited), (ast.Call, values.chained),
    (ast.Name, words.owned), (Function, words.parameters), (_TIGHT, values.signed),
    (ast.Attribute | ast.Subscript, calls.defaulted), (ast.Call | ast.Subscript | ast.Attribute, fallback.fallback),
    (around.Asking, around.conditions),
    (_WRAPPED, calls.wrapped), (ast.stmt, mirrored.mirrored), (ast.While, turning.forgotten),
)  # fmt: skip


def edits(known: Known, nodes: Sequence[ast.AST]) -> Iterator[Edit]:
    """Every edit that the table has for some nodes."""
    for node in nodes:
        inside = (node, *known.above(node))
        if not _placed(known, inside):
            continue
        default = any(isinstance(one, ast.arguments) for one in inside)
        for kinds, operator in OPERATORS:
            if isinstance(node, kinds) and not (default and operator in _NO_DEFAULTS):
                for row in operator(known, node):
                    if isinstance(row, Edit):
                        yield row
                    elif row[2] != known.segment(row[1]):
                        yield known.change(*row)


def _placed(known: Known, inside: Sequence[ast.AST]) -> bool:
    """Whether an expression, followed by those that it is in, stands where its place says.

    Before Python 3.12 that is not sure inside of an f-string: what stands there is read again.
    """
    strings = [number for number, one in enumerate(inside) if isinstance(one, ast.JoinedStr)]
    if not strings:
        return True
    if len(strings) > 1 or strings[0] < 2:
        return False  # the f-string, a part of its text, a format
    whole = inside[strings[0] - 2]
    try:
        read = ast.parse(f"({known.segment(whole)})", mode="eval").body
    except (SyntaxError, ValueError, IndexError):
        return False
    return ast.dump(read) == ast.dump(whole)


_NO_DEFAULTS = (argument.well_known, calls.arguments, calls.wrapped)
