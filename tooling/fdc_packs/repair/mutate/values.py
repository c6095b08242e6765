"""Operators on expressions: what they compare and compute, their bounds, conditions, calls and indexes."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence

from . import periods
from .kinds import OTHERS
from .known import Known
from .source import name_of

Row = tuple[str, ast.AST, str, float]
"""A kind of edit, the node, the text in its place, how often a fault is of this kind."""
MOST = 24
"""Names, members or functions that are tried in one place."""
_TOKENS: dict[type[ast.AST], str] = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=", ast.Is: "is", ast.IsNot: "is not",
    ast.In: "in", ast.NotIn: "not in", ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%",
    ast.Pow: "**", ast.LShift: "<<", ast.RShift: ">>", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.And: "and",
    ast.Or: "or",
}  # fmt: skip
_ORDERED = ast.Lt | ast.LtE | ast.Gt | ast.GtE
_TIGHT = ast.Name | ast.Call | ast.Attribute | ast.Subscript
_COUNTED = ast.Name | ast.Call | ast.Attribute | ast.BinOp | ast.Subscript
BINDS = ast.BinOp | ast.UnaryOp | ast.Attribute | ast.Subscript | ast.Await
"""What binds its operand closer than an operator in it."""
_FILLS = re.compile(r"%(?:\(\w+\))?[-+#0 ]*\d*(?:\.\d+)?[sdrfgx]")
_OF_ONE = ("isinstance", "issubclass", "getattr", "hasattr", "setattr", "delattr")
ODDLY = 0.95
"""How often `not x is None` is a `not` too many: people and formatters write `x is not None`."""
ALIKE = 0.2
"""How often an operator between two operands that are the same is wrong, beside one between others: an operand is."""
_TYPES = ("str", "int", "list", "dict", "tuple", "bytes", "float", "set")


class Found(dict[str, float]):
    """Texts that could stand in a place, each with the most that anything says for it."""

    def raise_to(self, text: str, prior: float) -> None:
        """What is said for a text, if it is more than before."""
        self[text] = max(prior, self.get(text, 0.0))

    def raise_all(self, said: Iterable[tuple[str, float]], scale: float = 1.0) -> None:
        """The same for several."""
        for text, prior in said:
            self.raise_to(text, prior * scale)

    def rows(self, kind: str, node: ast.AST, most: int = MOST, scale: float = 1.0) -> Iterator[Row]:
        """The best of them."""
        for text in sorted(self, key=lambda one: -self[one])[:most]:
            yield kind, node, text, self[text] * scale


def token_of(op: ast.AST) -> str:
    """How an operator is written; empty for one that is not edited."""
    return _TOKENS.get(type(op), "")


def exchanged(
    known: Known, kind: str, node: ast.AST, left: ast.AST, right: ast.AST, token: str, scale: float = 1.0
) -> Iterator[Row]:  # fmt: skip
    """Another operator between two operands, as the table has them."""
    place = known.between(left, right, token) if token else None
    if place and known.segment(left) == known.segment(right):
        scale *= ALIKE
    for other, prior in OTHERS.get(token, ()) if place else ():
        assert place is not None
        yield kind, node, known.cut(node, (*place, other)), prior * scale


def compare(known: Known, node: ast.Compare) -> Iterator[Row]:
    """Another comparison, a bound shifted by one; a question about None as one about truth."""
    sides = [node.left, *node.comparators]
    for left, op, right in zip(sides, node.ops, sides[1:], strict=False):
        yield from exchanged(known, "comparison", node, left, right, token_of(op))
    if len(node.ops) > 1:
        return
    left, right = sides
    if isinstance(node.ops[0], _ORDERED):
        for side in sides:
            yield from shifted(known, node, side, 0.25)
    if (
        isinstance(right, ast.Constant)
        and right.value is None
        and isinstance(node.ops[0], ast.Is | ast.IsNot)
    ):
        mark = "" if isinstance(node.ops[0], ast.IsNot) else "not "
        yield "condition", node, mark + known.segment(left), 0.25
    if isinstance(right, ast.Constant) and isinstance(node.ops[0], ast.Eq | ast.NotEq):
        word = "in" if isinstance(node.ops[0], ast.Eq) else "not in"
        place = known.between(left, right, token_of(node.ops[0]))
        texts = dict.fromkeys([*known.told.texts, *sorted(known.texts, key=len)[:40]])
        for text in texts if place and isinstance(right.value, str) else ():
            assert place is not None
            if text != right.value and text and len(text) < 12 and text.isprintable():
                pair = f"({known.segment(right)}, {text!r})"
                yield (
                    "widened",
                    node,
                    known.cut(node, (*place, word), (known.start(right), known.end(right), pair)),
                    0.12 if text in known.told.texts else 0.04,
                )


def boolean(known: Known, node: ast.BoolOp) -> Iterator[Row]:
    """`and` for `or`, an operand less, an operand negated, the first `not` for the whole."""
    token = token_of(node.op)
    other = OTHERS[token][0][0]
    places = [
        known.between(one, two, token)
        for one, two in zip(node.values, node.values[1:], strict=False)
    ]
    sound = [place for place in places if place]
    if len(sound) == len(places):
        yield "boolean", node, known.cut(node, *((*place, other) for place in sound)), 0.7
        for place in sound if len(sound) > 1 else ():
            yield "boolean", node, known.cut(node, (*place, other)), 0.3
    for at, value in enumerate(node.values):
        gone = (
            (known.end(node.values[at - 1]), known.end(value))
            if at
            else (known.start(value), known.start(node.values[1]))
        )
        yield "operand", node, known.cut(node, (*gone, "")), 0.25
        if not isinstance(value, ast.Compare | ast.UnaryOp | ast.BoolOp):
            yield "negation", node, known.swap(node, {value: f"not {known.segment(value)}"}), 0.4
    first = node.values[0]
    if isinstance(first, ast.UnaryOp) and isinstance(first.op, ast.Not):
        start, end = known.start(first.operand), known.end(node)
        yield "regroup", node, known.cut(node, (start, start, "("), (end, end, ")")), 0.2


def binary(known: Known, node: ast.BinOp) -> Iterator[Row]:
    """Another operator, an operand less, both exchanged, the operands grouped otherwise."""
    if (
        isinstance(node.op, ast.Mod)
        and isinstance(node.left, ast.Constant)
        and isinstance(node.left.value, str)
    ):
        return  # a text that is filled in
    if (
        isinstance(node.left, ast.Constant)
        and _FILLS.search(str(node.left.value))
        and not isinstance(node.op, ast.Add)
    ):
        place = known.between(node.left, node.right, token_of(node.op))
        if place and isinstance(
            node.left.value, str
        ):  # nothing else can be done with a text that has places to fill in
            yield "arithmetic", node, known.cut(node, (*place, "%")), ODDLY
    yield from exchanged(known, "arithmetic", node, node.left, node.right, token_of(node.op))
    for keep, gone in ((node.left, node.right), (node.right, node.left)):
        unit = (
            isinstance(gone, ast.Constant)
            and gone.value in (1, -1)
            and isinstance(node.op, ast.Add | ast.Sub)
        )
        yield "bound" if unit else "operand", node, known.segment(keep), 0.55 if unit else 0.15
    if isinstance(node.op, ast.Sub | ast.Div | ast.FloorDiv | ast.Mod | ast.Pow):
        yield from swaps(known, node, [node.left, node.right], 0.3)
    if isinstance(node.op, ast.Add | ast.Sub):
        tight = isinstance(known.parents.get(node), BINDS)
        for form, prior in periods.of(known, node, tight):
            yield "wrapped", node, form, prior
        for side, outer in ((node.left, node.right), (node.right, node.left)):
            if isinstance(side, ast.BinOp) and isinstance(
                side.op, ast.Mult | ast.Div | ast.FloorDiv | ast.Mod
            ):
                last = side is node.right
                gap = (
                    (known.end(outer), known.start(side))
                    if last
                    else (known.end(side), known.start(outer))
                )
                first, end = (outer, side.left) if last else (side.right, outer)
                if not set("()") & set(known.text[slice(*gap)]):
                    opened, closed = known.start(first), known.end(end)
                    yield (
                        "regroup",
                        node,
                        known.cut(node, (opened, opened, "("), (closed, closed, ")")),
                        0.2,
                    )


def unary(known: Known, node: ast.UnaryOp) -> Iterator[Row]:
    """The operand as it is."""
    if not isinstance(node.op, ast.UAdd):
        kind, prior = ("negation", 0.6) if isinstance(node.op, ast.Not) else ("operand", 0.4)
        yield kind, node, known.segment(node.operand), ODDLY if known.oddly_negated(node) else prior
    if isinstance(node.op, ast.Not) and isinstance(node.operand, _TIGHT) and not _never_none(known, node.operand):  # fmt: skip
        yield "condition", node, f"{known.segment(node.operand)} is None", 0.2


def _never_none(known: Known, node: ast.expr) -> bool:
    """True for a parameter that is true or false where it is not given, and for the answer of a question."""
    return known.is_switch(node) or _is_truth(node)


def _is_truth(node: ast.expr) -> bool:
    """True for the answer of a question."""
    said = name_of(node.func) if isinstance(node, ast.Call) else ""
    return said.startswith(("is", "has", "startswith", "endswith")) or said in (
        "callable",
        "any",
        "all",
    )


def shifted(known: Known, node: ast.AST, part: ast.expr, prior: float) -> Iterator[Row]:
    """A number that is one too small or too large. Constants have edits of their own."""
    if isinstance(part, _COUNTED):
        text = known.segment(part)
        firm = ast.Add | ast.Sub | ast.Mult | ast.Div | ast.FloorDiv | ast.Mod
        text = (
            f"({text})" if isinstance(part, ast.BinOp) and not isinstance(part.op, firm) else text
        )
        for end in ("+ 1", "- 1"):
            yield "bound", node, known.swap(node, {part: f"{text} {end}"}), prior


def signed(known: Known, node: ast.expr) -> Iterator[Row]:
    """A bound, an index, an argument or a result in the other direction."""
    up = known.parents.get(node)
    ends = isinstance(up, ast.Slice) or (isinstance(up, ast.Subscript) and up.slice is node)
    given = isinstance(up, ast.Return) or (isinstance(up, ast.Call) and node in up.args)
    if (ends or given) and not isinstance(node.ctx if hasattr(node, "ctx") else None, ast.Store):
        yield "sign", node, f"-{known.segment(node)}", 0.2 if ends else 0.06


def wrong_way(node: ast.Call) -> bool:
    """True where a text or a type stands where the value belongs that is asked about, and none where that belongs."""
    plain = [
        isinstance(one, ast.Constant) or (isinstance(one, ast.Name) and one.id in _TYPES)
        for one in node.args[:2]
    ]
    return name_of(node.func) in _OF_ONE and plain == [True, False]


def swaps(known: Known, node: ast.AST, parts: Sequence[ast.expr], prior: float) -> Iterator[Row]:
    """Two neighbours, or next ones but one, in each other's place."""
    loose = isinstance(node, ast.BinOp) and any(isinstance(one, ast.BinOp) for one in parts)
    for at, one in enumerate(parts):
        for far, other in enumerate(parts[at + 1 : at + 3], 1):
            texts = [
                f"({known.segment(part)})" if loose else known.segment(part)
                for part in (other, one)
            ]
            if texts[0] != texts[1]:
                yield (
                    "arguments",
                    node,
                    known.swap(node, {one: texts[0], other: texts[1]}),
                    prior / far,
                )


def chained(known: Known, node: ast.Call) -> Iterator[Row]:
    """What two calls of one method after each other are given, exchanged: `.replace("a", "b").replace("b", "c")`."""
    inner = node.func.value if isinstance(node.func, ast.Attribute) else None
    if isinstance(inner, ast.Call) and name_of(inner.func) == name_of(node.func) and node.args:
        given = [(known.end(one.func), known.end(one)) for one in (inner, node)]
        texts = [known.text[start:end] for start, end in given]
        if "\n" not in "".join(texts):
            pieces = ((*given[0], texts[1]), (*given[1], texts[0]))
            yield "arguments", node, known.cut(node, *pieces), 0.3


def call(known: Known, node: ast.Call) -> Iterator[Row]:  # noqa: C901
    """Arguments in another order, one less, one more that everybody knows of; the argument as it is."""
    name = name_of(node.func)
    plain = [one for one in node.args if not isinstance(one, ast.Starred)]
    every = sorted([*node.args, *(one.value for one in node.keywords)], key=known.start)
    if len(plain) == len(node.args):
        firm = ODDLY if wrong_way(node) else 0.4 if len(plain) == 2 else 0.3
        yield from swaps(known, node, plain, firm)
    if wrong_way(node):
        return  # no other argument makes sense of it
    for before, part in zip(every, every[1:], strict=False):
        whole = next((one for one in node.keywords if one.value is part), part)
        yield "argument", node, known.cut(node, (known.end(before), known.end(whole), "")), 0.2
    inside = known.end(node) - 1
    comma = known.text[:inside].rstrip().endswith(",")

    def more(text: str) -> str:
        return known.cut(
            node, (inside, inside, f"{' ' if comma else ', '}{text}" if every else text)
        )

    names = known.names(node)
    for other, line in names.items() if plain == node.args and not node.keywords else ():
        idle = other in known.unused(node) and line <= node.lineno
        if idle or (
            plain and len(names) < 4 and line < node.lineno and other not in ("self", "cls")
        ):
            yield "added", node, more(other), 0.5 if idle else 0.1
    if name == "range" and not node.keywords and plain:
        if len(plain) == 1:
            yield "added", node, known.swap(node, {plain[0]: f"1, {known.segment(plain[0])}"}), 0.35
        for one in plain:
            yield from shifted(known, node, one, 0.45)
    elif name == "len":
        yield from shifted(known, node, node, 0.35)
    elif name in ("sorted", "sort") and not any(one.arg == "reverse" for one in node.keywords):
        yield "added", node, more("reverse=True"), 0.2
    elif name in ("pop", "get", "getattr", "next") and len(every) == 1 + (name == "getattr"):
        for rank, text in enumerate(("None", "0", "1", "False", "True", "''", "()")):
            yield "added", node, more(text), 0.35 - 0.01 * rank
    elif name in ("split", "rsplit", "enumerate") and len(every) == 1 and not node.keywords:
        yield "added", node, more("1"), 0.2
    elif name in ("encode", "decode") and len(every) == 1:
        for rank, text in enumerate(("ignore", "replace", "surrogateescape", "backslashreplace")):
            yield "added", node, more(repr(text)), 0.3 - 0.02 * rank
    elif name == "isinstance" and len(plain) == 2:
        yield from widened(known, plain[1], [*known.classes, *_TYPES])
    if not isinstance(known.parents.get(node), ast.Expr):
        if isinstance(node.func, ast.Name) and len(every) == 1 and plain:
            yield "unwrapped", node, known.segment(plain[0]), 0.25
        elif isinstance(node.func, ast.Attribute) and not every:
            yield "unwrapped", node, known.segment(node.func.value), 0.2


def widened(
    known: Known, node: ast.expr, names: Sequence[str], prior: float = 0.15
) -> Iterator[Row]:
    """One of several where there is one: of types, of exceptions."""
    old = known.segment(node)
    parts = [known.segment(one) for one in node.elts] if isinstance(node, ast.Tuple) else [old]
    for rank, name in enumerate(one for one in dict.fromkeys(names) if one not in parts):
        yield "widened", node, f"({', '.join([*parts, name])})", prior - 0.004 * min(rank, 20)


def subscript(known: Known, node: ast.Subscript) -> Iterator[Row]:
    """Another bound of a slice, another index, a lookup that has a default."""
    index = node.slice
    if isinstance(index, ast.Slice):
        for bound in (index.lower, index.upper):
            if bound is not None:
                yield from shifted(known, node, bound, 0.35)
                yield "slice", node, known.swap(node, {bound: ""}), 0.25
        colon = known.text.find(":", known.end(index.lower or node.value))
        if colon >= 0 and index.upper is None:
            yield "slice", node, known.cut(node, (colon + 1, colon + 1, "-1")), 0.25
        for name in sorted(known.unused(node)) if colon >= 0 else ():
            for bound, place in ((index.lower, colon), (index.upper, colon + 1)):
                if bound is None:
                    yield "slice", node, known.cut(node, (place, place, name)), 0.5
        if colon >= 0 and index.lower is None:
            yield "slice", node, known.cut(node, (colon, colon, "1")), 0.25
        return
    if isinstance(index, ast.UnaryOp):
        yield "bound", index, "0", 0.5
    elif isinstance(node.ctx, ast.Load) and not isinstance(index, ast.Constant):
        yield from shifted(known, node, index, 0.3)
    if isinstance(node.ctx, ast.Load) and not isinstance(index, ast.Tuple):
        yield "lookup", node, f"{known.segment(node.value)}.get({known.segment(index)})", 0.12


def conditional(known: Known, node: ast.IfExp) -> Iterator[Row]:
    """The branches exchanged."""
    texts: dict[ast.AST, str] = {
        node.body: known.segment(node.orelse),
        node.orelse: known.segment(node.body),
    }
    yield "branches", node, known.swap(node, texts), 0.5


def pairs(known: Known, node: ast.Tuple | ast.DictComp) -> Iterator[Row]:
    """Two values of a tuple, two names that get those of another, or key and value, exchanged."""
    if isinstance(node, ast.DictComp):
        yield from swaps(known, node, [node.key, node.value], 0.3)
    elif not isinstance(node.ctx, ast.Del):
        yield from swaps(known, node, node.elts, 0.25)


def question(known: Known, node: ast.AST) -> Iterator[Row]:
    """A condition negated, or asked about None."""
    if isinstance(node, ast.Return):
        if node.value is not None and not isinstance(node.value, ast.Constant):
            yield from _question(known, node.value, 0.3)
            yield from shifted(known, node, node.value, 0.2)
        return
    for test in node.ifs if isinstance(node, ast.comprehension) else [node.test]:  # type: ignore[attr-defined]
        yield from _question(known, test, 1.0)


def _question(known: Known, test: ast.expr, weight: float) -> Iterator[Row]:
    if isinstance(test, ast.Compare) and len(test.ops) == 1 or isinstance(test, ast.UnaryOp):
        return  # the operator has edits of its own
    text, tight = known.segment(test), isinstance(test, _TIGHT)
    if weight == 1.0 or not tight or isinstance(test, ast.Call):
        yield "negation", test, f"not {text}" if tight else f"not ({text})", 0.5 * weight
    if tight and weight == 1.0 and not _never_none(known, test):
        yield "condition", test, f"{text} is not None", 0.25
        yield "condition", test, f"{text} is None", 0.15
