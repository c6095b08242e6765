"""Bytes to a tree and all diagnostics; never an exception.

The line lexer makes the tokens, Lark's LALR parser for the grammar's `plan` rule puts bodies
where they belong, and what the grammar accepts too generously (a body left out, an `else`
alone, a header in the middle) is reported here.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from functools import lru_cache

from ..diagnostics.diagnostic import Diagnostic
from ..diagnostics.source import DEFAULT, Limits, decode
from ..diagnostics.span import Span
from ..named_tuples import NamedTuple
from ..narrow import narrow
from .grammar.lalr import Driver
from .grammar.tables import grammar
from .language import STATEMENTS
from .lines import Else, LineLexer, Mark, Token
from .tree import Call, Comment, Header, If, Plan, Statement, Step, TextBlock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Parsed(NamedTuple):
    """`plan` is None where the text is over a limit; `text` is then None or unread."""

    plan: Plan | None
    text: str | None
    diagnostics: list[Diagnostic]


class _Stray:
    """An `else` (with its body) that no `if` took."""

    __slots__ = ("token", "body")

    def __init__(self, token: Else, body: list[Any]) -> None:
        self.token = token
        self.body = body


class _Builder:
    """Builds the tree from tokens, which are its nodes, as the parser reduces."""

    transparent = frozenset(("step", "header", *(row.rule for row in STATEMENTS.values())))
    """Rules whose result is their only part, unchanged."""

    def _leaf(self, children: list[Any]) -> Any:
        node = children[0]
        if type(node) is Mark:
            children[1].bind = node.name
            node = children[1]
        return node

    def step(self, children: list[Any]) -> Any:
        node = children[0]
        if len(children) > 1:
            if type(node) is Mark:
                node, children[1].bind = children[1], node.name
            if type(children[-1]) is TextBlock:
                node.block = children[-1]
        return node

    def _opener(self, children: list[Any]) -> Any:
        node = children[0]
        rest = children[1:]
        if type(node) is Mark:
            rest[0].bind = node.name
            node, rest = rest[0], rest[1:]
        if rest:
            node.body = rest[0]
        return node

    def else_(self, children: list[Any]) -> Any:
        return _Stray(children[0], children[1] if len(children) > 1 else [])

    def if_(self, children: list[Any]) -> Any:
        node: If = children[0]
        for child in children[1:]:
            if type(child) is _Stray:
                node.else_line, node.else_column = child.token.line, child.token.column
                node.orelse = child.body
                node.else_tail = child.token.tail
            else:
                node.body = child
        return node

    def body(self, children: list[Any]) -> Any:
        return children

    def plan(self, children: list[Any]) -> Any:
        return children

    header = _leaf


# The driver finds methods by rule name; `if` and `else` are keywords of Python, so they are set by name.
for _row in STATEMENTS.values():
    setattr(_Builder, _row.rule, _Builder._opener if _row.body else _Builder._leaf)
setattr(_Builder, "if", _Builder.if_)
setattr(_Builder, "else", _Builder.else_)


@lru_cache(maxsize=1)
def _machinery() -> tuple[LineLexer, Driver]:
    tables = grammar()
    return LineLexer(tables.terminals["BINDING"], tables.terminals["STEP"]), Driver(
        tables.shape, _Builder()
    )


def _shape(tokens: list[Token]) -> list[Any]:
    return narrow(_machinery()[1].parse("plan", tokens), list)


def parse(data: bytes, path: str, limits: Limits = DEFAULT) -> Parsed:
    """The tree of a plan and everything wrong with its text (FDC-25, security table of hostile inputs)."""
    text, findings = decode(data, path, limits)
    if text is None:
        return Parsed(None, None, findings)
    tokens, more = _machinery()[0].lex(text, path, limits)
    findings += _on_clean_lines(more, findings, text) if findings else more
    if tokens is None:
        return Parsed(None, text, findings)
    lines = text.count("\n") + (not text.endswith("\n"))
    settler = _StatementChecker(path, findings)
    statements = settler.settle(_shape(tokens), 0, lines + 1, top=True)
    if all(type(node) in (Comment, Header) for node in statements) and not any(
        d.severity == "error" for d in findings
    ):
        span = Span(path, 1, 1, 1, 1)
        findings.append(
            Diagnostic(
                span, "FDC118", "the plan has no step", help="a plan needs at least one step"
            )
        )
    return Parsed(Plan(path, statements, lines), text, findings)


def statements_between(
    lines: list[str], above: int, path: str, limits: Limits
) -> list[Statement] | None:
    """The statements of `lines`, numbered as if `above` lines stood before them; None where something is wrong with them."""
    text = "\n" * above + "\n".join(lines)
    tokens, findings = _machinery()[0].lex(text, path, limits)
    if tokens is None or findings:
        return None
    statements = _StatementChecker(path, findings).settle(
        _shape(tokens), above, above + len(lines) + 1, top=True
    )
    return None if findings else statements


def _on_clean_lines(
    more: list[Diagnostic], findings: list[Diagnostic], text: str
) -> list[Diagnostic]:
    """The lexer's findings, except on lines whose characters are already reported: one fault, one finding."""
    spoiled = {item.span.line for item in findings if item.severity == "error"}
    if findings[0].code == "FDC101":  # the first byte that is not UTF-8 stands for all of them
        spoiled.update(
            number for number, line in enumerate(text.split("\n"), 1) if "\ufffd" in line
        )
    return [item for item in more if item.span.line not in spoiled or item.code == "FDC106"]


class _StatementChecker:
    """Reports faults that the grammar accepts.

    A line that was dropped has its finding already; what is missing because of it gets no other.
    """

    def __init__(self, path: str, findings: list[Diagnostic]) -> None:
        self.path = path
        self.findings = findings
        self.dropped = sorted(item.span.line for item in findings if item.severity == "error")

    def settle(self, nodes: list[Any], first: int, end: int, *, top: bool) -> list[Statement]:
        """The valid statements of a body whose lines are between `first` and `end`, both excluded."""
        out: list[Statement] = []
        begun = False
        before = first
        for number, node in enumerate(nodes):
            kind = type(node)
            if kind is Step or kind is Call or kind is Comment:
                out.append(node)
                begun = begun or kind is not Comment
                before = node.line
                continue
            after = _line(nodes[number + 1]) if number + 1 < len(nodes) else end
            if kind is _Stray:
                token = node.token
                if not self._has_dropped(before, token.line):
                    message = "`else` without an `if` directly above it at the same indentation"
                    self._report(token.line, token.column, 4, "FDC110", message)
                self.settle(node.body, token.line, after, top=False)
                continue
            if kind is Header:
                if begun or not top:
                    place = "below the first step" if top else "inside a body"
                    message = f"`{node.keyword}` {place}; header lines come before the first step"
                    self._report(node.line, node.column, len(node.keyword), "FDC111", message)
                out.append(node)
                continue
            begun = True
            before = node.line
            out.append(node)
            word = node.word
            if STATEMENTS[word].body:
                stop = node.else_line if kind is If and node.else_line else after
                node.body = self._body(node.body, node.line, node.column, stop, word)
                if kind is If and node.else_line:
                    if node.else_tail:
                        at = node.else_column + 4
                        message = f"`else` takes nothing on its line, found `{node.else_tail}`"
                        help_ = (
                            "put an `if` inside its body"
                            if node.else_tail.startswith("if")
                            else None
                        )
                        self._report(
                            node.else_line, at, 1 + len(node.else_tail), "FDC109", message, help_
                        )
                    node.orelse = self._body(
                        node.orelse, node.else_line, node.else_column, after, "else"
                    )
        return out

    def _body(
        self, nodes: list[Any], line: int, column: int, end: int, word: str
    ) -> list[Statement]:
        body = self.settle(nodes, line, end, top=False)
        if not any(type(node) is not Comment for node in body) and not self._has_dropped(line, end):
            self._report(
                line,
                column,
                len(word),
                "FDC108",
                f"`{word}` has no body; indent its steps below it",
            )
        return body

    def _has_dropped(self, after: int, before: int) -> bool:
        return bisect_right(self.dropped, after) < bisect_left(self.dropped, before)

    def _report(
        self, line: int, column: int, width: int, code: str, message: str, help_: str | None = None
    ) -> None:
        self.findings.append(
            Diagnostic(
                Span(self.path, line, column, line, column + width), code, message, help=help_
            )
        )


def _line(node: Any) -> int:
    return node.token.line if type(node) is _Stray else node.line
