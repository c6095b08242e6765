"""What edited code says: two edits that say the same are one, and one that says what stood there already is none."""

from __future__ import annotations

import ast
import functools
from collections.abc import Hashable
from typing import NamedTuple

from ..source import Edit, Function, Source, edited, name_of
from ..statements import buries

MOVES = frozenset(("nesting", "nested"))
"""Kinds of edits that change which block a statement is of: nothing less than its function says what they mean."""
LEAVES = ast.Return | ast.Raise | ast.Continue | ast.Break
_COMPUTES = ast.Sub | ast.Div | ast.FloorDiv | ast.Mod
_NO_QUESTIONS = frozenset(("sub", "subn", "finditer", "escape", "compile"))
"""What functions of `re` give nobody asks whether it is true."""


class Meaning(NamedTuple):
    """`said`: what code says, whatever its layout; `odd`: how often a value is put against itself, a line is buried, or
    something is said in a way that nobody says it; `leaves`: no run goes on behind it."""

    said: Hashable
    odd: int
    leaves: bool


def meant(source: Source, edit: Edit) -> tuple[int, Hashable, bool] | None:
    """What the edited statement, or its function, says: its place and meaning, and whether something odd has gone from it.
    None where it says nothing, or the same, or what happens in its place if a condition is otherwise."""
    moved = edit.kind in MOVES
    for around in (source.statement(edit.node), source.function(edit.node)):
        if around is None or (moved and not isinstance(around, Function)):
            continue
        first, last = source.block(around)
        if not all(first <= start and end <= last for start, end, _ in edit.pieces):
            continue
        block = _head(source, around, edit) or source.text[first:last]
        before = _meaning(block)
        if before is not None:  # else it is a part of a statement, as `elif` is
            pieces = tuple((start - first, end - first, text) for start, end, text in edit.pieces)
            after = _meaning(edited(block, pieces))
            if after is None or after.said == before.said or after.odd > before.odd:
                return None
            if after.leaves > before.leaves and around is not _block(source, around)[-1]:
                return None  # what stands behind it would never be run
            if any(after == _meaning(_lines(source, one)) for one in _instead(source, around)):
                return None  # a condition that decides nothing
            return first, after.said, after.odd < before.odd
    return None


def _lines(source: Source, statement: ast.stmt) -> str:
    """The whole lines of a statement."""
    first, last = source.block(statement)
    return source.text[first:last]


def _instead(source: Source, statement: ast.stmt) -> list[ast.stmt]:
    """What happens in place of a statement if the condition of an `if` is otherwise, where that decides nothing else."""
    up, block = source.parents.get(statement), _block(source, statement)
    if isinstance(up, ast.If) and len(up.body) == len(up.orelse) == 1:
        return up.orelse if block is up.body else up.body
    at = block.index(statement)
    found = block[at - 1 : at] if at else []
    if found and isinstance(found[0], ast.If) and len(found[0].body) == 1 and not found[0].orelse:
        found = found[0].body
    elif isinstance(up, ast.If) and up.body == [statement] and not up.orelse:
        after = _block(source, up)
        found = after[after.index(up) + 1 :][:1]
    return [one for one in found if isinstance(one, LEAVES)]


def _block(source: Source, statement: ast.stmt) -> list[ast.stmt]:
    """The statements that a statement is one of."""
    up = source.parents.get(statement)
    blocks = (getattr(up, name, None) for name in ("body", "orelse", "finalbody"))
    return next((one for one in blocks if isinstance(one, list) and statement in one), [statement])


def _head(source: Source, statement: ast.stmt, edit: Edit) -> str:
    """The head of a statement with `pass` in place of what it holds, where an edit leaves that alone; else nothing."""
    body = getattr(statement, "body", None)
    if not body or isinstance(statement, ast.Match | ast.Try):
        return ""
    first, _ = source.block(statement)
    below = source.head(statement)[1] + 1
    if body[0].lineno < below:  # `def name(): return value`
        return ""
    start, indent = source.start(statement), source.indent(statement)
    end = source.begin(below)
    if indent is None or end <= start or any(piece[1] >= end for piece in edit.pieces):
        return ""
    return f"{source.text[first:end]}{indent} pass\n"


@functools.lru_cache(maxsize=1024)
def _meaning(block: str) -> Meaning | None:
    """What whole lines of Python say; None where they say nothing."""
    try:
        indented = block[:1] in (" ", "\t")
        tree = ast.parse(f"if 1:\n{block}" if indented else block)
        reader, last = _Reader(), tree.body[-1] if tree.body else None
        last = last.body[-1] if indented and isinstance(last, ast.If) else last
        return Meaning(reader.said(tree), reader.odd, isinstance(last, LEAVES))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


class _Reader:
    """Reads a tree once, as values that can be compared."""

    def __init__(self) -> None:
        self.odd = 0

    def said(self, node: ast.AST) -> Hashable:
        """What a node says, with all that is in it."""
        kind = type(node)
        if isinstance(node, ast.Constant):
            return kind, type(node.value), repr(node.value), node.kind
        fields: dict[str, Hashable] = {}
        for name in kind._fields:
            value = getattr(node, name, None)
            if isinstance(value, ast.AST):
                fields[name] = self.said(value) if value._fields else type(value).__name__
            elif isinstance(value, list):
                fields[name] = tuple(
                    self.said(one) if isinstance(one, ast.AST) else one for one in value
                )
            else:
                fields[name] = value
        self.odd += _against_itself(node, fields)
        return kind, *fields.values()


def _against_itself(node: ast.AST, fields: dict[str, Hashable]) -> bool:
    """True for `x is x`, `x or x`, `x - x`, `x = x`, `not not x`: a guard or a result less, in other clothes. And for what
    no run gets to, behind a `return` of its block."""
    if ("body" in fields and buries(node)) or _unusual(node):
        return True
    if isinstance(node, ast.Compare):
        sides = (fields["left"], *_each(fields["comparators"]))
    elif isinstance(node, ast.BoolOp):
        sides = _each(fields["values"])
    elif isinstance(node, ast.BinOp) and isinstance(node.op, _COMPUTES):
        sides = (fields["left"], fields["right"])
    elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Name):
        return any(isinstance(to, ast.Name) and to.id == node.value.id for to in node.targets)
    else:
        return is_not(node) and is_not(getattr(node, "operand", None))
    return len(set(sides)) < len(sides)


def _unusual(node: ast.AST) -> bool:
    """True for `len(x) <= 0`, `len(x) < 0` and `len(x) >= 0`, and for `x.rsplit(y)`, which are `== 0`, nothing, everything and
    `split`; for `if x.sub(y, z)`, which asks nothing that `search` does not ask."""
    if isinstance(node, ast.If | ast.While | ast.IfExp):
        asked = node.test.operand if isinstance(node.test, ast.UnaryOp) else node.test
        return isinstance(asked, ast.Call) and getattr(asked.func, "attr", "") in _NO_QUESTIONS
    if isinstance(node, ast.Compare):
        sized = isinstance(node.left, ast.Call) and name_of(node.left.func) == "len"
        other, op = node.comparators[0], node.ops[0]
        nothing = isinstance(other, ast.Constant) and other.value == 0
        return sized and nothing and isinstance(op, ast.Lt | ast.LtE | ast.GtE)
    called = node.func if isinstance(node, ast.Call) else None
    last = isinstance(called, ast.Attribute) and called.attr == "rsplit"
    return last and isinstance(node, ast.Call) and len(node.args) < 2 and not node.keywords


def _each(value: Hashable) -> tuple[Hashable, ...]:
    return value if isinstance(value, tuple) else ()


def is_not(node: ast.AST | None) -> bool:
    """True for a negation."""
    return isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
