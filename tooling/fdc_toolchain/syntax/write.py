"""Writes a tree as its canonical text, for `fdc fmt`.

Two spaces a level, one space between words, single blank lines kept between statements, text
blocks two spaces under their step with their content as it is. What a tail means is never
touched: a step's is kept to the letter, because only its tool knows how it is read; the others
lose surplus spaces where the reading stays the same.
"""

from __future__ import annotations

import re

from ..diagnostics.diagnostic import Diagnostic
from ..diagnostics.source import Limits
from .parse import parse
from .tails import malformed_tails, meaning, placeless, read_tail
from .tree import Call, Comment, If, Keyword, Plan, Statement, Step, TextBlock

_INDENT = "  "
_SURPLUS = re.compile(r'("(?:[^"\\]|\\.)*")| +')
_AFTER_KEY = re.compile(r'("(?:[^"\\]|\\.)*")|(?<=[A-Za-z0-9_]=) +')
_DEFAULT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*) *= *(.*)")


_DEFAULTS = Limits()


def canonical(
    data: bytes, path: str, limits: Limits = _DEFAULTS
) -> tuple[bytes | None, list[Diagnostic]]:
    """The bytes of a plan as `fdc fmt` writes them, and the findings about its text.

    None where the text has errors: then it is not rewritten. The line ending is that of the first
    line; a byte order mark is dropped. Raises AssertionError (a bug of fdc) if the new text would
    not mean what the old one means.
    """
    parsed = parse(data, path, limits)
    findings = parsed.diagnostics
    if parsed.plan is not None:
        findings = findings + malformed_tails(parsed.plan)
    if parsed.plan is None or any(item.severity == "error" for item in findings):
        return None, findings
    text = write(parsed.plan)
    again = parse(text.encode("utf-8"), path, limits)
    if again.plan is None:  # its indentation took it over a limit
        return None, findings + again.diagnostics
    if meaning(again.plan.statements) != meaning(parsed.plan.statements):
        raise AssertionError(
            f"formatting {path} would change what it means; the file is left as it is"
        )
    if data[: data.find(b"\n") + 1].endswith(b"\r\n"):
        text = text.replace("\n", "\r\n")
    return text.encode("utf-8"), findings


def write(plan: Plan) -> str:
    """The canonical text of a plan that read cleanly, with LF line ends."""
    writer = _Writer()
    writer.body(plan.statements, 0)
    return "".join(line + "\n" for line in writer.lines)


class _Writer:
    def __init__(self) -> None:
        self.lines: list[str] = []
        self.last = (
            0  # the line of the old text that was written last: a gap after it is blank lines
        )

    def body(self, nodes: list[Statement], level: int) -> None:
        for number, node in enumerate(nodes):
            if number and node.line > self.last + 1:
                self.lines.append("")
            self.statement(node, level)

    def statement(self, node: Statement, level: int) -> None:
        self.put(level, _line(node))
        self.last = node.line
        if isinstance(node, Step):
            if node.block is not None:
                self.block(node.block, level + 1)
            return
        inner = getattr(node, "body", None)
        if inner:
            self.body(inner, level + 1)
        if isinstance(node, If) and node.else_line:
            self.put(level, "else")
            self.last = node.else_line
            self.body(node.orelse, level + 1)

    def block(self, block: TextBlock, level: int) -> None:
        for line in block.text.removesuffix("\n").split("\n"):
            if line:
                self.put(level, line)
            else:
                self.lines.append("")
        self.last = block.end_line

    def put(self, level: int, text: str) -> None:
        self.lines.append(_INDENT * level + text)


def _line(node: Statement) -> str:
    """The first line of a statement, without its indentation."""
    if isinstance(node, Comment):
        return node.text
    if isinstance(node, Step):
        words = [node.tool, node.tail]
    else:
        words = [node.word, _tail(node)]
    bind = getattr(node, "bind", None)
    if bind:
        words = [bind, "<-", *words]
    return " ".join(word for word in words if word)


def _tail(node: Keyword) -> str:
    """The tail with one space between its words, if that does not change its meaning."""
    tail = _SURPLUS.sub(lambda match: match[1] or " ", node.tail)
    if isinstance(node, Call):
        tail = _AFTER_KEY.sub(lambda match: match[1] or "", tail)
    if node.word == "param":
        tail = _DEFAULT.sub(r"\1 = \2", tail, count=1) if _DEFAULT.fullmatch(tail) else tail
    if placeless(read_tail(node, tail)) != placeless(read_tail(node, node.tail)):
        return node.tail
    return tail
