"""Reads the tails of a plan, construct by construct: for code that needs them without a linker.

The tail of a step is left out: its form is its tool's, and only a catalogue knows it.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..diagnostics.diagnostic import Diagnostic
from ..diagnostics.span import Span
from .syntax_errors import Malformed
from .tree import Comment, If, Plan, Statement, Step
from .values import READERS

_PLACES = frozenset(("start", "end", "refs", "predicates"))


def read_tail(node: Statement, tail: str) -> object:
    """What `tail` means after the first word of `node`; Malformed, or None for steps and comments."""
    return None if isinstance(node, Step | Comment) else READERS[node.word](tail)


def walk(nodes: list[Statement]) -> Iterator[Statement]:
    """Every statement, in the order of the text."""
    for node in nodes:
        yield node
        for inner in (getattr(node, "body", None), getattr(node, "orelse", None)):
            if inner:
                yield from walk(inner)


def malformed_tails(plan: Plan) -> list[Diagnostic]:
    """One finding for each tail, steps' own left out, that is not of its form."""
    findings = []
    for node in walk(plan.statements):
        if isinstance(node, Step | Comment):
            continue
        wrong = read_tail(node, node.tail)
        if isinstance(wrong, Malformed):
            at = node.tail_column
            span = Span(plan.path, node.line, at + wrong.start, node.line, at + wrong.end)
            findings.append(Diagnostic(span, "FDC109", wrong.message, help=wrong.help))
    return findings


def placeless(value: object) -> object:
    """A tail's value without places: equal for two texts exactly if they mean the same."""
    fields = getattr(value, "_fields", None)
    if fields is not None:
        return (
            type(value).__name__,
            *(placeless(getattr(value, name)) for name in fields if name not in _PLACES),
        )
    if isinstance(value, tuple):
        return tuple(placeless(item) for item in value)
    return value


def meaning(nodes: list[Statement]) -> tuple[object, ...]:
    """A body without places: equal for two texts exactly if linter and runner treat them the same."""
    out: list[object] = []
    for node in nodes:
        if isinstance(node, Step):
            out.append(("step", node.bind, node.tool, node.tail, node.block and node.block.text))
            continue
        if isinstance(node, Comment):
            out.append(("#", node.text))
            continue
        row: list[object] = [
            node.word,
            getattr(node, "bind", None),
            placeless(read_tail(node, node.tail)),
        ]
        row.append(meaning(getattr(node, "body", [])))
        if isinstance(node, If):
            row += [node.else_line > 0, meaning(node.orelse)]
        out.append(tuple(row))
    return tuple(out)
