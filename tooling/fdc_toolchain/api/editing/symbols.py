"""Names of a plan, its calls, and the stretches of its lines."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ...linking.model import Act, Choice, Collect, Gate, Invoke, Loop, Node, Unit
from ...syntax import values
from ...syntax.tree import Comment, Header, If, Statement, Step
from ...syntax.values import Malformed, Ref, Value
from ..values import Call, Span
from .values import CallSite, Symbol, SymbolKind, Token

_WORDS = re.compile(
    r"\"(?:[^\"\\]|\\.)*\"|\{[^}]*\}|(?<![^\s])(?:in|as|max|until|depth|keep|failures|else)(?![^\s])"
)
_AS = re.compile(r"\sas\s+([A-Za-z_]\w*)")
_TAILS = ("for", "fork", "for_each_file", "iterate", "call_plan", "require")


class Names:
    """Collects the names of one plan."""

    def __init__(self, unit: Unit) -> None:
        self.unit = unit
        self.lines = unit.text.split("\n")
        self.bound: dict[str, list[Span]] = {}
        self.kinds: dict[str, SymbolKind] = {}
        self.read: dict[str, list[Span]] = {}

    def symbols(self) -> tuple[Symbol, ...]:
        """Every name that the plan binds, and where it is read; names that nothing binds are findings, and not here."""
        for param in self.unit.params.values():
            span = param.span
            self.bind(param.name, "parameter", span.line, span.column)
        for node in self.unit.plan.statements if self.unit.plan is not None else ():
            if isinstance(node, Header) and node.keyword == "allow":
                self.tail(node)
        self.body(self.unit.body)
        return tuple(
            Symbol(
                name=name,
                kind=self.kinds[name],
                bound=tuple(dict.fromkeys(places)),
                read=tuple(dict.fromkeys(self.read.get(name, ()))),
            )
            for name, places in self.bound.items()
        )

    def span(self, line: int, column: int, length: int) -> Span:
        return Span(
            path=self.unit.key, line=line, column=column, end_line=line, end_column=column + length
        )

    def bind(self, name: str, kind: SymbolKind, line: int, column: int) -> None:
        self.kinds.setdefault(name, kind)
        places = self.bound.setdefault(name, [])
        if self.at(line, column, name):
            places.append(self.span(line, column, len(name)))

    def at(self, line: int, column: int, name: str) -> bool:
        """True where the text has the name at this place: escapes in quotes shift the places in a value."""
        return 0 < line <= len(self.lines) and self.lines[line - 1].startswith(name, column - 1)

    def refs(self, refs: Iterable[Ref], line: int, column: int) -> None:
        """Adds references at offsets from a place, with or without a brace before the name."""
        for ref in refs:
            name = ref.path[0]
            for at in (column + ref.start + 1, column + ref.start):
                if self.at(line, at, name):
                    self.read.setdefault(name, []).append(self.span(line, at, len(name)))
                    break

    def tail(self, node: Statement) -> None:
        """Adds the references in the text of a line; escapes in quotes make it longer than its value."""
        text: str = getattr(node, "tail", "")
        for match in values.placeholder().finditer(text) if "{" in text else ():
            if not match.group().startswith("{{"):
                path = tuple(match.group()[1:-1].split("."))
                column: int = getattr(node, "tail_column", 1)
                self.refs([Ref(path, match.start(), match.end())], node.line, column)

    def block(self, node: Act, value: Value) -> None:
        block = node.step.block
        if block is None or "{" not in value.text:
            return
        for ref in value.refs:
            line = block.line + value.text.count("\n", 0, ref.start)
            start = value.text.rfind("\n", 0, ref.start) + 1
            self.refs([ref._replace(start=0)], line, block.column + ref.start - start)

    def body(self, nodes: list[Node]) -> None:
        for node in nodes:
            if isinstance(node, Act):
                self.tail(node.step)
                parameter = node.bound.tool.block
                if parameter is not None and parameter.name in node.bound.arguments:
                    self.block(node, node.bound.arguments[parameter.name])
                self.result(node.step)
            elif isinstance(node, Invoke):
                self.tail(node.call)
                self.result(node.call)
            elif isinstance(node, Loop):
                self.loop(node)
            elif isinstance(node, Choice):
                self.condition(node.node, node.condition)
                self.body(node.then)
                self.body(node.orelse)
            elif isinstance(node, Gate):
                self.condition(node.node, node.condition)
            elif isinstance(node, Collect):
                self.tail(node.node)

    def condition(self, node: Statement, condition: values.Condition | None) -> None:
        if condition is not None:
            self.refs(condition.refs, node.line, node.tail_column)  # type: ignore[union-attr]

    def result(self, node: Statement) -> None:
        name = getattr(node, "bind", None)
        if name:
            self.bind(name, "result", node.line, node.column)

    def loop(self, node: Loop) -> None:
        statement = node.node
        self.tail(statement)
        self.condition(statement, node.until)
        if node.name and node.kind == "each":
            match = _AS.search(statement.tail)
            if match is not None:
                self.bind(node.name, "loop", statement.line, statement.tail_column + match.start(1))
        elif node.name:
            self.bind(node.name, "loop", statement.line, statement.tail_column)
        if node.alias:
            self.bind(node.alias, "file", 0, 0)
        self.body(node.body)
        self.result(statement)


def calls_of(unit: Unit, calls: tuple[Call, ...]) -> tuple[CallSite, ...]:
    """The calls of a plan, with the places of their names and of the keys of their arguments."""
    out = []
    for invoke, call in zip(unit.calls, calls, strict=True):
        tail = values.call_tail(invoke.call.tail)
        if isinstance(tail, Malformed):
            continue
        line, column = invoke.call.line, invoke.call.tail_column

        def span(start: int, end: int, line: int = line, column: int = column) -> Span:
            return Span(
                path=unit.key,
                line=line,
                column=column + start,
                end_line=line,
                end_column=column + end,
            )

        keys = {
            argument.key: span(argument.start, argument.start + len(argument.key))
            for argument in tail.arguments
            if argument.key is not None
        }
        out.append(CallSite(call=call, name=span(tail.target.start, tail.target.end), keys=keys))
    return tuple(out)


def tokens_of(
    unit: Unit, symbols: tuple[Symbol, ...], calls: tuple[CallSite, ...]
) -> tuple[Token, ...]:
    """The tokens of a plan's text, in order and without overlaps."""
    nodes = unit.plan.statements if unit.plan is not None else []
    tokens = list(_statements(nodes, unit.text.split("\n")))
    for symbol in symbols:
        for span in (*symbol.bound, *symbol.read):
            length = span.end_column - span.column
            tokens.append(Token(line=span.line, column=span.column, length=length, kind="name"))
    for site in calls:
        span = site.name
        length = span.end_column - span.column
        tokens.append(Token(line=span.line, column=span.column, length=length, kind="plan"))
    out: list[Token] = []
    for token in sorted(
        tokens, key=lambda stretch: (stretch.line, stretch.column, -stretch.length)
    ):
        before = out[-1] if out else None
        free = (
            before is None
            or before.line != token.line
            or before.column + before.length <= token.column
        )
        if free and token.length > 0:
            out.append(token)
    return tuple(out)


def _statements(nodes: list[Statement], lines: list[str]) -> Iterator[Token]:
    for node in nodes:
        line = node.line
        if isinstance(node, Comment):
            yield Token(line=line, column=node.column, length=len(node.text), kind="comment")
        elif isinstance(node, Step):
            yield Token(line=line, column=node.tool_column, length=len(node.tool), kind="tool")
        else:
            word = node.word
            column = node.column
            if getattr(node, "bind", None):  # the column is that of the name
                column = lines[line - 1].index(word, lines[line - 1].index("<-")) + 1
            yield Token(line=line, column=column, length=len(word), kind="keyword")
            if word in _TAILS:
                for match in _WORDS.finditer(node.tail):
                    if match.group()[0] not in '"{':
                        at = node.tail_column + match.start()
                        yield Token(line=line, column=at, length=len(match.group()), kind="keyword")
            yield from _statements(getattr(node, "body", []), lines)
            if isinstance(node, If) and node.else_line:
                yield Token(line=node.else_line, column=node.else_column, length=4, kind="keyword")
                yield from _statements(node.orelse, lines)
