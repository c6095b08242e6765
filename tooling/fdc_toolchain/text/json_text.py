"""A parser of strict JSON that keeps the place of every value.

The standard library's parser keeps no places, takes the last of two equal keys, accepts `NaN`
and recurses. This one is iterative, so that no input can exhaust the
stack, and it gives a tree of nodes whose offsets become spans through `Places`.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence

from ..diagnostics.span import Span
from ..named_tuples import NamedTuple
from .suggest import did_you_mean

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeAlias

JSON: TypeAlias = "Mapping[str, JSON] | Sequence[JSON] | str | int | float | bool | None"

MAX_DEPTH = 64
"""Maximum nesting of arrays and objects."""

MAX_DIGITS = 400
"""Maximum characters of one number (Python's conversion takes quadratic time)."""

CONFLICT = "the file has a conflict of a merge: resolve it"
"""Advice for a file with the marks that git writes into it where a merge needs a person."""

_TOKEN = re.compile(
    r'[ \t\r\n]*+(?:(?P<mark>[{}\[\],:])|(?P<quote>")'
    r"|(?P<number>-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?(?![\w.+-]))"
    r"|(?P<word>[\w.+-]++))"
)
_SPACE = re.compile(r"[ \t\r\n]*+")
_PLAIN = re.compile(r'[^"\\\x00-\x1f]*+')
_HEX = re.compile(r"[0-9a-fA-F]{4}")
_SIMPLE = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_WORDS: dict[str, tuple[str, Any]] = {
    "true": ("boolean", True),
    "false": ("boolean", False),
    "null": ("null", None),
}
_CLOSING = {"{": "}", "[": "]"}


class Node(NamedTuple):
    """One JSON value and its place, as offsets into the text.

    `kind` is object, array, string, number, boolean or null. The value of an object is a tuple
    of `Member`, that of an array a tuple of `Node`, all others are the Python value.
    """

    kind: str
    value: Any
    start: int
    end: int


class Member(NamedTuple):
    """A key of an object, itself a string node, with its value."""

    key: Node
    value: Node


class Problem(NamedTuple):
    """Why a text is not strict JSON. `limit`: it is over a limit, and not wrong."""

    start: int
    end: int
    message: str
    help: str | None = None
    limit: bool = False
    earlier: Node | None = None


def plain(node: Node) -> JSON:
    """The value of a node as plain Python values."""
    if node.kind == "object":
        return {member.key.value: plain(member.value) for member in node.value}
    if node.kind == "array":
        return [plain(item) for item in node.value]
    value: JSON = node.value
    return value


class Places:
    """Turns offsets of one text into spans: lines end with LF, columns count code points."""

    __slots__ = ("_starts", "path")

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self._starts = [0]
        at = text.find("\n")
        while at >= 0:
            self._starts.append(at + 1)
            at = text.find("\n", at + 1)

    def span(self, start: int, end: int) -> Span:
        """The span from `start` to `end`; an empty one becomes one column wide, so that it can be shown."""
        line = bisect_right(self._starts, start)
        column = start - self._starts[line - 1] + 1
        if end <= start:
            return Span(self.path, line, column, line, column + 1)
        end_line = bisect_right(self._starts, end - 1)
        return Span(self.path, line, column, end_line, end - self._starts[end_line - 1] + 1)


class _Stop(Exception):
    """Ends the reading at the first place that is not JSON: what follows cannot be trusted."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem


def parse(text: str, max_depth: int = MAX_DEPTH) -> tuple[Node | None, list[Problem]]:
    """The tree of a JSON text, and all that is wrong with it. Never raises.

    Repeated keys are reported and parsing continues; any other fault ends it, with None.
    """
    problems: list[Problem] = []
    try:
        return _document(text, max_depth, problems), problems
    except _Stop as stop:
        problems.append(stop.problem._replace(help=conflict(text) or stop.problem.help))
        return None, problems


def conflict(text: str) -> str | None:
    """Advice for a text that cannot be read, where a line of it begins a conflict of a merge."""
    return CONFLICT if "\n<<<<<<< " in f"\n{text}" else None


def _document(text: str, max_depth: int, problems: list[Problem]) -> Node:  # noqa: C901
    # Each open container: [mark, its offset, its items, the key that waits for a value, keys seen].
    stack: list[list[Any]] = []
    expect = "value"
    at = 0
    while True:
        kind, start, end = _next(text, at, expect)
        mark = text[start] if kind == "mark" else ""
        node: Node | None = None
        if expect == ":":
            if mark != ":":
                raise _unexpected(text, kind, start, end, "a `:` after the key")
            expect, at = "value", end
            continue
        if expect == "more":
            top = stack[-1]
            if mark == ",":
                expect, at = ("key" if top[0] == "{" else "value"), end
                continue
            if mark != _CLOSING[top[0]]:
                raise _unexpected(text, kind, start, end, f"a `,` or `{_CLOSING[top[0]]}`")
            node = _close(stack, end)
        elif mark and stack and mark == _CLOSING[stack[-1][0]] and expect.endswith("or close"):
            node = _close(stack, end)
        elif expect.startswith("key"):
            if kind != "quote":
                raise _unexpected(text, kind, start, end, "a key in double quotes")
            stack[-1][3] = _key(text, start, end, stack[-1][4], problems)
            expect, at = ":", stack[-1][3].end
            continue
        elif mark in ("{", "["):
            if len(stack) >= max_depth:
                raise _Stop(
                    Problem(start, end, f"values nested deeper than {max_depth} levels", limit=True)
                )
            stack.append([mark, start, [], None, {}])
            expect, at = ("key or close" if mark == "{" else "value or close"), end
            continue
        elif kind == "quote":
            value, end = _string(text, end)
            node = Node("string", value, start, end)
        elif kind == "number":
            node = _number(text, start, end)
        elif kind == "word" and text[start:end] in _WORDS:
            node = Node(*_WORDS[text[start:end]], start, end)
        else:
            raise _unexpected(text, kind, start, end, "a value")
        at = end
        if stack:
            top = stack[-1]
            top[2].append(node if top[0] == "[" else Member(top[3], node))
            expect = "more"
            continue
        after = _SPACE.match(text, at).end()  # type: ignore[union-attr]
        if after < len(text):
            raise _Stop(Problem(after, len(text.rstrip()), "text after the end of the value"))
        return node


def _next(text: str, at: int, expect: str) -> tuple[str, int, int]:
    match = _TOKEN.match(text, at)
    if match is not None:
        kind = str(match.lastgroup)
        return kind, match.start(kind), match.end(kind)
    start = _SPACE.match(text, at).end()  # type: ignore[union-attr]
    if start >= len(text):
        last = len(text.rstrip(" \t\r\n"))
        expected = {"more": "a `,` or the closing bracket", ":": "a `:`"}.get(
            expect, "a " + expect.split()[0]
        )
        raise _Stop(Problem(last, last, f"the text ends where {expected} is expected"))
    return "other", start, start + 1


def _unexpected(text: str, kind: str, start: int, end: int, expected: str) -> _Stop:
    token = text[start : min(end, start + 40)]
    shown = token if token.isprintable() else token.encode("unicode_escape").decode("ascii")
    hint = None
    before = text[:start].rstrip()[-1:]
    if kind == "mark" and token in "}]" and before == ",":
        hint = "remove the comma before it"
    elif token in ("/", "#"):
        hint = "JSON has no comments"
    elif token == "'":
        hint = "JSON writes strings in double quotes"
    elif kind == "word" and token.lstrip("+-").lower() in ("nan", "infinity", "inf"):
        hint = "JSON has no such number"
    elif kind == "word" and expected == "a value":
        hint = did_you_mean(token, _WORDS)
    elif kind == "quote" and expected.startswith("a `,`"):
        shown, hint = '"', "is a comma missing before it?"
    return _Stop(Problem(start, end, f"expected {expected}, found `{shown}`", hint))


def _close(stack: list[list[Any]], end: int) -> Node:
    mark, start, items, _, _ = stack.pop()
    return Node("object" if mark == "{" else "array", tuple(items), start, end)


def _key(text: str, start: int, after: int, seen: dict[str, Node], problems: list[Problem]) -> Node:
    value, end = _string(text, after)
    node = Node("string", value, start, end)
    if value in seen:
        shown = text[start + 1 : min(end - 1, start + 61)]
        problems.append(
            Problem(start, end, f"the key `{shown}` twice in one object", earlier=seen[value])
        )
    else:
        seen[value] = node
    return node


def _number(text: str, start: int, end: int) -> Node:
    if end - start > MAX_DIGITS:
        raise _Stop(
            Problem(start, end, f"a number longer than {MAX_DIGITS} characters", limit=True)
        )
    digits = text[start:end]
    value = float(digits) if any(mark in digits for mark in ".eE") else int(digits)
    if isinstance(value, float) and value in (float("inf"), float("-inf")):
        raise _Stop(Problem(start, end, f"the number `{digits[:40]}` is too large", limit=True))
    return Node("number", value, start, end)


def _string(text: str, at: int) -> tuple[str, int]:
    """The string whose opening quote stands before `at`, and the offset after its closing one."""
    opening = at - 1
    parts: list[str] = []
    while True:
        match = _PLAIN.match(text, at)
        assert match is not None  # the pattern matches the empty string
        parts.append(match.group())
        at = match.end()
        mark = text[at : at + 1]
        if mark == '"':
            return "".join(parts), at + 1
        if mark == "\\":
            piece, at = _escape(text, at)
            parts.append(piece)
        elif mark in ("", "\n", "\r"):
            raise _Stop(Problem(opening, at, "a string that does not end on its line"))
        else:
            raise _Stop(
                Problem(at, at + 1, f"a control character (U+{ord(mark):04X}) inside a string")
            )


def _escape(text: str, at: int) -> tuple[str, int]:
    letter = text[at + 1 : at + 2]
    if letter in _SIMPLE and letter:
        return _SIMPLE[letter], at + 2
    if letter == "u" and _HEX.match(text, at + 2):
        unit = int(text[at + 2 : at + 6], 16)
        if 0xD800 <= unit < 0xDC00 and text[at + 6 : at + 8] == "\\u" and _HEX.match(text, at + 8):
            low = int(text[at + 8 : at + 12], 16)
            if 0xDC00 <= low < 0xE000:
                return chr(0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00)), at + 12
        if 0xD800 <= unit < 0xE000:
            raise _Stop(
                Problem(at, at + 6, f"half of a character (U+{unit:04X}) without its other half")
            )
        return chr(unit), at + 6
    raise _Stop(Problem(at, at + 2, "an escape that JSON does not have"))
