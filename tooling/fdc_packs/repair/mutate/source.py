"""A Python source to be edited in place: where each node stands in the text, what surrounds it, which names it may use."""

from __future__ import annotations

import ast
import bisect
import functools
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from fdc_toolchain.api.text import unified

Function = ast.FunctionDef | ast.AsyncFunctionDef
Scoped = Function | ast.Lambda
Loop = ast.For | ast.AsyncFor | ast.While
Compound = Loop | ast.If | ast.With | ast.AsyncWith | ast.Try | Function
_BINDING = Scoped | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
OWN = ("self", "cls")
Piece = tuple[int, int, str]
"""From where to where in the text, and what comes there."""
_LINE = re.compile(r"\r\n|\r|\n")
AROUND = 3
"""Lines before and behind an edit that its diff shows."""
_MARK = "\ue0f0"
_HUNK = re.compile(r"^@@ -(\d+)((?:,\d+)?) \+(\d+)((?:,\d+)?) @@$", re.MULTILINE)
_GIVEN = ast.Return | ast.Assign | ast.AugAssign | ast.Expr | ast.Raise | ast.Delete
_SIMPLE = (
    ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Return, ast.Expr, ast.Raise, ast.Assert, ast.Delete, ast.Pass, ast.Break,
    ast.Continue, ast.Import, ast.ImportFrom, ast.Global, ast.Nonlocal,
)  # fmt: skip


_Within = tuple[ast.FunctionDef | ast.AsyncFunctionDef | None, ast.ClassDef | None, ast.stmt | None]
"""The innermost function, class and statement that a node is in."""
_NOWHERE: _Within = (None, None, None)


class Edit(NamedTuple):
    """A small change. `pieces`: what it changes of the source; `kind`: a row of `kinds.KINDS`; `node`: what is changed;
    `old`, `new`: how to speak of it; `prior`: how often a fault is of this kind, 0 to 1, by experience."""

    kind: str
    node: ast.AST
    pieces: tuple[Piece, ...]
    old: str
    new: str
    prior: float


def edited(text: str, pieces: tuple[Piece, ...]) -> str:
    """The text with the pieces in place of what stood there."""
    for start, end, new in sorted(pieces, reverse=True):
        text = text[:start] + new + text[end:]
    return text


def same(one: Sequence[str], other: Sequence[str]) -> int:
    """How many characters, or tokens, two texts begin with alike."""
    low, high = 0, min(len(one), len(other))
    if one[:high] == other[:high]:
        return high
    while high - low > 1:  # alike as far as `low`, and not as far as `high`
        middle = (low + high) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle
    return low


def simple(statement: ast.AST) -> bool:
    """True for a statement that holds no other ones."""
    return isinstance(statement, _SIMPLE)


class Source:
    """A parsed text. Raises SyntaxError or ValueError where it is not a Python."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._ascii = text.isascii()
        skip = 1 if text.startswith("\ufeff") else 0
        self.tree = ast.parse(text[skip:])
        self.newline = "\r\n" if "\r\n" in text else "\n"
        self._starts = [skip, *(found.end() for found in _LINE.finditer(text))]
        self.parents: dict[ast.AST, ast.AST] = {}
        self._within: dict[ast.AST, _Within] = {}
        self.nodes: list[ast.AST] = []
        stack: list[ast.AST] = [self.tree]
        while stack:
            node = stack.pop()
            self.nodes.append(node)
            children = list(ast.iter_child_nodes(node))
            self.parents.update((child, node) for child in children)
            within = self._within.get(node, _NOWHERE)
            inside = node if isinstance(node, Function) else within[0]
            owner = node if isinstance(node, ast.ClassDef) else within[1]
            statement = node if isinstance(node, ast.stmt) else within[2]
            self._within.update((child, (inside, owner, statement)) for child in children)
            stack += reversed(children)
        self._rows: list[tuple[str, int]] = []
        self._bound: dict[ast.AST, dict[str, int]] = {}
        self._unused: dict[ast.AST, set[str]] = {}
        self._names: dict[ast.AST, dict[str, int]] = {}
        self._needs: dict[ast.AST, tuple[str, ...]] = {}

    # --- places in the text

    def at(self, line: int, column: int) -> int:
        """The place in the text of a line (from 1) and a column in bytes of UTF-8."""
        start = self._starts[line - 1]
        if self._ascii:
            return start + column
        part = self.text[start : start + column]
        if part.isascii():
            return start + column
        return start + len(
            part.encode("utf-8", "surrogatepass")[:column].decode("utf-8", "surrogatepass")
        )

    def begin(self, line: int) -> int:
        """Where a line begins; the end of the text for the one behind the last."""
        return self._starts[line - 1] if line <= len(self._starts) else len(self.text)

    def start(self, node: ast.AST) -> int:
        """Where a node begins."""
        return self.at(node.lineno, node.col_offset)  # type: ignore[attr-defined]

    def end(self, node: ast.AST) -> int:
        """Where it ends."""
        return self.at(node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined]

    def segment(self, node: ast.AST) -> str:
        """Its text."""
        return self.text[self.start(node) : self.end(node)]

    def line(self, place: int) -> int:
        """The line of a place, from 1."""
        return bisect.bisect_right(self._starts, place)

    def column(self, place: int) -> int:
        """The column of a place, from 1, in characters."""
        return place - self._starts[self.line(place) - 1] + 1

    def row(self, line: int) -> tuple[str, int]:
        """The text of a line, and the how manieth of its kind it is."""
        if not self._rows:
            count: dict[str, int] = {}
            for start, end in zip(self._starts, [*self._starts[1:], len(self.text)], strict=True):
                row = self.text[start:end]
                count[row] = count.get(row, 0) + 1
                self._rows.append((row, count[row]))
        return self._rows[line - 1]

    def indent(self, node: ast.AST) -> str | None:
        """The white space before a statement that stands alone at the head of its line."""
        start = self.start(node)
        before = self.text[self._starts[self.line(start) - 1] : start]
        return None if before.strip() else before

    # --- other texts of a node

    def cut(self, node: ast.AST, *pieces: Piece) -> str:
        """The text of a node with pieces of it changed."""
        first = self.start(node)
        return edited(
            self.segment(node),
            tuple((start - first, end - first, text) for start, end, text in pieces),
        )

    def swap(self, node: ast.AST, parts: Mapping[ast.AST, str]) -> str:
        """The text of a node with other texts for some of its parts."""
        return self.cut(
            node, *((self.start(part), self.end(part), text) for part, text in parts.items())
        )

    def between(self, left: ast.AST, right: ast.AST, token: str) -> tuple[int, int] | None:
        """Where an operator stands between two operands; None where a comment makes that uncertain."""
        first = self.end(left)
        gap = self.text[first : self.start(right)]
        found = (
            None
            if "#" in gap or "\\" in gap
            else re.search(r"\s+".join(map(re.escape, token.split())), gap)
        )
        return (first + found.start(), first + found.end()) if found else None

    def change(self, kind: str, node: ast.AST, text: str, prior: float) -> Edit:
        """The edit that puts a text in the place of a node; its piece is what differs."""
        first, old = self.start(node), self.segment(node)
        head = same(old, text)
        tail = same(old[head:][::-1], text[head:][::-1])
        piece = (first + head, first + len(old) - tail, text[head : len(text) - tail])
        return Edit(kind, node, (piece,), old, text, prior)

    # --- what surrounds a node

    def above(self, node: ast.AST) -> Iterator[ast.AST]:
        """The expressions that a node is in, the innermost first."""
        at = self.parents.get(node)
        while at is not None and not isinstance(at, ast.stmt):
            yield at
            at = self.parents.get(at)

    def around(self, node: ast.AST) -> Iterator[ast.AST]:
        """All that a node is in, the innermost first."""
        at = self.parents.get(node)
        while at is not None:
            yield at
            at = self.parents.get(at)

    def statement(self, node: ast.AST) -> ast.stmt | None:
        """The statement that a node is of, or itself."""
        return node if isinstance(node, ast.stmt) else self._within.get(node, _NOWHERE)[2]

    def function(self, node: ast.AST) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
        """The innermost function that a node is in."""
        return self._within.get(node, _NOWHERE)[0]

    def owner(self, node: ast.AST) -> ast.ClassDef | None:
        """The class that a node is in."""
        return self._within.get(node, _NOWHERE)[1]

    def qualified(self, node: ast.AST) -> str:
        """The dotted name of the function or class that a node is in; empty for the module."""
        names = [
            one.name
            for one in (node, *self.around(node))
            if isinstance(one, Function | ast.ClassDef)
        ]
        return ".".join(reversed(names))

    def block(self, node: ast.stmt) -> tuple[int, int]:
        """From the beginning of the line where a statement and its decorators begin to where it ends."""
        lines = [node.lineno, *(one.lineno for one in getattr(node, "decorator_list", ()))]
        return self._starts[min(lines) - 1], self.end(node)

    def head(self, statement: ast.stmt) -> tuple[int, int]:
        """The lines of a statement without the statements in it."""
        inner = ast.stmt | ast.ExceptHandler | ast.match_case
        bodies = [one for one in ast.iter_child_nodes(statement) if isinstance(one, inner)]
        if not bodies:
            return statement.lineno, statement.end_lineno or statement.lineno
        first = bodies[0].pattern if isinstance(bodies[0], ast.match_case) else bodies[0]
        lines = [first.lineno, *(one.lineno for one in getattr(first, "decorator_list", ()))]
        return statement.lineno, max(statement.lineno, min(lines) - 1)

    @functools.cached_property
    def on_a_line(self) -> list[tuple[ast.stmt, ast.FunctionDef | ast.AsyncFunctionDef, str]]:
        """Short statements of functions that stand on one line, with their function and their text; no docstrings."""
        found: list[tuple[ast.stmt, ast.FunctionDef | ast.AsyncFunctionDef, str]] = []
        for one in self.nodes:
            inside = self.function(one) if isinstance(one, _GIVEN) else None
            if inside is not None and isinstance(one, _GIVEN):
                said = isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant)
                text = self.segment(one)
                if not said and "\n" not in text and len(text) <= 120:
                    found.append((one, inside, text))
        return found

    @functools.cached_property
    def leaving(self) -> list[tuple[ast.If, ast.stmt]]:
        """Questions after which a block is left, and how."""
        asked = (one for one in self.nodes if isinstance(one, ast.If) and not one.orelse)
        leave = ast.Return | ast.Raise | ast.Continue
        return [
            (one, one.body[0])
            for one in asked
            if len(one.body) == 1 and isinstance(one.body[0], leave)
        ]

    @functools.cached_property
    def _odd_negations(self) -> list[ast.UnaryOp]:
        every = (one for one in self.nodes if isinstance(one, ast.UnaryOp))
        return [one for one in every if isinstance(one.op, ast.Not) and _compares(one.operand)]

    def oddly_negated(self, node: ast.AST) -> bool:
        """True for `not x is None`, `not x in y` and `not x != y` where nothing else in the file is written so."""
        kind = _compares(getattr(node, "operand", node))
        return [one for one in self._odd_negations if _compares(one.operand) == kind] == [node]

    # --- names

    def names(self, node: ast.AST) -> dict[str, int]:
        """The names that the functions around a node bind, each with the line where it first is."""
        scope = self.scope(node)
        if scope is None:
            return {}
        if scope not in self._names:
            found = self._names[scope] = dict(self._binds(scope))
            for name, line in self.names(scope).items():
                found.setdefault(name, line)
        return self._names[scope]

    def scope(self, node: ast.AST) -> ast.AST | None:
        """What binds names around a node, the innermost."""
        return next((one for one in self.around(node) if isinstance(one, _BINDING)), None)

    def needs(self, node: ast.AST) -> tuple[str, ...]:
        """The names that a node reads, each once, in the order in which `ast.walk` meets them."""
        found = self._needs.get(node)
        if found is None:
            named = (one for one in ast.walk(node) if isinstance(one, ast.Name))
            read = (one.id for one in named if isinstance(one.ctx, ast.Load))
            found = self._needs[node] = tuple(dict.fromkeys(read))
        return found

    def is_read(self, name: str, node: ast.AST) -> bool:
        """True where the innermost function or lambda around a node reads a name."""
        scope = next((one for one in self.around(node) if isinstance(one, Scoped)), self.tree)
        return any(isinstance(one, ast.Name) and one.id == name for one in ast.walk(scope))

    def is_switch(self, node: ast.AST) -> bool:
        """True for a parameter of the function or lambda around a node whose default is a truth value."""
        scope = next((one for one in self.around(node) if isinstance(one, Scoped)), None)
        if scope is None or not isinstance(node, ast.Name):
            return False
        placed, given = [*scope.args.posonlyargs, *scope.args.args], scope.args.defaults
        pairs = [
            *zip(placed[::-1], given[::-1]),
            *zip(scope.args.kwonlyargs, scope.args.kw_defaults),
        ]
        said = next((value for part, value in pairs if part.arg == node.id), None)
        return isinstance(getattr(said, "value", None), bool)

    def unused(self, node: ast.AST) -> set[str]:
        """The names that the functions around a node bind and never read: something that should use them may not."""
        found: set[str] = set()
        for function in (one for one in self.around(node) if isinstance(one, Function)):
            if function not in self._unused:
                named = (one for one in ast.walk(function) if isinstance(one, ast.Name))
                read = {one.id for one in named if isinstance(one.ctx, ast.Load)}
                bound = {name for name in self._binds(function) if not name.startswith("_")}
                self._unused[function] = bound - read - set(OWN)
            found |= self._unused[function]
        return found

    def _binds(self, scope: ast.AST) -> dict[str, int]:
        if scope not in self._bound:
            found: dict[str, int] = {}
            if isinstance(scope, Scoped):
                found = {
                    one.arg: one.lineno for one in ast.walk(scope.args) if isinstance(one, ast.arg)
                }
            stack = list(ast.iter_child_nodes(scope))
            while stack:
                one = stack.pop()
                if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store):
                    found[one.id] = min(one.lineno, found.get(one.id, one.lineno))
                elif isinstance(one, ast.ExceptHandler | Function | ast.ClassDef) and one.name:
                    found.setdefault(one.name, one.lineno)
                if not isinstance(one, Scoped | ast.ClassDef):
                    stack += ast.iter_child_nodes(one)
            self._bound[scope] = found
        return self._bound[scope]


def _compares(node: ast.AST) -> str:
    """What a comparison of two values asks: "is" for `is` and `in`, else the name of its operator; empty for anything else."""
    sign = type(node.ops[0]) if isinstance(node, ast.Compare) and len(node.ops) == 1 else None
    one = sign in (ast.Is, ast.IsNot, ast.In, ast.NotIn)
    return "is" if one else sign.__name__ if sign else ""


def name_of(node: ast.AST) -> str:
    """The last name of a name or a member; empty for anything else."""
    if isinstance(node, ast.Name):
        return node.id
    return node.attr if isinstance(node, ast.Attribute) else ""


def diff_of(source: Source, path: str, edit: Edit) -> str:
    """The unified diff, made of the lines around the edit only: files are long, and edits many."""
    text = source.text
    first, last = min(piece[0] for piece in edit.pieces), max(piece[1] for piece in edit.pieces)
    for _ in range(AROUND + 1):
        first = text.rfind("\n", 0, max(0, first - 1)) + 1 if first else 0
        end = text.find("\n", last)
        last = end + 1 if end >= 0 else len(text)
    mark = "" if _MARK in text else _MARK  # a line that becomes like its neighbour is changed
    rows = edit.pieces
    pieces = tuple((a - first, b - first, _marked(new, mark, a == b)) for a, b, new in rows)
    ahead = text.count("\n", 0, first)

    def shifted(hunk: re.Match[str]) -> str:
        return f"@@ -{int(hunk[1]) + ahead}{hunk[2]} +{int(hunk[3]) + ahead}{hunk[4]} @@"

    said = unified(path, text[first:last], edited(text[first:last], pieces))
    return _HUNK.sub(shifted, said.replace(mark, "") if mark else said)


def _marked(new: str, mark: str, inserted: bool) -> str:
    """What comes into a text, with a mark at the end of each line of it; several lines in place of others have none."""
    if "\n" not in new:
        return new + mark
    return re.sub(r"(?<=[^\s])(?=\r?\n|$)", mark, new) if inserted else new
