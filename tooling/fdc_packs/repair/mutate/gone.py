"""Edits that put back what is gone: a statement, a call, a condition, an argument, a sign. What could stand there is taken from
the same file: its own names, calls, conditions and statements (as in Barr and others, The plastic surgery hypothesis, 2014)."""

from __future__ import annotations

import ast
import builtins
from collections import Counter
from collections.abc import Iterator, Sequence

from .source import Edit, Source, edit_of, simple

_CALLED = ("str", "len", "list", "int", "tuple", "iter", "set")
_PROPER = (
    ast.Return,
    ast.Assign,
    ast.AugAssign,
    ast.Expr,
    ast.Raise,
    ast.Delete,
    ast.Break,
    ast.Continue,
)
COPIES, WRAPS, MEETS = 24, 5, 4
"""How many statements, calls and conditions of a file are tried in one place."""


def edits(source: Source, nodes: Sequence[ast.AST]) -> Iterator[Edit]:
    """Every edit that the proposer knows of what may be missing among `nodes`."""
    known = _Known(source)
    for node in nodes:
        if any(isinstance(up, ast.JoinedStr | ast.arguments) for up in (node, *known.above(node))):
            continue
        if isinstance(node, ast.Pass):
            yield from _statement(known, node)
        elif isinstance(node, ast.Call):
            yield from _arguments(known, node)
        if isinstance(node, ast.If | ast.While | ast.IfExp):
            yield from _conditions(known, node.test)
        elif isinstance(node, ast.comprehension):
            for test in node.ifs:
                yield from _conditions(known, test)
        elif isinstance(node, ast.Return) and isinstance(node.value, ast.Compare | ast.BoolOp):
            yield from _conditions(known, node.value)
        if isinstance(node, ast.Name | ast.Attribute | ast.Call | ast.Subscript) and known.value(
            node
        ):
            yield from _wrapped(known, node)


class _Known:
    """What a file has that could stand elsewhere in it."""

    def __init__(self, source: Source) -> None:
        self.source = source
        calls = [one for one in source.nodes if isinstance(one, ast.Call)]
        single = [
            one.func.id
            for one in calls
            if isinstance(one.func, ast.Name) and len(one.args) == 1 and not one.keywords
        ]
        count = Counter(name for name in single if name[:1].islower() or name[:1] == "_")
        self.wraps = list(
            dict.fromkeys([*(name for name, _ in count.most_common(WRAPS)), *_CALLED])
        )[: WRAPS + 3]
        methods = [
            one
            for one in calls
            if isinstance(one.func, ast.Attribute) and not one.args and not one.keywords
        ]
        bare = Counter(one.func.attr for one in methods if isinstance(one.func, ast.Attribute))
        self.bare = [name for name, _ in bare.most_common(WRAPS)]
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


def _statement(known: _Known, node: ast.Pass) -> Iterator[Edit]:
    """A `pass` that failing tests run: something may have stood there."""
    source = known.source
    function = source.function(node)
    if function is None:
        return
    place = (source.start(node), source.end(node))
    texts: dict[str, float] = {}
    names = source.names(node)
    for number, name in enumerate(sorted(names, key=lambda one: -names[one])):
        if name not in ("self", "cls", "_"):
            texts.setdefault(f"return {name}", 0.8 - 0.02 * min(number, 10))
    if "self" in names:
        owner = next((up for up in _owners(source, function)), function)
        held = Counter(one.attr for one in ast.walk(owner) if isinstance(one, ast.Attribute) and isinstance(one.value, ast.Name)
                       and one.value.id == "self")  # fmt: skip
        for number, (name, _) in enumerate(held.most_common(8)):
            texts.setdefault(f"return self.{name}", 0.45 - 0.03 * number)
            texts.setdefault(f"return len(self.{name})", 0.25 - 0.02 * number)
        texts.setdefault("return self", 0.4)
    for value in ("True", "False"):
        texts.setdefault(f"return {value}", 0.5)
    for text, prior in _copies(known, node, function):
        texts.setdefault(text, prior)
    for name in names:
        texts.setdefault(f"{name} = None", 0.05)
        for other in names:
            if other != name and len(names) <= 6:
                texts.setdefault(f"{name} = {other}", 0.1)
                texts.setdefault(f"{name}.append({other})", 0.1)
                texts.setdefault(f"{name} += {other}", 0.08)
                texts.setdefault(f"{name} = {name}({other})", 0.05)
                texts.setdefault(f"{name} = {other}({name})", 0.12)
    for text, prior in texts.items():
        yield Edit("restored", node, ((*place, text),), "pass", text, prior)


def _owners(source: Source, node: ast.AST) -> Iterator[ast.ClassDef]:
    at = source.parents.get(node)
    while at is not None:
        if isinstance(at, ast.ClassDef):
            yield at
        at = source.parents.get(at)


def _copies(known: _Known, node: ast.Pass, function: ast.AST) -> Iterator[tuple[str, float]]:
    """Statements of the same function, class and file that could stand here, the nearest first."""
    source = known.source
    owner = next(_owners(source, node), None)
    found: list[tuple[float, int, str]] = []
    for one in source.nodes:
        if not isinstance(one, _PROPER) or not simple(one):
            continue
        inside = source.function(one)
        text = source.segment(one)
        constant = isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant)
        if (
            inside is None
            or "\n" in text
            or len(text) > 90
            or constant
            or not known.reads(one, node)
        ):
            continue
        near = (
            0.6
            if inside is function
            else 0.45
            if owner is not None and next(_owners(source, one), None) is owner
            else 0.3
        )
        found.append((-near, abs(getattr(one, "lineno", 0) - node.lineno), text))
    for number, (near, _, text) in enumerate(sorted(found)[: 2 * COPIES]):
        yield text, -near - 0.005 * number


def _wrapped(
    known: _Known, node: ast.Name | ast.Attribute | ast.Call | ast.Subscript
) -> Iterator[Edit]:
    source = known.source
    text = source.segment(node)
    up = source.parents.get(node)
    around = up.func.id if isinstance(up, ast.Call) and isinstance(up.func, ast.Name) else ""
    name = node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""
    whole = (source.start(node), source.end(node))
    for number, one in enumerate(known.wraps):
        if one not in (around, name, text):
            yield edit_of(
                source, "wrapped", node, [(*whole, f"{one}({text})")], 0.16 - 0.01 * number
            )
    for number, one in enumerate(known.bare):
        if not text.endswith(f".{one}()"):
            yield edit_of(
                source, "wrapped", node, [(*whole, f"{text}.{one}()")], 0.14 - 0.01 * number
            )


def _conditions(known: _Known, test: ast.expr) -> Iterator[Edit]:
    """A condition that was one of two."""
    source = known.source
    text = source.segment(test)
    if "\n" in text:
        return
    function = source.function(test) or source.tree
    there: dict[str, float] = {}
    for one in ast.walk(function):
        atom = isinstance(one, ast.Compare) or (
            isinstance(one, ast.UnaryOp) and isinstance(one.op, ast.Not)
        )
        if atom and known.reads(one, test):
            said = source.segment(one)
            if said not in text and "\n" not in said:
                there.setdefault(said, 0.15)
    bound = source.names(test)
    for name in sorted(bound, key=lambda one: -bound[one]):
        if name not in ("self", "cls") and bound[name] <= test.lineno and name != text:
            there.setdefault(name, 0.12)
            there.setdefault(f"not {name}", 0.1)
    whole = (source.start(test), source.end(test))
    for number, (extra, prior) in enumerate(list(there.items())[: 3 * MEETS]):
        for word in ("and", "or"):
            left = f"({text})" if isinstance(test, ast.BoolOp | ast.IfExp | ast.Lambda) else text
            yield edit_of(
                source,
                "narrowed",
                test,
                [(*whole, f"{left} {word} {extra}")],
                prior - 0.005 * number,
            )


def _arguments(known: _Known, node: ast.Call) -> Iterator[Edit]:  # noqa: C901
    """An argument that other calls of the same function have, that its definition names, or that is only passed on."""
    source = known.source
    inside = source.end(node) - 1
    passed = {source.segment(one) for one in node.args} | {
        source.segment(one.value) for one in node.keywords
    }
    named = {one.arg for one in node.keywords}
    every = bool(node.args or node.keywords)
    comma = ", " if every else ""
    if source.text[:inside].rstrip().endswith(","):
        return
    texts: dict[str, float] = {}
    function = source.function(node)
    if function is not None:
        for sign, extra in (("*", function.args.vararg), ("**", function.args.kwarg)):
            if (
                extra is not None
                and not any(isinstance(one, ast.Starred) for one in node.args)
                or sign == "**"
            ):
                if extra is not None and not (sign == "**" and None in named):
                    texts[f"{sign}{extra.arg}"] = 0.5
    defined = known.defined.get(
        node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
    )
    bound = source.names(node)
    if defined is not None:
        wanted = [one.arg for one in (*defined.args.args, *defined.args.kwonlyargs)]
        for name in wanted:
            if (
                name in bound
                and name not in passed
                and name not in named
                and name not in ("self", "cls")
            ):
                texts[name] = 0.5
                texts[f"{name}={name}"] = 0.45
    for other in known.calls.get(source.segment(node.func), ()):
        extra_args = [source.segment(one) for one in other.args[len(node.args) :]]
        extra_args += [
            f"{one.arg}={source.segment(one.value)}"
            for one in other.keywords
            if one.arg and one.arg not in named
        ]
        for said in extra_args:
            if other is not node and "\n" not in said and said not in passed:
                texts.setdefault(said, 0.35)
    starred = any(isinstance(one, ast.Starred) for one in node.args) or bool(node.keywords)
    for number, name in enumerate(
        sorted(bound, key=lambda one: -bound[one]) if not starred else ()
    ):
        if (
            name not in passed
            and name not in ("self", "cls")
            and bound[name] <= node.lineno
            and number < 8
        ):
            texts.setdefault(name, 0.2 - 0.01 * number)
    for text, prior in texts.items():
        yield edit_of(source, "added", node, [(inside, inside, comma + text)], prior)
        plain = node.args and not text.startswith("*") and "=" not in text and len(node.args) > 1
        if plain:
            first = source.end(node.args[0])
            yield edit_of(source, "added", node, [(first, first, f", {text}")], prior * 0.4)
