"""One-line faults as people make them, seeded by tokens: no syntax tree is edited and nothing is shared with the proposer.

The kinds follow what is known of single-statement bugs in Python projects (a wrong name, number, operator, member, call or
argument; a condition, call, argument, return or statement that was forgotten; a line at the wrong depth). What is gone in a
fifth of them the proposer can only take from elsewhere in the same file; the page says which. All kinds are drawn equally often.
"""

from __future__ import annotations

import ast
import functools
import io
import keyword
import tokenize
from collections.abc import Callable, Iterator
from random import Random
from typing import NamedTuple


class Fault(NamedTuple):
    """A faulty text: what kind of fault, in which line and function, and how the line was and is."""

    kind: str
    line: int
    function: str
    before: str
    after: str
    text: str


class Piece(NamedTuple):
    """What stands between two columns of a line gives way to a text."""

    line: int
    first: int
    last: int
    text: str


Token = tokenize.TokenInfo
_CLASSES = (
    "< <= > >= == !=".split(),
    "+ - * / // %".split(),
    "& | ^".split(),
    "<< >>".split(),
    "+= -= *= //=".split(),
)
_EXCEPTIONS = (
    "ValueError TypeError KeyError IndexError AttributeError RuntimeError StopIteration".split()
)


def seed(source: str, random: Random) -> Fault | None:
    """One fault, of a kind and at a place drawn at random; None where the draw gives nothing that compiles and differs."""
    kind = random.choice(sorted(KINDS))
    places = _functions(source)
    if not places:
        return None
    name, first, last = random.choice(places)
    tokens = _tokens(source, first, last)
    pieces = list(KINDS[kind](tokens, source.split("\n"), random))
    if not pieces:
        return None
    chosen = random.choice(pieces)
    lines = source.split("\n")
    line = min(piece.line for piece in chosen)
    before = lines[line - 1]
    for piece in sorted(chosen, key=lambda one: (one.line, one.first), reverse=True):
        row = lines[piece.line - 1]
        lines[piece.line - 1] = row[: piece.first] + piece.text + row[piece.last :]
    text = "\n".join(lines)
    try:
        if ast.dump(ast.parse(text)) == _meaning(source):
            return None
        compile(text, "<fault>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return None
    return Fault(kind, line, name, before, lines[line - 1], text)


@functools.cache
def _meaning(source: str) -> str:
    return ast.dump(ast.parse(source))


@functools.cache
def _functions(source: str) -> list[tuple[str, int, int]]:
    """Functions by name with the lines of their bodies, documentation left out."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef):
            body = node.body[1:] if ast.get_docstring(node, clean=False) is not None else node.body
            if body:
                found.append((node.name, body[0].lineno, node.end_lineno or node.lineno))
    return found


@functools.cache
def _every(source: str) -> list[Token]:
    skipped = (tokenize.COMMENT, tokenize.NL, tokenize.INDENT, tokenize.DEDENT)
    return [
        one
        for one in tokenize.generate_tokens(io.StringIO(source).readline)
        if one.type not in skipped
    ]


def _tokens(source: str, first: int, last: int) -> list[Token]:
    return [one for one in _every(source) if first <= one.start[0] <= last]


def _swap(token: Token, text: str) -> list[Piece]:
    return [Piece(token.start[0], token.start[1], token.end[1], text)]


def _around(tokens: list[Token]) -> Iterator[tuple[str, Token, str]]:
    for at, token in enumerate(tokens):
        before = tokens[at - 1].string if at else ""
        after = tokens[at + 1].string if at + 1 < len(tokens) else ""
        yield before, token, after


def _operator(tokens: list[Token], lines: list[str], random: Random) -> Iterator[list[Piece]]:
    for before, token, _ in _around(tokens):
        group = next((group for group in _CLASSES if token.string in group), None)
        if token.type == tokenize.OP and group and before not in ("(", ",", "=", "return", ":"):
            yield _swap(token, random.choice([one for one in group if one != token.string]))


def _word(tokens: list[Token], lines: list[str], random: Random) -> Iterator[list[Piece]]:
    for before, token, after in _around(tokens):
        if token.string in ("and", "or"):
            yield _swap(token, "or" if token.string == "and" else "and")
        elif token.string == "not" and after != "in" and before != "is":
            yield [Piece(token.start[0], token.start[1], token.end[1] + 1, "")]
        elif token.string == "is":
            yield (
                _swap(token, "is not")
                if after != "not"
                else [Piece(token.start[0], token.end[1], token.end[1] + 4, "")]
            )
        elif token.string in ("if", "while"):
            yield _swap(token, f"{token.string} not")


def _number(tokens: list[Token], lines: list[str], random: Random) -> Iterator[list[Piece]]:
    for token in tokens:
        if token.type == tokenize.NUMBER and token.string.isdigit():
            value = int(token.string)
            others = {value + 1, abs(value - 1), value + 2, value * 10, 0} - {value}
            yield _swap(token, str(random.choice(sorted(others))))


def _truth(tokens: list[Token], lines: list[str], random: Random) -> Iterator[list[Piece]]:
    for token in tokens:
        if token.string in ("True", "False", "None"):
            yield _swap(
                token,
                random.choice([one for one in ("True", "False", "None") if one != token.string]),
            )


def _plain(before: str, token: Token, after: str) -> bool:
    word = token.type == tokenize.NAME and not keyword.iskeyword(token.string)
    return word and before not in (".", "def", "class", "import") and after != "="


def _identifier(tokens: list[Token], lines: list[str], random: Random) -> Iterator[list[Piece]]:
    known = sorted(
        {
            token.string
            for before, token, after in _around(tokens)
            if _plain(before, token, after) and after != "("
        }
    )
    for before, token, after in _around(tokens):
        others = [one for one in known if one != token.string]
        if others and _plain(before, token, after) and after != "(":
            yield _swap(token, random.choice(others))


def _member(tokens: list[Token], lines: list[str], random: Random) -> Iterator[list[Piece]]:
    known = sorted(
        {
            token.string
            for before, token, _ in _around(tokens)
            if before == "." and token.type == tokenize.NAME
        }
    )
    for before, token, _ in _around(tokens):
        others = [one for one in known if one != token.string]
        if others and before == "." and token.type == tokenize.NAME:
            yield _swap(token, random.choice(others))


def _callee(tokens: list[Token], lines: list[str], random: Random) -> Iterator[list[Piece]]:
    called = {
        token.string
        for before, token, after in _around(tokens)
        if _plain(before, token, after) and after == "("
    }
    called |= (
        {"min", "max", "len", "sum", "list", "set", "sorted", "any", "all"} if called else set()
    )
    for before, token, after in _around(tokens):
        if _plain(before, token, after) and after == "(":
            yield _swap(token, random.choice(sorted(called - {token.string})))


def _calls(tokens: list[Token]) -> Iterator[tuple[int, list[tuple[int, int]], int]]:
    """Calls on one line: the index of `(`, the arguments as ranges of indexes, the index of `)`."""
    for at, token in enumerate(tokens):
        named = at and (
            tokens[at - 1].type == tokenize.NAME and not keyword.iskeyword(tokens[at - 1].string)
        )
        if token.string != "(" or not named or (at > 1 and tokens[at - 2].string == "def"):
            continue
        depth, start, parts = 0, at + 1, []
        for to in range(at, len(tokens)):
            text = tokens[to].string
            depth += (text in "([{" and len(text) == 1) - (text in ")]}" and len(text) == 1)
            if (text == "," and depth == 1) or depth == 0:
                if to > start:
                    parts.append((start, to))
                start = to + 1
            if depth == 0:
                if tokens[to].start[0] == token.start[0]:
                    yield at, parts, to
                break


def _text(tokens: list[Token], part: tuple[int, int], lines: list[str]) -> Piece:
    first, last = tokens[part[0]], tokens[part[1] - 1]
    row = lines[first.start[0] - 1]
    return Piece(first.start[0], first.start[1], last.end[1], row[first.start[1] : last.end[1]])


def _order(tokens: list[Token], lines: list[str], random: Random) -> Iterator[list[Piece]]:
    for _, parts, _ in _calls(tokens):
        for one, other in zip(parts, parts[1:]):
            left, right = _text(tokens, one, lines), _text(tokens, other, lines)
            yield [left._replace(text=right.text), right._replace(text=left.text)]


def _argument_lost(tokens: list[Token], lines: list[str], random: Random) -> Iterator[list[Piece]]:
    for _, parts, _ in _calls(tokens):
        for one, other in zip(parts, parts[1:]):
            yield [
                _text(tokens, other, lines)._replace(first=_text(tokens, one, lines).last, text="")
            ]


def _call_lost(tokens: list[Token], lines: list[str], random: Random) -> Iterator[list[Piece]]:
    for at, parts, end in _calls(tokens):
        name, close = tokens[at - 1], tokens[end]
        method = at > 1 and tokens[at - 2].string == "."
        if method and not parts:
            yield [Piece(name.start[0], tokens[at - 2].start[1], close.end[1], "")]
        elif not method and len(parts) == 1:
            yield [
                Piece(
                    name.start[0], name.start[1], close.end[1], _text(tokens, parts[0], lines).text
                )
            ]


def _condition_lost(tokens: list[Token], lines: list[str], random: Random) -> Iterator[list[Piece]]:
    for at, token in enumerate(tokens):
        if token.string not in ("and", "or"):
            continue
        depth = 0
        for end in range(at + 1, len(tokens)):
            text = tokens[end].string
            depth += text in ("(", "[", "{")
            depth -= text in (")", "]", "}")
            stops = (
                text in ("and", "or", ":", ",", "else", "if")
                or tokens[end].type == tokenize.NEWLINE
            )
            if depth < 0 or (depth == 0 and stops):
                if tokens[end - 1].end[0] == token.start[0]:
                    yield [Piece(token.start[0], token.start[1] - 1, tokens[end - 1].end[1], "")]
                break


def _string(tokens: list[Token], lines: list[str], random: Random) -> Iterator[list[Piece]]:
    for token in tokens:
        inner = token.string[1:-1]
        plain = (
            token.type == tokenize.STRING
            and token.string[0] in "'\""
            and "\\" not in inner
            and inner.isprintable()
        )
        if plain and 0 < len(inner) < 30:
            at = random.randrange(len(inner))
            other = random.choice([inner[:at] + inner[at + 1 :], inner.swapcase(), inner + " "])
            yield _swap(token, token.string[0] + other + token.string[0])


def _return_lost(tokens: list[Token], lines: list[str], random: Random) -> Iterator[list[Piece]]:
    for _, token, after in _around(tokens):
        if token.string == "return" and after.strip():
            yield [Piece(token.start[0], token.start[1], token.end[1] + 1, "")]


def _rows(tokens: list[Token]) -> Iterator[tuple[Token, Token]]:
    """Statements that begin and end on one line: their first and last token."""
    first: Token | None = None
    last: Token | None = None
    for token in tokens:
        if token.type == tokenize.NEWLINE:
            if first is not None and last is not None and first.start[0] == last.end[0]:
                yield first, last
            first = None
        else:
            first = first or token
            last = token


def _statement_lost(tokens: list[Token], lines: list[str], random: Random) -> Iterator[list[Piece]]:
    for first, last in _rows(tokens):
        if last.string != ":" and first.string not in ("pass", "else", "import", "from"):
            yield [Piece(first.start[0], first.start[1], last.end[1], "pass")]


def _depth(tokens: list[Token], lines: list[str], random: Random) -> Iterator[list[Piece]]:
    for first, last in _rows(tokens):
        if (
            last.string != ":"
            and not lines[first.start[0] - 1][: first.start[1]].strip()
            and first.start[1] >= 8
        ):
            yield [Piece(first.start[0], 0, 4, "")]
        if last.string != ":" and not lines[first.start[0] - 1][: first.start[1]].strip():
            yield [Piece(first.start[0], 0, 0, "    ")]


def _bound_lost(tokens: list[Token], lines: list[str], random: Random) -> Iterator[list[Piece]]:
    for before, token, after in _around(tokens):
        sign = token.string == "-" and before in ("[", ":", "(", ",", "return")
        if sign or (before == "[" and after == ":") or (before == ":" and after == "]"):
            yield [Piece(token.start[0], token.start[1], token.end[1], "")]


def _jump(tokens: list[Token], lines: list[str], random: Random) -> Iterator[list[Piece]]:
    for token in tokens:
        if token.string in ("break", "continue"):
            yield _swap(token, "continue" if token.string == "break" else "break")


def _exception(tokens: list[Token], lines: list[str], random: Random) -> Iterator[list[Piece]]:
    for before, token, _ in _around(tokens):
        if before in ("except", "raise") and token.string in _EXCEPTIONS:
            yield _swap(token, random.choice([one for one in _EXCEPTIONS if one != token.string]))


Seeder = Callable[[list[Token], list[str], Random], Iterator[list[Piece]]]
KINDS: dict[str, Seeder] = {
    "wrong operator": _operator, "wrong word of logic": _word, "wrong number": _number, "wrong truth value": _truth,
    "wrong identifier": _identifier, "wrong member": _member, "wrong function": _callee, "arguments in the wrong order": _order,
    "argument forgotten": _argument_lost, "call forgotten": _call_lost, "condition forgotten": _condition_lost,
    "wrong text": _string, "return forgotten": _return_lost, "statement forgotten": _statement_lost, "wrong depth": _depth,
    "bound or sign forgotten": _bound_lost, "wrong jump": _jump, "wrong exception": _exception,
}  # fmt: skip
NO_INVERSE = frozenset(
    ("call forgotten", "condition forgotten", "wrong text", "statement forgotten")
)
"""Kinds where something is gone: the proposer undoes them only where the same text stands elsewhere in the file."""
