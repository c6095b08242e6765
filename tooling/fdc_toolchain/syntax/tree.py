"""The tree of a plan: one class a construct, named as in `grammar/plan.lark`.

Positions ride with the nodes (`line` and `column` count from 1). Nodes are the line tokens
that the grammar reads, so each has the `type` by which the grammar knows it. A node keeps the text of its
tail and where it starts; arguments and conditions are parsed on demand by
`syntax.values`, memoised by their text. Nothing here is filled in by a later stage:
side tables do that.
"""

from __future__ import annotations

from collections.abc import Callable

from ..diagnostics.span import Span
from ..named_tuples import new_tuple
from ..text.slots import Record
from .language import STATEMENTS, complete


class TextBlock(Record):
    """The lines indented under a step: `text` is dedented, `lines[i]` starts at (line + i, column)."""

    __slots__ = ("line", "column", "text", "end_line")
    type = "TEXT"

    def __init__(self, line: int, column: int, text: str, end_line: int) -> None:
        self.line = line
        self.column = column
        self.text = text
        self.end_line = end_line


class Step(Record):
    """`tool tail` or `bind <- tool tail`, with an optional text block."""

    __slots__ = ("line", "column", "tool", "tool_column", "tail", "tail_column", "bind", "block")
    type = "STEP"

    def __init__(
        self,
        line: int,
        column: int,
        tool: str,
        tool_column: int,
        tail: str,
        tail_column: int,
        bind: str | None = None,
        block: TextBlock | None = None,
    ) -> None:
        self.line = line
        self.column = column
        self.tool = tool
        self.tool_column = tool_column
        self.tail = tail
        self.tail_column = tail_column
        self.bind = bind
        self.block = block


class Call(Record):
    """`call_plan NAME key=value ... [depth N]`."""

    __slots__ = ("line", "column", "tail", "tail_column", "bind")
    word = "call_plan"
    type = STATEMENTS[word].token

    def __init__(
        self, line: int, column: int, tail: str, tail_column: int, bind: str | None = None
    ) -> None:
        self.line = line
        self.column = column
        self.tail = tail
        self.tail_column = tail_column
        self.bind = bind


class ForEach(Record):
    """`for_each_file GLOB [as NAME] [max N]`: the body once per file that matches on entry."""

    __slots__ = ("line", "column", "tail", "tail_column", "body")
    word = "for_each_file"
    type = STATEMENTS[word].token

    def __init__(
        self,
        line: int,
        column: int,
        tail: str,
        tail_column: int,
    ) -> None:
        self.line = line
        self.column = column
        self.tail = tail
        self.tail_column = tail_column
        self.body: list[Statement] = []


class For(Record):
    """`for NAME in VALUE max N`, or its parallel form `fork NAME in VALUE max N [keep failures]`.

    `yield` in the body collects into `bind`.
    """

    __slots__ = ("line", "column", "tail", "tail_column", "fork", "bind", "body")

    def __init__(
        self,
        line: int,
        column: int,
        tail: str,
        tail_column: int,
        fork: bool,
        bind: str | None = None,
    ) -> None:
        self.line = line
        self.column = column
        self.tail = tail
        self.tail_column = tail_column
        self.fork = fork
        self.bind = bind
        self.body: list[Statement] = []

    @property
    def word(self) -> str:
        """Its first word."""
        return "fork" if self.fork else "for"

    @property
    def type(self) -> str:
        """The name of its line token."""
        return "FORK" if self.fork else "FOR"


class Iterate(Record):
    """`iterate max N [until COND]`: the body at least once and at most N times, until COND holds."""

    __slots__ = ("line", "column", "tail", "tail_column", "body")
    word = "iterate"
    type = STATEMENTS[word].token

    def __init__(
        self,
        line: int,
        column: int,
        tail: str,
        tail_column: int,
    ) -> None:
        self.line = line
        self.column = column
        self.tail = tail
        self.tail_column = tail_column
        self.body: list[Statement] = []


class If(Record):
    """`if COND` with an optional `else`. `else_line` is 0 where there is none."""

    __slots__ = (
        "line",
        "column",
        "tail",
        "tail_column",
        "body",
        "else_line",
        "else_column",
        "else_tail",
        "orelse",
    )
    word = "if"
    type = STATEMENTS[word].token

    def __init__(
        self,
        line: int,
        column: int,
        tail: str,
        tail_column: int,
        else_line: int = 0,
        else_column: int = 0,
        else_tail: str = "",
    ) -> None:
        self.line = line
        self.column = column
        self.tail = tail
        self.tail_column = tail_column
        self.body: list[Statement] = []
        self.else_line = else_line
        self.else_column = else_column
        self.else_tail = else_tail
        self.orelse: list[Statement] = []


class Require(Record):
    """`require COND else "why"`: a gate; a run that fails it stops there, with the reason."""

    __slots__ = ("line", "column", "tail", "tail_column")
    word = "require"
    type = STATEMENTS[word].token

    def __init__(self, line: int, column: int, tail: str, tail_column: int) -> None:
        self.line = line
        self.column = column
        self.tail = tail
        self.tail_column = tail_column


class Yield(Record):
    """`yield VALUE`: into the enclosing `for` or `fork`; outside of one, the plan's own result."""

    __slots__ = ("line", "column", "tail", "tail_column")
    word = "yield"
    type = STATEMENTS[word].token

    def __init__(self, line: int, column: int, tail: str, tail_column: int) -> None:
        self.line = line
        self.column = column
        self.tail = tail
        self.tail_column = tail_column


class Header(Record):
    """`use`, `param`, `budget` or `allow` (`keyword`) with its tail."""

    __slots__ = ("line", "column", "keyword", "tail", "tail_column")

    def __init__(self, line: int, column: int, keyword: str, tail: str, tail_column: int) -> None:
        self.line = line
        self.column = column
        self.keyword = keyword
        self.tail = tail
        self.tail_column = tail_column

    @property
    def word(self) -> str:
        """Its first word."""
        return self.keyword

    @property
    def type(self) -> str:
        """The name of its line token."""
        return self.keyword.upper()


class Comment(Record):
    """A line that starts with `#`, the mark included. `FSM` directives and suppressions are comments too."""

    __slots__ = ("line", "column", "text")
    type = "COMMENT"

    def __init__(self, line: int, column: int, text: str) -> None:
        self.line = line
        self.column = column
        self.text = text


Keyword = Call | ForEach | For | Iterate | If | Require | Yield | Header
"""A statement that starts with a word of the language."""

Statement = Step | Comment | Keyword

NODES: dict[str, Callable[[int, int, str, int], Keyword]] = {
    "use": lambda line, column, tail, at: Header(line, column, "use", tail, at),
    "param": lambda line, column, tail, at: Header(line, column, "param", tail, at),
    "budget": lambda line, column, tail, at: Header(line, column, "budget", tail, at),
    "allow": lambda line, column, tail, at: Header(line, column, "allow", tail, at),
    "call_plan": Call,
    "for_each_file": ForEach,
    "for": lambda line, column, tail, at: For(line, column, tail, at, False),
    "fork": lambda line, column, tail, at: For(line, column, tail, at, True),
    "iterate": Iterate,
    "if": If,
    "require": Require,
    "yield": Yield,
}
"""By first word, what makes the node: line, column, tail, column of the tail."""

complete(NODES, "class in syntax/tree.py")


class Plan(Record):
    """A whole text: its statements in order, headers and comments included."""

    __slots__ = ("path", "statements", "line_count")

    def __init__(self, path: str, statements: list[Statement], line_count: int) -> None:
        self.path = path
        self.statements = statements
        self.line_count = line_count


def span(path: str, node: Statement | TextBlock) -> Span:
    """From the node's first character to the end of its first line, as far as the node knows it."""
    tail = getattr(node, "tail", None)
    if tail is None:
        text = getattr(node, "text", "")
        width = len(text.split("\n", 1)[0])
        return Span(path, node.line, node.column, node.line, node.column + max(1, width))
    end = node.tail_column + len(tail)  # type: ignore[union-attr]
    return new_tuple(Span, (path, node.line, node.column, node.line, max(end, node.column + 1)))
