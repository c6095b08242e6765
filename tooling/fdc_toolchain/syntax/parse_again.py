"""Parses an edited plan again: statements that did not change are the same objects as before.

A line without indentation that is neither a comment nor an `else` always begins a statement, so the text
between two such lines can be parsed alone. If this does not apply, the whole plan is parsed.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable

from ..diagnostics.source import DEFAULT, Limits, decode
from .parse import Parsed, parse, statements_between
from .tree import Comment, Header, Plan, Statement


def parse_again(before: Parsed, data: bytes, path: str, limits: Limits = DEFAULT) -> Parsed:
    """The same as `parse`, where `before` is what it found in an earlier text of the plan."""
    return _edited(before, data, path, limits) or parse(data, path, limits)


def _edited(before: Parsed, data: bytes, path: str, limits: Limits) -> Parsed | None:
    """The result if parsing the changed statements is enough, else None."""
    if before.plan is None or before.text is None or before.diagnostics:
        return None
    text, findings = decode(data, path, limits)
    if text is None or findings:
        return None
    old, new = before.text.split("\n"), text.split("\n")
    if len(new) > limits.statements:
        return None
    known = before.plan.statements
    first = _same(zip(old, new))
    starts = [node.line - 1 for node in known if type(node) is not Comment]
    at = bisect_left(starts, first) - 1
    begin = starts[at] if at >= 0 else 0
    end = len(new)
    if len(old) == end:  # else every line below has another number
        last = end - _same(zip(reversed(old), reversed(new)))
        at = bisect_left(starts, max(last, first))
        end = starts[at] if at < len(starts) else end
    above, below = _before(known, begin), _before(known, end)
    middle = statements_between(new[begin:end], begin, path, limits)
    if middle is None or _any_header(known[above:]) or _any_header(middle):
        return None
    statements = [*known[:above], *middle, *(known[below:] if end < len(new) else ())]
    if all(type(node) in (Comment, Header) for node in statements):
        return None
    lines = text.count("\n") + (not text.endswith("\n"))
    return Parsed(Plan(path, statements, lines), text, [])


def _same(pairs: Iterable[tuple[str, str]]) -> int:
    """How many pairs of lines at the beginning are equal."""
    count = 0
    for first, second in pairs:
        if first != second:
            break
        count += 1
    return count


def _before(nodes: list[Statement], line: int) -> int:
    """How many statements begin before a line, whose number counts from 0."""
    return bisect_left(nodes, line + 1, key=lambda node: node.line)


def _any_header(nodes: list[Statement]) -> bool:
    """True where a header is among the statements: the lines above decide whether it is allowed there."""
    return any(type(node) is Header for node in nodes)
