"""A Python source to be edited in place: where each node stands in the text, what surrounds it, which names it may use."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_LINE = re.compile(r"\r\n|\r|\n")
_SIMPLE = (
    ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Return, ast.Expr, ast.Raise, ast.Assert, ast.Delete, ast.Pass, ast.Break,
    ast.Continue, ast.Import, ast.ImportFrom, ast.Global, ast.Nonlocal,
)  # fmt: skip


class Edit(NamedTuple):
    """A small change. `pieces`: (start, end, text) in the source, apart; `kind`: a row of `mutate_words.KINDS`; `node`: what is
    changed; `old`, `new`: how to speak of it; `prior`: how often a fault is of this kind, 0 to 1, by experience."""

    kind: str
    node: ast.AST
    pieces: tuple[tuple[int, int, str], ...]
    old: str
    new: str
    prior: float


class Source:
    """A parsed text. Raises SyntaxError or ValueError where it is no Python."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.skip = 1 if text.startswith("\ufeff") else 0
        self.tree = ast.parse(text[self.skip :])
        self._starts = [self.skip, *(found.end() for found in _LINE.finditer(text))]
        self.parents: dict[ast.AST, ast.AST] = {}
        self.nodes: list[ast.AST] = []
        self._walk(self.tree)
        self._rows: list[tuple[str, int]] = []
        self._bound: dict[ast.AST, dict[str, int]] = {}
        self._unused: dict[ast.AST, set[str]] = {}

    def _walk(self, node: ast.AST) -> None:
        stack = [node]
        while stack:
            one = stack.pop()
            self.nodes.append(one)
            children = list(ast.iter_child_nodes(one))
            self.parents.update((child, one) for child in children)
            stack += reversed(children)

    def at(self, line: int, column: int) -> int:
        """The place in the text of a line (from 1) and a column in bytes of UTF-8."""
        start = self._starts[line - 1]
        part = self.text[start : start + column]
        return start + (column if part.isascii() else len(self._bytes(start, column)))

    def _bytes(self, start: int, column: int) -> str:
        return (
            self.text[start : start + column]
            .encode("utf-8", "surrogatepass")[:column]
            .decode("utf-8", "surrogatepass")
        )

    def start(self, node: ast.AST) -> int:
        """Where a node begins."""
        return self.at(node.lineno, node.col_offset)  # type: ignore[attr-defined]

    def end(self, node: ast.AST) -> int:
        """Where it ends."""
        return self.at(node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined]

    def segment(self, node: ast.AST) -> str:
        """Its text."""
        return self.text[self.start(node) : self.end(node)]

    def column(self, place: int) -> int:
        """The column of a place, from 1, in characters."""
        return place - self._starts[self.line(place) - 1] + 1

    def line(self, place: int) -> int:
        """The line of a place, from 1."""
        import bisect

        return bisect.bisect_right(self._starts, place)

    def between(self, left: ast.AST, right: ast.AST, token: str) -> tuple[int, int] | None:
        """Where an operator stands between two operands; None where a comment makes that uncertain."""
        first, last = self.end(left), self.start(right)
        gap = self.text[first:last]
        if "#" in gap or "\\" in gap:
            return None
        found = re.search(r"\s+".join(re.escape(word) for word in token.split()), gap)
        return (first + found.start(), first + found.end()) if found else None

    def row(self, line: int) -> tuple[str, int]:
        """The text of a line, and the how manieth of its kind it is."""
        if not self._rows:
            count: dict[str, int] = {}
            for start, end in zip(self._starts, [*self._starts[1:], len(self.text)], strict=True):
                row = self.text[start:end]
                count[row] = count.get(row, 0) + 1
                self._rows.append((row, count[row]))
        return self._rows[line - 1]

    def block(self, node: ast.stmt) -> tuple[int, int]:
        """From the beginning of the line where a statement and its decorators begin to where it ends."""
        lines = [node.lineno, *(one.lineno for one in getattr(node, "decorator_list", ()))]
        return self._starts[min(lines) - 1], self.end(node)

    def statement(self, node: ast.AST) -> ast.stmt | None:
        """The statement that a node is of, or itself."""
        at: ast.AST | None = node
        while at is not None and not isinstance(at, ast.stmt):
            at = self.parents.get(at)
        return at

    def head(self, statement: ast.stmt) -> tuple[int, int]:
        """The lines of a statement without the statements in it."""
        inner = ast.stmt | ast.ExceptHandler | ast.match_case
        bodies = [one for one in ast.iter_child_nodes(statement) if isinstance(one, inner)]
        last = statement.end_lineno or statement.lineno
        if bodies:
            first = bodies[0]
            below = first.pattern.lineno if isinstance(first, ast.match_case) else first.lineno
            if (
                isinstance(first, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
                and first.decorator_list
            ):
                below = min(below, first.decorator_list[0].lineno)
            last = max(statement.lineno, below - 1)
        return statement.lineno, last

    def function(self, node: ast.AST) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
        """The innermost function that a node is in."""
        at = self.parents.get(node)
        while at is not None and not isinstance(at, ast.FunctionDef | ast.AsyncFunctionDef):
            at = self.parents.get(at)
        return at

    def qualified(self, node: ast.AST) -> str:
        """The dotted name of the function or class that a node is in; empty for the module."""
        names: list[str] = []
        at: ast.AST | None = node
        while at is not None:
            if isinstance(at, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                names.append(at.name)
            at = self.parents.get(at)
        return ".".join(reversed(names))

    def names(self, node: ast.AST) -> dict[str, int]:
        """The names that the functions around a node bind, each with the line where it first is."""
        found: dict[str, int] = {}
        at = self.parents.get(node)
        while at is not None:
            if isinstance(
                at, Function | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
            ):
                for name, line in self._binds(at).items():
                    found.setdefault(name, line)
            at = self.parents.get(at)
        return found

    def unused(self, node: ast.AST) -> set[str]:
        """The names that the function around a node binds and never reads: something that should use them may not."""
        function = self.function(node)
        if function is None:
            return set()
        if function not in self._unused:
            read = {
                one.id
                for one in ast.walk(function)
                if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load)
            }
            found = {
                name
                for name in self._binds(function)
                if name not in read and not name.startswith("_")
            }
            self._unused[function] = found - {"self", "cls"}
        return self._unused[function]

    def _binds(self, scope: ast.AST) -> dict[str, int]:
        if scope not in self._bound:
            found: dict[str, int] = {}
            if isinstance(scope, Function):
                arguments = scope.args
                every = [
                    *arguments.posonlyargs,
                    *arguments.args,
                    *arguments.kwonlyargs,
                    arguments.vararg,
                    arguments.kwarg,
                ]
                found = {one.arg: one.lineno for one in every if one is not None}
            for one in self._inside(scope):
                if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store):
                    found[one.id] = min(one.lineno, found.get(one.id, one.lineno))
            self._bound[scope] = found
        return self._bound[scope]

    def _inside(self, scope: ast.AST) -> Iterator[ast.AST]:
        stack = list(ast.iter_child_nodes(scope))
        while stack:
            one = stack.pop()
            yield one
            if not isinstance(one, Function | ast.ClassDef):
                stack += ast.iter_child_nodes(one)


def simple(statement: ast.AST) -> bool:
    """True for a statement that holds no other ones."""
    return isinstance(statement, _SIMPLE)


def edited(text: str, pieces: tuple[tuple[int, int, str], ...]) -> str:
    """The text with the pieces in place of what stood there."""
    for start, end, new in sorted(pieces, reverse=True):
        text = text[:start] + new + text[end:]
    return text


def enclosing(source: Source, node: ast.AST) -> Iterator[ast.AST]:
    """The expressions around a node, the innermost first."""
    at = source.parents.get(node)
    while at is not None and not isinstance(at, ast.stmt):
        yield at
        at = source.parents.get(at)


def edit_of(
    source: Source, kind: str, node: ast.AST, pieces: Sequence[tuple[int, int, str]], prior: float
) -> Edit:
    """The edit of a node that changes these pieces of the text."""
    first, last = source.start(node), source.end(node)
    new = source.text[first:last]
    for start, end, text in sorted(pieces, reverse=True):
        new = new[: start - first] + text + new[end - first :]
    return Edit(kind, node, tuple(pieces), source.text[first:last], new, prior)


def replaced(source: Source, kind: str, node: ast.AST, text: str, prior: float) -> Edit:
    """The edit that puts another text in the place of a node."""
    return edit_of(source, kind, node, [(source.start(node), source.end(node), text)], prior)
