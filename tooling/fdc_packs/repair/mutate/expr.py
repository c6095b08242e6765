"""Edits of expressions: operators, bounds, constants, names, members, arguments, conditions. No tree is printed, text is cut."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from .constant import constant_edits
from .source import Edit, Source, edit_of, enclosing, replaced

_COMPARE: dict[type[ast.cmpop], tuple[str, tuple[tuple[str, float], ...]]] = {
    ast.Lt: ("<", (("<=", 0.9), (">", 0.55), (">=", 0.45), ("!=", 0.2), ("==", 0.2))),
    ast.LtE: ("<=", (("<", 0.9), (">=", 0.55), (">", 0.45), ("==", 0.25), ("!=", 0.15))),
    ast.Gt: (">", ((">=", 0.9), ("<", 0.55), ("<=", 0.45), ("!=", 0.2), ("==", 0.2))),
    ast.GtE: (">=", ((">", 0.9), ("<=", 0.55), ("<", 0.45), ("==", 0.25), ("!=", 0.15))),
    ast.Eq: (
        "==",
        (("!=", 0.8), (">=", 0.3), ("<=", 0.3), ("in", 0.1), (">", 0.2), ("<", 0.2), ("is", 0.08)),
    ),
    ast.NotEq: (
        "!=",
        (("==", 0.8), ("<", 0.25), (">", 0.25), ("<=", 0.2), (">=", 0.2), ("not in", 0.08)),
    ),
    ast.Is: ("is", (("is not", 0.8), ("==", 0.15))),
    ast.IsNot: ("is not", (("is", 0.8), ("!=", 0.15))),
    ast.In: ("in", (("not in", 0.8), ("==", 0.12))),
    ast.NotIn: ("not in", (("in", 0.8), ("!=", 0.12))),
}
_BINARY: dict[type[ast.operator], tuple[str, tuple[tuple[str, float], ...]]] = {
    ast.Add: ("+", (("-", 0.6), ("*", 0.3), ("//", 0.15), ("/", 0.15), ("%", 0.15))),
    ast.Sub: ("-", (("+", 0.6), ("%", 0.15), ("*", 0.15), ("//", 0.15), ("/", 0.15))),
    ast.Mult: ("*", (("/", 0.3), ("+", 0.3), ("//", 0.25), ("-", 0.2), ("%", 0.2), ("**", 0.15))),
    ast.Div: ("/", (("//", 0.45), ("*", 0.35), ("+", 0.3), ("-", 0.25), ("%", 0.2))),
    ast.FloorDiv: ("//", (("/", 0.45), ("%", 0.45), ("+", 0.3), ("-", 0.25), ("*", 0.25))),
    ast.Mod: ("%", (("//", 0.45), ("+", 0.3), ("/", 0.25), ("*", 0.25), ("-", 0.25))),
    ast.Pow: ("**", (("*", 0.4),)),
    ast.LShift: ("<<", ((">>", 0.6),)),
    ast.RShift: (">>", (("<<", 0.6),)),
    ast.BitAnd: ("&", (("|", 0.6), ("^", 0.25))),
    ast.BitOr: ("|", (("&", 0.6), ("^", 0.25))),
    ast.BitXor: ("^", (("|", 0.3), ("&", 0.3))),
}


def edits(source: Source, nodes: Sequence[ast.AST]) -> Iterator[Edit]:  # noqa: C901
    """Every edit that the proposer knows of the expressions among `nodes`."""
    texts = sorted(
        {
            one.value
            for one in source.nodes
            if isinstance(one, ast.Constant) and isinstance(one.value, str)
        }
    )
    for node in nodes:
        if isinstance(node, ast.JoinedStr) or any(
            isinstance(up, ast.JoinedStr) for up in enclosing(source, node)
        ):
            continue  # places inside of f-strings are not to be trusted before Python 3.12
        if isinstance(node, ast.Compare):
            yield from _compare(source, node)
        elif isinstance(node, ast.BoolOp):
            yield from _boolean(source, node)
        elif isinstance(node, ast.BinOp):
            yield from _binary(source, node)
        elif isinstance(node, ast.UnaryOp):
            if isinstance(node.op, ast.Not | ast.USub | ast.Invert):
                kind = "negation" if isinstance(node.op, ast.Not) else "operand"
                yield replaced(
                    source,
                    kind,
                    node,
                    source.segment(node.operand),
                    0.6 if kind == "negation" else 0.4,
                )
        elif isinstance(node, ast.Constant):
            yield from constant_edits(source, node, texts)
        elif isinstance(node, ast.Call):
            yield from _call(source, node)
        elif isinstance(node, ast.Subscript):
            yield from _subscript(source, node)
        elif isinstance(node, ast.IfExp):
            swapped = (
                (node.body, source.segment(node.orelse)),
                (node.orelse, source.segment(node.body)),
            )
            pieces = tuple((source.start(one), source.end(one), text) for one, text in swapped)
            yield edit_of(source, "branches", node, pieces, 0.5)
        elif isinstance(node, ast.Tuple) and isinstance(node.ctx, ast.Load):
            yield from _swaps(source, node, node.elts, 0.25)
        elif isinstance(node, ast.DictComp):
            yield from _swaps(source, node, [node.key, node.value], 0.3)
        if isinstance(node, ast.If | ast.While | ast.IfExp | ast.Assert):
            yield from _condition(source, node.test)
        elif isinstance(node, ast.comprehension):
            for test in node.ifs:
                yield from _condition(source, test)
        elif (
            isinstance(node, ast.Return)
            and node.value is not None
            and not isinstance(node.value, ast.Constant)
        ):
            yield from _condition(source, node.value, 0.3)
            yield from _shift(source, node.value, 0.2)


def type_nodes(source: Source) -> set[ast.AST]:
    """What only says of which type something is: no fault of it fails a test."""
    roots = [getattr(one, name, None) for one in source.nodes for name in ("annotation", "returns")]
    return {one for root in roots if isinstance(root, ast.AST) for one in ast.walk(root)}


def _compare(source: Source, node: ast.Compare) -> Iterator[Edit]:
    left: ast.expr = node.left
    for op, right in zip(node.ops, node.comparators, strict=True):
        token, others = _COMPARE[type(op)]
        place = source.between(left, right, token)
        for other, prior in others if place else ():
            assert place is not None
            yield edit_of(source, "comparison", node, [(*place, other)], prior)
        left = right
    if len(node.ops) == 1 and isinstance(node.ops[0], ast.Lt | ast.LtE | ast.Gt | ast.GtE):
        for side in (node.left, node.comparators[0]):
            yield from _shift(source, side, 0.25)
    if (
        len(node.ops) == 1
        and isinstance(node.comparators[0], ast.Constant)
        and node.comparators[0].value is None
    ):
        plain = source.segment(node.left)
        if isinstance(node.ops[0], ast.IsNot):
            yield replaced(source, "condition", node, plain, 0.25)
        elif isinstance(node.ops[0], ast.Is):
            yield replaced(source, "condition", node, f"not {plain}", 0.25)


def _boolean(source: Source, node: ast.BoolOp) -> Iterator[Edit]:
    token, other = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
    places = [
        source.between(left, right, token)
        for left, right in zip(node.values, node.values[1:], strict=False)
    ]
    known = [place for place in places if place]
    if len(known) == len(places):
        yield edit_of(source, "boolean", node, [(*place, other) for place in known], 0.7)
        if len(known) > 1:
            for place in known:
                yield edit_of(source, "boolean", node, [(*place, other)], 0.3)
    for at, value in enumerate(node.values):
        if at:
            pieces = [(source.end(node.values[at - 1]), source.end(value), "")]
        else:
            pieces = [(source.start(value), source.start(node.values[1]), "")]
        yield edit_of(source, "operand", node, pieces, 0.25)
        if not isinstance(value, ast.Compare | ast.UnaryOp | ast.BoolOp):
            yield edit_of(
                source, "negation", node, [(source.start(value), source.start(value), "not ")], 0.4
            )
    first = node.values[0]
    if isinstance(first, ast.UnaryOp) and isinstance(first.op, ast.Not):
        start = source.start(first.operand)
        yield edit_of(
            source,
            "regroup",
            node,
            [(start, start, "("), (source.end(node), source.end(node), ")")],
            0.2,
        )


def _binary(source: Source, node: ast.BinOp) -> Iterator[Edit]:
    token, others = _BINARY.get(type(node.op), ("", ()))
    place = source.between(node.left, node.right, token) if token else None
    formats = (
        isinstance(node.op, ast.Mod)
        and isinstance(node.left, ast.Constant)
        and isinstance(node.left.value, str)
    )
    for other, prior in others if place and not formats else ():
        assert place is not None
        yield edit_of(source, "arithmetic", node, [(*place, other)], prior)
    for keep, gone in ((node.left, node.right), (node.right, node.left)):
        one = (
            isinstance(gone, ast.Constant)
            and gone.value in (1, -1)
            and isinstance(node.op, ast.Add | ast.Sub)
        )
        if not formats:
            yield replaced(
                source,
                "bound" if one else "operand",
                node,
                source.segment(keep),
                0.55 if one else 0.15,
            )
    if isinstance(node.op, ast.Sub | ast.Div | ast.FloorDiv | ast.Mod | ast.Pow) and not formats:
        yield from _swaps(source, node, [node.left, node.right], 0.3)
    for side, outer in ((node.left, node.right), (node.right, node.left)):
        loose = isinstance(side, ast.BinOp) and isinstance(
            side.op, ast.Mult | ast.Div | ast.FloorDiv | ast.Mod
        )
        if loose and isinstance(node.op, ast.Add | ast.Sub) and isinstance(side, ast.BinOp):
            if (
                side is node.right
                and source.text[source.end(outer) : source.start(side)].count("(") == 0
            ):
                pieces = [
                    (source.start(outer), source.start(outer), "("),
                    (source.end(side.left), source.end(side.left), ")"),
                ]
                yield edit_of(source, "regroup", node, pieces, 0.2)
            elif (
                side is node.left
                and source.text[source.end(side) : source.start(outer)].count(")") == 0
            ):
                pieces = [
                    (source.start(side.right), source.start(side.right), "("),
                    (source.end(outer), source.end(outer), ")"),
                ]
                yield edit_of(source, "regroup", node, pieces, 0.2)


def _shift(source: Source, node: ast.expr, prior: float) -> Iterator[Edit]:
    """A number that is one too small or too large. Constants have edits of their own."""
    if isinstance(node, ast.Name | ast.Call | ast.Attribute | ast.BinOp | ast.Subscript):
        text = source.segment(node)
        firm = ast.Add | ast.Sub | ast.Mult | ast.Div | ast.FloorDiv | ast.Mod
        loose = isinstance(node, ast.BinOp) and not isinstance(node.op, firm)
        text = f"({text})" if loose else text
        yield replaced(source, "bound", node, f"{text} + 1", prior)
        yield replaced(source, "bound", node, f"{text} - 1", prior)


def _call(source: Source, node: ast.Call) -> Iterator[Edit]:  # noqa: C901
    plain = [one for one in node.args if not isinstance(one, ast.Starred)]
    name = (
        node.func.id
        if isinstance(node.func, ast.Name)
        else node.func.attr
        if isinstance(node.func, ast.Attribute)
        else ""
    )
    if len(plain) == len(node.args):
        yield from _swaps(source, node, plain, 0.4 if len(plain) == 2 else 0.3)
    every = sorted([*node.args, *(one.value for one in node.keywords)], key=source.start)
    if len(every) > 1:
        for at, one in enumerate(every):
            if at:
                keyword = next((key for key in node.keywords if key.value is one), None)
                yield edit_of(
                    source,
                    "argument",
                    node,
                    [(source.end(every[at - 1]), source.end(keyword or one), "")],
                    0.2,
                )
    inside = source.end(node) - 1
    starred = any(isinstance(one, ast.Starred) for one in node.args) or bool(node.keywords)
    for other, line in source.names(node).items() if not starred else ():
        known = other in source.unused(node) and line <= node.lineno
        if known or (
            plain
            and len(source.names(node)) < 4
            and line < node.lineno
            and other not in ("self", "cls")
        ):
            text = f", {other}" if every else other
            yield edit_of(source, "added", node, [(inside, inside, text)], 0.5 if known else 0.1)
    if name == "range" and not node.keywords and plain:
        if len(plain) == 1:
            yield edit_of(
                source,
                "added",
                node,
                [(source.start(plain[0]), source.start(plain[0]), "1, ")],
                0.35,
            )
        for one in plain:
            yield from _shift(source, one, 0.45)
    elif name == "len":
        yield from _shift(source, node, 0.35)
    elif name == "enumerate" and len(every) == 1:
        yield edit_of(source, "added", node, [(inside, inside, ", 1")], 0.3)
    elif name in ("sorted", "sort") and not any(key.arg == "reverse" for key in node.keywords):
        yield edit_of(
            source,
            "added",
            node,
            [(inside, inside, ", reverse=True" if every else "reverse=True")],
            0.2,
        )
    elif name in ("split", "rsplit") and len(every) == 1 and not node.keywords:
        yield edit_of(source, "added", node, [(inside, inside, ", 1")], 0.2)
    if (
        isinstance(node.func, ast.Name)
        and len(every) == 1
        and plain
        and not isinstance(source.parents.get(node), ast.Expr)
    ):
        yield replaced(source, "unwrapped", node, source.segment(plain[0]), 0.25)
    elif (
        isinstance(node.func, ast.Attribute)
        and not every
        and not isinstance(source.parents.get(node), ast.Expr)
    ):
        yield replaced(source, "unwrapped", node, source.segment(node.func.value), 0.2)


def _swaps(
    source: Source, node: ast.AST, parts: Sequence[ast.expr], prior: float
) -> Iterator[Edit]:
    texts = [source.segment(one) for one in parts]
    for at in range(len(parts) - 1):
        for other in range(at + 1, min(len(parts), at + 3)):
            if texts[at] != texts[other]:
                loose = isinstance(node, ast.BinOp) and any(
                    isinstance(one, ast.BinOp) for one in parts
                )
                one, two = (f"({text})" if loose else text for text in (texts[at], texts[other]))
                first, second = parts[at], parts[other]
                pieces = [
                    (source.start(first), source.end(first), two),
                    (source.start(second), source.end(second), one),
                ]
                yield edit_of(source, "arguments", node, pieces, prior / (other - at))


def _subscript(source: Source, node: ast.Subscript) -> Iterator[Edit]:
    index = node.slice
    if isinstance(index, ast.Constant) and index.value == 0 and type(index.value) is int:
        return  # its neighbours are bounds already
    if isinstance(index, ast.Slice):
        for bound in (index.lower, index.upper):
            if bound is not None:
                yield from _shift(source, bound, 0.35)
                yield edit_of(
                    source, "slice", node, [(source.start(bound), source.end(bound), "")], 0.25
                )
        colon = source.text.find(
            ":", source.end(index.lower) if index.lower else source.end(node.value)
        )
        if index.upper is None and colon >= 0:
            yield edit_of(source, "slice", node, [(colon + 1, colon + 1, "-1")], 0.25)
        if index.lower is None and colon >= 0:
            yield edit_of(source, "slice", node, [(colon, colon, "1")], 0.25)
    elif isinstance(index, ast.UnaryOp):
        yield replaced(source, "bound", index, "0", 0.5)
    elif isinstance(node.ctx, ast.Load):
        yield from _shift(source, index, 0.3)


def _condition(source: Source, test: ast.expr, weight: float = 1.0) -> Iterator[Edit]:
    text = source.segment(test)
    if isinstance(test, ast.Compare) and len(test.ops) == 1 or isinstance(test, ast.UnaryOp):
        return  # the operator has edits of its own
    tight = isinstance(test, ast.Name | ast.Call | ast.Attribute | ast.Subscript)
    if weight == 1.0 or not tight or isinstance(test, ast.Call):
        yield replaced(
            source, "negation", test, f"not {text}" if tight else f"not ({text})", 0.5 * weight
        )
    if tight and weight == 1.0:
        yield replaced(source, "condition", test, f"{text} is not None", 0.25)
        yield replaced(source, "condition", test, f"{text} is None", 0.15)
