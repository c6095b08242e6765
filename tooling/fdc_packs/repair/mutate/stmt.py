"""Edits of statements: how a target comes to its value, which exception, which jump, what is returned, what stands where."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from .source import Edit, Source, simple

_EXCEPTIONS = {
    "KeyError": ("IndexError", "LookupError", "AttributeError"), "IndexError": ("KeyError", "LookupError", "ValueError"),
    "LookupError": ("KeyError", "IndexError"), "ValueError": ("TypeError", "KeyError", "Exception"),
    "TypeError": ("ValueError", "AttributeError", "Exception"), "AttributeError": ("TypeError", "KeyError", "NameError"),
    "OSError": ("ValueError", "FileNotFoundError", "Exception"), "FileNotFoundError": ("OSError", "PermissionError"),
    "StopIteration": ("IndexError", "Exception"), "ImportError": ("ModuleNotFoundError", "AttributeError"),
    "UnicodeDecodeError": ("UnicodeEncodeError", "ValueError"), "UnicodeEncodeError": ("UnicodeDecodeError", "ValueError"),
    "ZeroDivisionError": ("ValueError", "ArithmeticError", "OverflowError"), "OverflowError": ("ValueError", "ZeroDivisionError"),
    "RuntimeError": ("ValueError", "Exception"), "NotImplementedError": ("TypeError", "ValueError"),
    "AssertionError": ("ValueError",), "Exception": ("BaseException",),
}  # fmt: skip
_COMMON = (
    "TypeError",
    "ValueError",
    "KeyError",
    "IndexError",
    "AttributeError",
    "RuntimeError",
    "StopIteration",
)
_PURE = frozenset(
    "join format replace lower upper strip lstrip rstrip split title get items keys values copy sub match search encode decode"
    " from_iterable".split()
)
_AUGMENTED: dict[type[ast.operator], tuple[str, tuple[str, ...]]] = {
    ast.Add: ("+=", ("-=", "=")), ast.Sub: ("-=", ("+=", "=")), ast.Mult: ("*=", ("/=", "+=")), ast.Div: ("/=", ("*=", "//=")),
    ast.FloorDiv: ("//=", ("/=", "%=")), ast.Mod: ("%=", ("//=",)), ast.BitOr: ("|=", ("&=", "=")),
    ast.BitAnd: ("&=", ("|=", "=")), ast.LShift: ("<<=", (">>=",)), ast.RShift: (">>=", ("<<=",)),
    ast.BitXor: ("^=", ("|=",)), ast.Pow: ("**=", ("*=",)),
}  # fmt: skip

_DEFINED = ast.FunctionDef | ast.AsyncFunctionDef
_COMPOUND = (
    ast.For | ast.AsyncFor | ast.While | ast.If | ast.With | ast.AsyncWith | ast.Try | _DEFINED
)


def edits(source: Source, nodes: Sequence[ast.AST]) -> Iterator[Edit]:
    """Every edit that the proposer knows of the statements among `nodes`."""
    for node in nodes:
        if isinstance(node, ast.AugAssign):
            token, others = _AUGMENTED.get(type(node.op), ("", ()))
            place = source.between(node.target, node.value, token) if token else None
            rest = [
                other
                for other in ("+=", "-=", "*=", "//=", "/=", "%=", "|=", "&=")
                if other not in (token, *others)
            ]
            for other in (*others, *rest) if place else ():
                assert place is not None
                prior = (
                    0.35
                    if other == "="
                    else 0.6
                    if other in others
                    else 0.3
                    if other in ("+=", "-=")
                    else 0.12
                )
                yield _piece(source, "assignment", node, (*place, other), prior)
        elif (
            isinstance(node, ast.Assign)
            and len(node.targets) == 1
            and isinstance(node.targets[0], ast.Name | ast.Attribute)
        ):
            yield from _assign(source, node)
        elif isinstance(node, ast.ExceptHandler) and node.type is not None:
            yield from _exceptions(source, node.type, 0.45)
        elif isinstance(node, ast.Raise) and node.exc is not None:
            yield from _exceptions(
                source, node.exc.func if isinstance(node.exc, ast.Call) else node.exc, 0.4
            )
        elif isinstance(node, ast.Break | ast.Continue):
            yield _piece(
                source, "flow", node, (source.start(node), source.end(node), _other(node)), 0.5
            )
        elif isinstance(node, ast.Expr) and not isinstance(
            node.value, ast.Yield | ast.YieldFrom | ast.Await
        ):
            if isinstance(node.value, ast.Constant) and isinstance(
                node.value.value, str | type(...)
            ):
                continue
            function = source.function(node)
            if function is not None:
                gives = any(
                    isinstance(one, ast.Return) and one.value is not None
                    for one in ast.walk(function)
                )
                called = node.value.func if isinstance(node.value, ast.Call) else None
                without = (
                    called is None or isinstance(called, ast.Attribute) and called.attr in _PURE
                )  # nobody takes the value
                last = function.body[-1] is node
                weight = 0.9 if without else 0.45 if gives or last else 0.25
                yield _piece(
                    source,
                    "return",
                    node,
                    (source.start(node), source.start(node), "return "),
                    weight,
                )
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from _function(source, node)
        for block in _blocks(node):
            yield from _block(source, node, block)


def _other(node: ast.AST) -> str:
    return "continue" if isinstance(node, ast.Break) else "break"


def _piece(
    source: Source, kind: str, node: ast.AST, piece: tuple[int, int, str], prior: float
) -> Edit:
    first, last = source.start(node), source.end(node)
    start, end, text = piece
    new = source.text[first:start] + text + source.text[end:last]
    return Edit(kind, node, (piece,), source.text[first:last], new, prior)


def _blocks(node: ast.AST) -> Iterator[list[ast.stmt]]:
    for name in ("body", "orelse", "finalbody"):
        block = getattr(node, name, None)
        if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
            yield block


def _assign(source: Source, node: ast.Assign) -> Iterator[Edit]:
    target = node.targets[0]
    place = source.between(target, node.value, "=")
    if place and source.function(node) is not None:
        known = (
            not isinstance(target, ast.Name)
            or source.names(node).get(target.id, node.lineno) < node.lineno
        )
        for token in ("+=", "-=") if known else ():
            yield _piece(source, "assignment", node, (*place, token), 0.3 if token == "+=" else 0.1)


def _exceptions(source: Source, node: ast.expr, prior: float) -> Iterator[Edit]:
    named = node.elts if isinstance(node, ast.Tuple) else [node]
    for one in named:
        known = _EXCEPTIONS.get(one.id, ()) if isinstance(one, ast.Name) else ()
        for other in (*known, *(name for name in _COMMON if known and name not in known)):
            weight = prior if other in known else prior / 2
            yield _piece(
                source, "exception", one, (source.start(one), source.end(one), other), weight
            )


def _function(source: Source, node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[Edit]:
    inside = [one for one in ast.walk(node) if one is not node]
    gives = any(
        isinstance(one, ast.Yield | ast.YieldFrom) or (isinstance(one, ast.Return) and one.value)
        for one in inside
    )
    last = node.body[-1]
    if not isinstance(last, ast.Return | ast.Raise) and not (
        gives and isinstance(last, ast.If | ast.Try | ast.With)
    ):
        locals_ = [name for name in source.names(last) if name not in ("self", "cls")]
        named = [
            name
            for name in ("result", "results", "out", "output", "ret", "res", "value")
            if name in locals_
        ]
        stored = [
            one.id for one in inside if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)
        ]
        if not any(isinstance(one, ast.Yield | ast.YieldFrom) for one in inside):
            for name in list(dict.fromkeys([*named, *stored[:1], *stored[-1:]]))[:3]:
                yield _after(source, last, f"return {name}", "return", 0.35)
    recursive = [
        one for one in inside if isinstance(one, ast.Call) and _called_name(one) == node.name
    ]
    arguments = [one.arg for one in node.args.args if one.arg not in ("self", "cls")]
    first = (
        node.body[1]
        if len(node.body) > 1 and ast.get_docstring(node, clean=False) is not None
        else node.body[0]
    )
    guarded = isinstance(first, ast.If)
    if recursive and arguments and not guarded:
        name = arguments[0]
        for test, value in (
            (f"not {name}", name),
            (f"{name} <= 0", "0"),
            (f"{name} <= 1", "1"),
            (f"{name} == 0", "1"),
        ):
            guard = f"if {test}: return {value}"
            yield _before(source, first, guard)


def _called_name(node: ast.Call) -> str:
    return (
        node.func.id
        if isinstance(node.func, ast.Name)
        else node.func.attr
        if isinstance(node.func, ast.Attribute)
        else ""
    )


def _indent(source: Source, node: ast.AST) -> str | None:
    """The white space before a statement that stands alone at the head of its line."""
    start = source.start(node)
    line = source.text.rfind("\n", 0, start) + 1
    return source.text[line:start] if not source.text[line:start].strip() else None


def _newline(source: Source) -> str:
    return "\r\n" if "\r\n" in source.text else "\n"


def _after(source: Source, node: ast.stmt, text: str, kind: str, prior: float) -> Edit:
    indent = _indent(source, node)
    place = source.end(node)
    new = f"{_newline(source)}{indent}{text}" if indent is not None else f"; {text}"
    return Edit(kind, node, ((place, place, new),), "the end of the function", text, prior)


def _before(source: Source, node: ast.stmt, text: str) -> Edit:
    place = source.start(node)
    return Edit(
        "base",
        node,
        ((place, place, f"{text}{_newline(source)}{_indent(source, node) or ''}"),),
        "",
        text,
        0.15,
    )


def _block(source: Source, owner: ast.AST, block: Sequence[ast.stmt]) -> Iterator[Edit]:
    for at, one in enumerate(block):
        if not simple(one) or isinstance(
            one, ast.Pass | ast.Import | ast.ImportFrom | ast.Global | ast.Nonlocal
        ):
            continue
        docstring = isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant)
        if docstring or not isinstance(
            source.function(one), ast.FunctionDef | ast.AsyncFunctionDef
        ):
            continue
        text = source.segment(one)
        yield Edit(
            "removed", one, ((source.start(one), source.end(one), "pass"),), text, "pass", 0.15
        )
        following = block[at + 1] if at + 1 < len(block) else None
        if (
            following is not None
            and simple(following)
            and not isinstance(following, ast.Return | ast.Raise)
        ):
            pieces = ((source.start(one), source.end(one), source.segment(following)),
                      (source.start(following), source.end(following), text))  # fmt: skip
            if "\n" not in text and "\n" not in pieces[0][2]:
                yield Edit("order", one, pieces, text, source.segment(following), 0.12)
    yield from _moved(source, owner, block)


def _moved(source: Source, owner: ast.AST, block: Sequence[ast.stmt]) -> Iterator[Edit]:
    """The last statement of a block out of it; the statement behind a block into it, as deep as it goes."""
    inside = (
        not isinstance(owner, _DEFINED) or source.function(owner) is not None
    )  # a function in another one
    if (
        isinstance(owner, _COMPOUND)
        and inside
        and len(block) > 1
        and simple(block[-1])
        and _trailing(owner) is block
    ):
        inner, outer = _indent(source, block[-1]), _indent(source, owner)
        if inner is not None and outer is not None:
            start = source.start(block[-1])
            yield Edit(
                "nesting",
                block[-1],
                ((start - len(inner), start, outer),),
                source.segment(block[-1]),
                "",
                0.25,
            )
    for one, following in zip(block, block[1:], strict=False):
        outer = _indent(source, following) if source.function(following) is not None else None
        into: ast.stmt = one
        while isinstance(into, _COMPOUND) and simple(following) and outer is not None:
            deepest = _trailing(into)
            inner = _indent(source, deepest[-1])
            if inner is not None:
                start = source.start(following)
                yield Edit(
                    "nested",
                    following,
                    ((start - len(outer), start, inner),),
                    source.segment(following),
                    "",
                    0.2,
                )
            into = deepest[-1]


def _trailing(owner: ast.AST) -> list[ast.stmt]:
    """The block of a compound statement that stands last: what is indented behind it belongs to it."""
    handlers = getattr(owner, "handlers", None) or ()
    last = handlers[-1].body if handlers else []
    found: list[ast.stmt] = (
        getattr(owner, "finalbody", None) or getattr(owner, "orelse", None) or last or owner.body  # type: ignore[attr-defined]
    )
    return found
