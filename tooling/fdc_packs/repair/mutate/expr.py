"""Edits of expressions: operators, bounds, constants, names, members, arguments, conditions. No tree is printed, text is cut."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from .source import Edit, Source

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
_ALIKE = (
    "append extend insert add", "lower upper casefold title capitalize swapcase", "strip lstrip rstrip",
    "find rfind index rindex", "split rsplit partition rpartition splitlines", "startswith endswith",
    "keys values items", "add discard remove update", "pop popleft", "append appendleft", "get pop setdefault",
    "union intersection difference symmetric_difference", "issubset issuperset isdisjoint", "read readline readlines",
    "encode decode", "isdigit isnumeric isdecimal isalpha isalnum", "ljust rjust center zfill",
    "removeprefix removesuffix", "match search fullmatch findall", "group groups", "start end", "ceil floor trunc",
    "min max", "any all", "sorted reversed list", "sum len", "int float round", "isinstance issubclass",
    "set list tuple", "str repr", "hasattr getattr", "bisect_left bisect_right", "heappush heappop",
    "islice takewhile dropwhile", "hour minute second", "year month day", "days seconds", "imag real",
    "lineno end_lineno", "popitem pop", "sub subn", "chr ord", "hex oct bin",
)  # fmt: skip
_BUILTIN = (
    "str",
    "len",
    "list",
    "int",
    "tuple",
    "iter",
    "set",
    "dict",
    "sorted",
    "max",
    "min",
    "sum",
    "next",
    "isinstance",
)
_BARE = ["lower", "upper", "strip", "items", "keys", "values", "copy", "clear"]
_GIVEN = ["update", "append", "get", "join", "split", "replace", "format", "add", "extend", "pop"]
_PEERS: dict[str, list[str]] = {}
for _row in _ALIKE:
    for _word in _row.split():
        _PEERS.setdefault(_word, []).extend(other for other in _row.split() if other != _word)


def edits(source: Source, nodes: Sequence[ast.AST]) -> Iterator[Edit]:
    """Every edit that the proposer knows of the expressions among `nodes`."""
    members = _members(source.tree)
    texts = sorted(
        {
            one.value
            for one in source.nodes
            if isinstance(one, ast.Constant) and isinstance(one.value, str)
        }
    )
    functions = [one.name for one in source.nodes if isinstance(one, ast.FunctionDef)]
    own = _own(source)
    notes = _annotations(source)
    for node in nodes:
        if node in notes:
            continue
        if isinstance(node, ast.JoinedStr) or any(
            isinstance(up, ast.JoinedStr) for up in _up(source, node)
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
                yield _replace(
                    source,
                    kind,
                    node,
                    source.segment(node.operand),
                    0.6 if kind == "negation" else 0.4,
                )
        elif isinstance(node, ast.Constant):
            yield from _constant(source, node, texts)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            yield from _name(source, node, functions, own)
        elif isinstance(node, ast.Attribute):
            yield from _attribute(source, node, members, own)
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
            yield _edit(source, "branches", node, pieces, 0.5)
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


def _annotations(source: Source) -> set[ast.AST]:
    """What only says of which type something is: no fault of it fails a test."""
    roots = [getattr(one, name, None) for one in source.nodes for name in ("annotation", "returns")]
    return {one for root in roots if isinstance(root, ast.AST) for one in ast.walk(root)}


def _up(source: Source, node: ast.AST) -> Iterator[ast.AST]:
    at = source.parents.get(node)
    while at is not None and not isinstance(at, ast.stmt):
        yield at
        at = source.parents.get(at)


def _members(tree: ast.AST) -> dict[str, int]:
    """The attributes that a file asks for, and how often."""
    found: dict[str, int] = {}
    for one in ast.walk(tree):
        if isinstance(one, ast.Attribute):
            found[one.attr] = found.get(one.attr, 0) + 1
    return found


def _edit(
    source: Source, kind: str, node: ast.AST, pieces: Sequence[tuple[int, int, str]], prior: float
) -> Edit:
    first, last = source.start(node), source.end(node)
    new = source.text[first:last]
    for start, end, text in sorted(pieces, reverse=True):
        new = new[: start - first] + text + new[end - first :]
    return Edit(kind, node, tuple(pieces), source.text[first:last], new, prior)


def _replace(source: Source, kind: str, node: ast.AST, text: str, prior: float) -> Edit:
    return _edit(source, kind, node, [(source.start(node), source.end(node), text)], prior)


def _compare(source: Source, node: ast.Compare) -> Iterator[Edit]:
    left: ast.expr = node.left
    for op, right in zip(node.ops, node.comparators, strict=True):
        token, others = _COMPARE[type(op)]
        place = source.between(left, right, token)
        for other, prior in others if place else ():
            assert place is not None
            yield _edit(source, "comparison", node, [(*place, other)], prior)
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
            yield _replace(source, "condition", node, plain, 0.25)
        elif isinstance(node.ops[0], ast.Is):
            yield _replace(source, "condition", node, f"not {plain}", 0.25)


def _boolean(source: Source, node: ast.BoolOp) -> Iterator[Edit]:
    token, other = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
    places = [
        source.between(left, right, token)
        for left, right in zip(node.values, node.values[1:], strict=False)
    ]
    known = [place for place in places if place]
    if len(known) == len(places):
        yield _edit(source, "boolean", node, [(*place, other) for place in known], 0.7)
        if len(known) > 1:
            for place in known:
                yield _edit(source, "boolean", node, [(*place, other)], 0.3)
    for at, value in enumerate(node.values):
        if at:
            pieces = [(source.end(node.values[at - 1]), source.end(value), "")]
        else:
            pieces = [(source.start(value), source.start(node.values[1]), "")]
        yield _edit(source, "operand", node, pieces, 0.25)
        if not isinstance(value, ast.Compare | ast.UnaryOp | ast.BoolOp):
            yield _edit(
                source, "negation", node, [(source.start(value), source.start(value), "not ")], 0.4
            )
    first = node.values[0]
    if isinstance(first, ast.UnaryOp) and isinstance(first.op, ast.Not):
        start = source.start(first.operand)
        yield _edit(
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
        yield _edit(source, "arithmetic", node, [(*place, other)], prior)
    for keep, gone in ((node.left, node.right), (node.right, node.left)):
        one = (
            isinstance(gone, ast.Constant)
            and gone.value in (1, -1)
            and isinstance(node.op, ast.Add | ast.Sub)
        )
        if not formats:
            yield _replace(
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
                yield _edit(source, "regroup", node, pieces, 0.2)
            elif (
                side is node.left
                and source.text[source.end(side) : source.start(outer)].count(")") == 0
            ):
                pieces = [
                    (source.start(side.right), source.start(side.right), "("),
                    (source.end(outer), source.end(outer), ")"),
                ]
                yield _edit(source, "regroup", node, pieces, 0.2)


def _shift(source: Source, node: ast.expr, prior: float) -> Iterator[Edit]:
    """A number that is one too small or too large. Constants have edits of their own."""
    if isinstance(node, ast.Name | ast.Call | ast.Attribute | ast.BinOp | ast.Subscript):
        text = source.segment(node)
        firm = ast.Add | ast.Sub | ast.Mult | ast.Div | ast.FloorDiv | ast.Mod
        loose = isinstance(node, ast.BinOp) and not isinstance(node.op, firm)
        text = f"({text})" if loose else text
        yield _replace(source, "bound", node, f"{text} + 1", prior)
        yield _replace(source, "bound", node, f"{text} - 1", prior)


def _constant(source: Source, node: ast.Constant, texts: list[str]) -> Iterator[Edit]:
    value = node.value
    parent = source.parents.get(node)
    if isinstance(parent, ast.Expr):
        return  # a docstring
    if isinstance(value, bool):
        yield _replace(source, "constant", node, str(not value), 0.7)
        yield _replace(source, "constant", node, "None", 0.2)
    elif isinstance(value, int):
        signed = isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.USub)
        at: ast.AST = parent if signed and parent is not None else node
        number = -value if signed else value
        radix = source.segment(node)[:2].lower()
        if radix in ("0x", "0b", "0o") and value > 255:
            return
        indexes = isinstance(
            source.parents.get(at), ast.Subscript | ast.Slice | ast.Compare | ast.BinOp
        )
        for other, prior in (
            (number + 1, 0.5),
            (number - 1, 0.5),
            (-number, 0.2),
            (number - 2, 0.25),
            (number + 2, 0.12),
        ):
            if other != number:
                text = str(other)
                loose = other < 0 and isinstance(
                    source.parents.get(at), ast.BinOp | ast.UnaryOp | ast.Attribute
                )
                yield _replace(
                    source,
                    "bound",
                    at,
                    f"({text})" if loose else text,
                    prior * (1.2 if indexes else 1.0),
                )
        if number and number % 10 == 0:
            yield _replace(source, "constant", at, str(number // 10), 0.3)
        if number > 1 and isinstance(source.parents.get(at), ast.Subscript):
            yield _replace(source, "bound", at, "0", 0.45)
        if abs(number) > 2:
            for other, prior in ((0, 0.12), (1, 0.12), (number * 10, 0.06), (number * 2, 0.06)):
                yield _replace(source, "constant", at, str(other), prior)
    elif isinstance(value, float):
        for fraction in (-value, value * 10, value / 10, 0.0, 1.0):
            if fraction != value:
                yield _replace(source, "constant", node, repr(fraction), 0.1)
    elif isinstance(value, str) and source.segment(node)[:1] in "'\"":
        quote = source.segment(node)[0]
        near = [
            (SequenceMatcher(None, value, text).ratio(), text)
            for text in texts
            if text != value and len(text) < 40
        ]
        wanted = [
            (text, 0.2 * ratio) for ratio, text in sorted(near, reverse=True)[:2] if ratio > 0.5
        ]
        wanted += [(" ", 0.2)] if value == "" else [("", 0.2)] if len(value) <= 2 else []
        wanted += [
            (text, 0.15)
            for text in (value.strip(), f"{value} ")
            if text != value and len(value) < 4
        ]
        wanted += [
            (text, 0.3) for text in (value.rstrip(), value.swapcase()) if text != value and text
        ]
        wanted += [(f"{value}{mark}", 0.12) for mark in "-_.,:/%" if len(value) < 2]
        for text, prior in wanted:
            if text.isprintable() and "\\" not in text and quote not in text:
                yield _replace(source, "constant", node, f"{quote}{text}{quote}", prior)
    elif value is None:
        for truth in ("False", "True"):
            yield _replace(
                source,
                "constant",
                node,
                truth,
                0.25 if not isinstance(parent, ast.Compare) else 0.1,
            )


@functools.lru_cache(maxsize=1 << 14)
def _alike(one: str, other: str) -> float:
    return SequenceMatcher(None, one.lower(), other.lower()).ratio()


def _closeness(one: str, other: str) -> float:
    return 0.5 * _alike(one, other) + (0.3 if one[:1] == other[:1] else 0.0)


def _name(source: Source, node: ast.Name, functions: list[str], own: set[str]) -> Iterator[Edit]:
    parent = source.parents.get(node)
    if isinstance(parent, ast.Call) and parent.func is node:
        for other in _PEERS.get(node.id, ()):
            yield _replace(
                source,
                "callee",
                node,
                other,
                0.6 if node.id in ("min", "max", "any", "all") else 0.35,
            )
        near = sorted(
            ((_alike(node.id, one), one) for one in set(functions) if one != node.id), reverse=True
        )
        for ratio, other in near[:2]:
            if ratio > 0.6:
                yield _replace(source, "callee", node, other, 0.35 * ratio)
        called = {
            one.func.id
            for one in source.nodes
            if isinstance(one, ast.Call) and isinstance(one.func, ast.Name)
        }
        idle = source.unused(node)
        if node.id in _BUILTIN:
            for other in _BUILTIN:
                if other != node.id:
                    yield _replace(source, "callee", node, other, 0.2)
        for other in sorted(
            name
            for name in source.names(node)
            if name != node.id and (name in called or name in idle)
        )[:4]:
            yield _replace(source, "callee", node, other, 0.5 if other in idle else 0.3)
        return
    bound = {} if _default(source, node) else source.names(node)
    idle = source.unused(node)
    if node.id not in bound and not bound:
        return
    usable = [(_closeness(node.id, name), name) for name, line in bound.items()
              if line <= node.lineno and name not in (node.id, "self", "cls", "_")]  # fmt: skip
    if isinstance(parent, ast.Attribute) and node.id in ("self", "cls"):
        return
    for number, (closeness, other) in enumerate(sorted(usable, reverse=True)):
        if number < 10 or other in idle:
            yield _replace(
                source,
                "name",
                node,
                other,
                (0.55 if other in idle else 0.3) * (0.7 + 0.5 * closeness),
            )
    if "self" in bound and node.id in own:
        yield _replace(source, "name", node, f"self.{node.id}", 0.3)


def _default(source: Source, node: ast.AST) -> bool:
    """True for what stands in the header of a function, where its own names are not known."""
    return any(isinstance(up, ast.arguments) for up in _up(source, node))


def _own(source: Source) -> set[str]:
    """The attributes of `self` that hold values, as far as a file shows."""
    return {
        one.attr for one in source.nodes if isinstance(one, ast.Attribute) and isinstance(one.value, ast.Name)
        and one.value.id == "self" and not _called(source, one)
    }  # fmt: skip


def _attribute(
    source: Source, node: ast.Attribute, members: dict[str, int], own: set[str]
) -> Iterator[Edit]:
    last = source.end(node)
    first = last - len(node.attr)
    if source.text[first:last] != node.attr:
        return
    called = isinstance(parent := source.parents.get(node), ast.Call) and parent.func is node
    others = {one: 0.4 if one in members else 0.2 for one in _PEERS.get(node.attr, ())}
    near = sorted(
        ((_alike(node.attr, one), one) for one in members if one != node.attr), reverse=True
    )
    for ratio, other in near[:3]:
        if ratio > 0.55:
            others.setdefault(other, 0.35 * ratio)
    for other in _beside(source, node, called):
        others.setdefault(other, 0.22)
    mine = isinstance(node.value, ast.Name) and node.value.id == "self" and not called
    if mine:
        for other in sorted(sorted(own - {node.attr}), key=lambda name: -_alike(node.attr, name))[
            :3
        ]:
            others.setdefault(other, 0.2)
    for other, prior in others.items():
        yield _edit(source, "attribute", node, [(first, last, other)], prior)
    if mine and node.attr in source.names(node):
        yield _replace(source, "name", node, node.attr, 0.25)


def _beside(source: Source, node: ast.Attribute, called: bool) -> list[str]:
    """Other members that the same function asks for, and common ones that are called in the same way."""
    around = source.function(node)
    found = (
        [one.attr for one in ast.walk(around) if isinstance(one, ast.Attribute)]
        if around is not None
        else []
    )
    parent = source.parents.get(node)
    if isinstance(parent, ast.Call) and called:
        found += _BARE if not parent.args and not parent.keywords else _GIVEN
    elif not called:
        found += ["__name__", "__class__", "__dict__"]
    return [one for one in dict.fromkeys(found) if one != node.attr][:16]


def _called(source: Source, node: ast.AST) -> bool:
    parent = source.parents.get(node)
    return isinstance(parent, ast.Call) and parent.func is node


def _call(source: Source, node: ast.Call) -> Iterator[Edit]:
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
                yield _edit(
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
            yield _edit(source, "added", node, [(inside, inside, text)], 0.5 if known else 0.1)
    if name == "range" and not node.keywords and plain:
        if len(plain) == 1:
            yield _edit(
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
        yield _edit(source, "added", node, [(inside, inside, ", 1")], 0.3)
    elif name in ("sorted", "sort") and not any(key.arg == "reverse" for key in node.keywords):
        yield _edit(
            source,
            "added",
            node,
            [(inside, inside, ", reverse=True" if every else "reverse=True")],
            0.2,
        )
    elif name in ("split", "rsplit") and len(every) == 1 and not node.keywords:
        yield _edit(source, "added", node, [(inside, inside, ", 1")], 0.2)
    if (
        isinstance(node.func, ast.Name)
        and len(every) == 1
        and plain
        and not isinstance(source.parents.get(node), ast.Expr)
    ):
        yield _replace(source, "unwrapped", node, source.segment(plain[0]), 0.25)
    elif (
        isinstance(node.func, ast.Attribute)
        and not every
        and not isinstance(source.parents.get(node), ast.Expr)
    ):
        yield _replace(source, "unwrapped", node, source.segment(node.func.value), 0.2)


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
                yield _edit(source, "arguments", node, pieces, prior / (other - at))


def _subscript(source: Source, node: ast.Subscript) -> Iterator[Edit]:
    index = node.slice
    if isinstance(index, ast.Constant) and index.value == 0 and type(index.value) is int:
        return  # its neighbours are bounds already
    if isinstance(index, ast.Slice):
        for bound in (index.lower, index.upper):
            if bound is not None:
                yield from _shift(source, bound, 0.35)
                yield _edit(
                    source, "slice", node, [(source.start(bound), source.end(bound), "")], 0.25
                )
        colon = source.text.find(
            ":", source.end(index.lower) if index.lower else source.end(node.value)
        )
        if index.upper is None and colon >= 0:
            yield _edit(source, "slice", node, [(colon + 1, colon + 1, "-1")], 0.25)
        if index.lower is None and colon >= 0:
            yield _edit(source, "slice", node, [(colon, colon, "1")], 0.25)
    elif isinstance(index, ast.UnaryOp):
        yield _replace(source, "bound", index, "0", 0.5)
    elif isinstance(node.ctx, ast.Load):
        yield from _shift(source, index, 0.3)


def _condition(source: Source, test: ast.expr, weight: float = 1.0) -> Iterator[Edit]:
    text = source.segment(test)
    if isinstance(test, ast.Compare) and len(test.ops) == 1 or isinstance(test, ast.UnaryOp):
        return  # the operator has edits of its own
    tight = isinstance(test, ast.Name | ast.Call | ast.Attribute | ast.Subscript)
    if weight == 1.0 or not tight or isinstance(test, ast.Call):
        yield _replace(
            source, "negation", test, f"not {text}" if tight else f"not ({text})", 0.5 * weight
        )
    if tight and weight == 1.0:
        yield _replace(source, "condition", test, f"{text} is not None", 0.25)
        yield _replace(source, "condition", test, f"{text} is None", 0.15)
