"""The line lexer: a text to line tokens, one a line.

A token is a node of the tree itself, so that nothing is built twice; the grammar's `plan`
rule then puts bodies where they belong. The lexer knows three things about lines: which word
a line starts with, how far it is indented, and that lines indented under a step are its text
block. It drops what is not a line of the language, with a diagnostic, and emits only token
sequences that `plan` accepts, so that one bad line costs one finding.

Comments stand at the level of their own indentation where such a level is open, else at that
of the next line; they never open or close a body.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from ..diagnostics.diagnostic import Diagnostic, Edit, Fix
from ..diagnostics.source import Limits, refused
from ..diagnostics.span import Span
from .keyword_hints import FOREIGN, Advice, advise, unbound_arrow
from .language import CONSTRUCTS, STATEMENTS
from .tree import NODES, Comment, Statement, Step, TextBlock


class Mark:
    """A token without content."""

    __slots__ = ("type", "line", "column", "name")

    def __init__(self, kind: str, line: int = 0, column: int = 0, name: str = "") -> None:
        self.type = kind
        self.line = line
        self.column = column
        self.name = name


INDENT = Mark("_INDENT")
DEDENT = Mark("_DEDENT")

Token = Statement | TextBlock | Mark


class Else(Mark):
    """An `else` line; the grammar folds it into its `if`."""

    __slots__ = ("tail",)

    def __init__(self, line: int, column: int, tail: str) -> None:
        super().__init__("ELSE", line, column)
        self.tail = tail


_WORDS: dict[str, Callable[[int, int, str, int], Statement | Else]] = {
    **NODES,
    "else": lambda line, column, tail, at: Else(line, column, tail),
}
_OPENERS = frozenset(row.token for row in CONSTRUCTS if row.body)
_BINDABLE = frozenset(("STEP", *(row.token for row in CONSTRUCTS if row.binds)))


class LineLexer:
    """Built once from the grammar's terminals; `lex` is pure."""

    def __init__(self, binding: str, step: str) -> None:
        # indentation, binding, first word (a comment is one, white space and all), the rest
        line = "( *)({})?(#.*|\\S+)(?: +(\\S(?:.*\\S)?))? *"
        self._bound = re.compile(line.format(binding)).fullmatch
        self._line = re.compile(line.format("")).fullmatch
        self._step = re.compile(step).fullmatch

    def lex(  # noqa: C901
        self, text: str, path: str, limits: Limits
    ) -> tuple[list[Token] | None, list[Diagnostic]]:
        """The tokens of a text with LF line ends, and what was dropped. None: over a limit."""
        tokens: list[Token] = []
        findings: list[Diagnostic] = []
        lines = text.split("\n")
        levels = [0]
        pending: list[tuple[int, Comment]] = []
        last: Statement | Else | None = None  # what an indented line could belong to
        match_line, match_bound, is_step, words, foreign = (
            self._line,
            self._bound,
            self._step,
            _WORDS,
            FOREIGN,
        )
        steps: set[str] = set()  # words that start a step, as far as they were met
        most_findings, most_statements = limits.findings, limits.statements
        number, count = 0, len(lines)
        statements = 0
        while number < count:
            line = lines[number]
            number += 1
            if not line or line.isspace():
                continue
            if len(findings) > most_findings:
                message = (
                    f"more than {most_findings} lines are not of the language; the rest is not read"
                )
                return None, [*findings, refused(path, message, "is this a plan?", number)]
            if line[0] == " " and type(last) is Step and line.startswith(" " * (levels[-1] + 1)):
                number = self._text_block(lines, number - 1, levels[-1], tokens)
                last = None
                continue
            match = match_bound(line) if "<-" in line else match_line(line)
            if match is None:  # white space other than spaces, before or after the first word
                findings.append(_white_space(path, number, line, levels[-1]))
                number = _skip_deeper(lines, number, levels[-1])
                last = None
                continue
            statements += 1
            if statements > most_statements:
                message = f"the plan has more than the {most_statements} statements that may be"
                return None, [
                    *findings,
                    refused(path, message, "split the plan, or raise `limits.statements`", number),
                ]
            indent_text, binding, head, tail = match.groups()
            indent = len(indent_text)
            level = levels[-1]
            if head[0] == "#" and not binding:
                pending.append((indent, Comment(number, indent + 1, line.strip())))
                if type(last) is Step:
                    last = None
                continue
            if indent > level:
                if last is not None and last.type in _OPENERS:
                    levels.append(indent)
                    tokens.append(INDENT)
                    if len(levels) > limits.nesting + 1:
                        message = f"bodies are nested deeper than the {limits.nesting} that may be"
                        return None, [
                            *findings,
                            refused(path, message, "call a sub-plan instead", number),
                        ]
                else:
                    findings.append(_unexpected(path, number, indent, level, last))
                    number = _skip_deeper(lines, number, level)
                    continue
            # what this line is
            column = indent + 1
            word_column = column + len(binding or "")
            build = words.get(head)
            node: Statement | Else
            if build is not None:
                at = match.start(4) + 1 if tail else word_column + len(head)
                node = build(number, word_column, tail or "", at)
            else:
                advice = None
                if binding and head[0] == "#":
                    head, word_column = binding.split("<", 1)[0].rstrip(), column
                    advice = unbound_arrow(head, "<-")
                elif head not in steps and (head in foreign or not is_step(head)):
                    advice = advise(head, tail or "")
                elif tail and tail[0] == "<":
                    advice = unbound_arrow(head, tail)
                if advice is not None:
                    findings.append(_no_line(path, number, word_column, head, advice))
                    number = _skip_deeper(lines, number, indent)
                    last = None
                    continue
                steps.add(head)
                at = match.start(4) + 1 if tail else word_column + len(head)
                node = Step(number, column, head, word_column, tail or "", at)
            # close bodies down to its level, comments on the way
            if pending or indent < levels[-1]:
                floor = indent + 1 if isinstance(node, Else) else indent
                for at_indent, comment in pending:
                    while len(levels) > 1 and levels[-1] > at_indent and levels[-2] >= floor:
                        levels.pop()
                        tokens.append(DEDENT)
                    tokens.append(comment)
                pending.clear()
                while levels[-1] > indent:
                    levels.pop()
                    tokens.append(DEDENT)
                if levels[-1] != indent:
                    findings.append(_mismatch(path, number, indent, levels))
            if binding:
                if node.type in _BINDABLE:
                    node.column = column
                    tokens.append(
                        Mark("BINDING", number, column, binding.split("<", 1)[0].rstrip())
                    )
                else:
                    message = f"`{head}` has no result to bind"
                    findings.append(
                        Diagnostic(
                            Span(path, number, column, number, word_column), "FDC109", message
                        )
                    )
            tokens.append(node)
            last = node
        for at_indent, comment in pending:
            while len(levels) > 1 and levels[-1] > at_indent:
                levels.pop()
                tokens.append(DEDENT)
            tokens.append(comment)
        tokens += [DEDENT] * (len(levels) - 1)
        return tokens, findings

    @staticmethod
    def _text_block(lines: list[str], start: int, level: int, tokens: list[Token]) -> int:
        """Appends the block whose first line is `lines[start]`; returns the number of the line after it."""
        stop, last, margin = start, start, 1 << 30
        while stop < len(lines):
            line = lines[stop]
            if line and not line.isspace():
                indent = len(line) - len(line.lstrip(" "))
                if indent <= level:
                    break
                margin = min(margin, indent)
                last = stop
            stop += 1
        body = [line[margin:] for line in lines[start : last + 1]]
        tokens.append(TextBlock(start + 1, margin + 1, "\n".join(body) + "\n", last + 1))
        return last + 1


def _skip_deeper(lines: list[str], number: int, level: int) -> int:
    """The index of the next line that is indented `level` or less."""
    while number < len(lines):
        line = lines[number]
        if line and not line.isspace() and len(line) - len(line.lstrip(" ")) <= level:
            break
        number += 1
    return number


def _white_space(path: str, number: int, line: str, level: int) -> Diagnostic:
    width = len(line) - len(line.lstrip())
    place = next(
        (at for at, character in enumerate(line) if character.isspace() and character != " "), 0
    )
    name = "a tab" if line[place] == "\t" else f"U+{ord(line[place]):04X}"
    if place >= width:
        span = Span(path, number, place + 1, number, place + 2)
        fix = Fix("write a space", (Edit(span, " "),), safe=False)
        return Diagnostic(span, "FDC109", f"{name} where a space is expected", fix=fix)
    span = Span(path, number, 1, number, width + 1)
    message = f"{name} in the indentation (column {place + 1}); the body above is indented by {level} spaces"
    fix = Fix(
        "indent with spaces", (Edit(span, " " * len(line[:width].expandtabs(2))),), safe=False
    )
    return Diagnostic(span, "FDC105", message, help="indent with spaces", fix=fix)


def _unexpected(path: str, number: int, indent: int, level: int, last: object) -> Diagnostic:
    span = Span(path, number, 1, number, indent + 1)
    word = getattr(last, "word", None)
    if word:
        statement = "a header line" if STATEMENTS[word].header else f"`{word}`"
        message = f"unexpected indentation: {statement} takes no indented lines"
    elif last is None and not level and number == 1:
        message = f"unexpected indentation of {_spaces(indent)}: the first line is not indented"
    else:
        message = f"unexpected indentation of {_spaces(indent)}, expected {level}"
    return Diagnostic(span, "FDC107", message)


def _mismatch(path: str, number: int, indent: int, levels: list[int]) -> Diagnostic:
    span = Span(path, number, 1, number, indent + 1)
    open_ = " or ".join(str(level) for level in levels)
    message = (
        f"unexpected indentation of {_spaces(indent)}, which no open body has; expected {open_}"
    )
    return Diagnostic(span, "FDC107", message)


def _spaces(count: int) -> str:
    return f"{count} space{'s' * (count != 1)}"


def _no_line(path: str, number: int, column: int, head: str, advice: Advice) -> Diagnostic:
    return Diagnostic(
        Span(path, number, column, number, column + len(head)), *advice[:2], help=advice.help
    )
