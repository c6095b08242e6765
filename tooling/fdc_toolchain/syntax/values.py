"""Parses what follows the first word of a line: arguments, loop heads, conditions, templates.

Each reader takes the text of a tail and returns a value, or `Malformed` with the place; none
raises. Results depend on the text alone, so they are memoised by it. Offsets count
characters from the start of the tail.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from .. import resources
from ..named_tuples import new_tuple
from .conditions import Condition, Ref
from .grammar.lalr import Driver, Refused
from .grammar.tables import grammar
from .language import STATEMENTS
from .syntax_errors import Malformed, Wrong, complain
from .tail_values import (
    Argument,
    CallTail,
    IterateTail,
    LoopTail,
    NamedValues,
    ParamTail,
    RequireTail,
    TailBuilder,
    Value,
    escape,
    placeholder,
    template,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = [
    "READERS",
    "Argument",
    "CallTail",
    "Condition",
    "IterateTail",
    "LoopTail",
    "Malformed",
    "NamedValues",
    "ParamTail",
    "Ref",
    "RequireTail",
    "Value",
    "arguments",
    "call_tail",
    "escape",
    "for_each_tail",
    "for_tail",
    "fork_tail",
    "header_tail",
    "if_tail",
    "iterate_tail",
    "param_tail",
    "placeholder",
    "require_tail",
    "rest",
    "template",
    "yield_tail",
]


@lru_cache(maxsize=1)
def _driver() -> Driver:
    return Driver(grammar().tails, TailBuilder())


def _read(start: str, text: str) -> Any:
    try:
        return _driver().read(start, text)
    except Wrong as wrong:
        return wrong.malformed
    except Refused:
        return _refusal(start, text)


def _refusal(start: str, text: str) -> Malformed:
    """Lark's own error for a tail that the driver refused."""
    from lark.exceptions import UnexpectedCharacters, UnexpectedToken

    from .grammar.compile_tables import tail_parser

    try:
        tail_parser(resources.read("grammar/plan.lark").decode("ascii")).parse(text, start=start)
    except UnexpectedToken as error:
        token = error.token
        at = len(text) if token.type == "$END" else token.start_pos
        return complain(start, text, at, set(error.accepts or error.expected))
    except UnexpectedCharacters as error:
        return complain(start, text, error.pos_in_stream or 0, set(error.allowed or ()))
    raise AssertionError(f"Lark reads what our loop over its tables refused: {text!r}")


_NAME = "[A-Za-z_][A-Za-z0-9_]*"
_PLAIN = '[^\\s"\'=][^\\s"=]*'
_MAX = "(?: +max +([0-9]{1,9}))?"
_WORDS = re.compile(f"(?:{_NAME}=)?{_PLAIN}(?: +(?:{_NAME}=)?{_PLAIN})*").fullmatch
_WORD = re.compile(_PLAIN).fullmatch
_EACH = re.compile(f"({_PLAIN})(?: +as +({_NAME}))?{_MAX}").fullmatch
_ITEMS = re.compile(f"({_NAME}) +in +({_PLAIN}){_MAX}").fullmatch
"""The most frequent tails: words without quotes, which need no parser (a test compares the two)."""


def _plain(text: str, start: int) -> Value:
    """The value that a word without quotes is."""
    parts = template(text)
    if "{" in text:
        shifted = [
            part if isinstance(part, str) else Ref(part.path, part.start + start, part.end + start)
            for part in parts
        ]
        parts = tuple(shifted)
    return new_tuple(Value, (text, parts, start, start + len(text)))


def _words(text: str) -> list[Argument]:
    """The arguments of a text that `_WORDS` matches."""
    out = []
    at = 0
    for word in text.split(" "):
        if word:
            key, equals, value = word.partition("=")
            if equals:
                out.append(new_tuple(Argument, (key, _plain(value, at + len(key) + 1), at)))
            else:
                out.append(new_tuple(Argument, (None, _plain(word, at), at)))
        at += len(word) + 1
    return out


def rest(text: str) -> Value:
    """The whole tail as one value, as it stands."""
    return Value(text, template(text), 0, len(text))


@lru_cache(maxsize=1 << 16)
def arguments(text: str) -> tuple[Argument, ...] | Malformed:
    """`value`, `"quoted"` and `key=value`, in order."""
    return tuple(_words(text)) if _WORDS(text) else _read("arguments", text)


def _call(text: str) -> CallTail | None:
    if _WORDS(text):
        target, *named_arguments = _words(text)
        if target.key is None and all(argument.key is not None for argument in named_arguments):
            return CallTail(target.value, tuple(named_arguments), None)
    return None


def _each(text: str) -> LoopTail | None:
    match = _EACH(text)
    return (
        LoopTail(match[2], _plain(match[1], 0), int(match[3]) if match[3] else None)
        if match
        else None
    )


def _items(text: str) -> LoopTail | None:
    match = _ITEMS(text)
    return (
        LoopTail(match[1], _plain(match[2], match.start(2)), int(match[3]) if match[3] else None)
        if match
        else None
    )


_SHORT_CUTS: dict[str, Callable[[str], Any]] = {
    "call_plan": _call,
    "for_each_file": _each,
    "for": _items,
    "fork": _items,
    "yield": lambda text: _plain(text, 0) if _WORD(text) else None,
}
"""By first word, a reader of tails that need no parser; it returns None for a tail that does."""


def _reader(word: str, rule: str) -> Callable[[str], Any]:
    short = _SHORT_CUTS.get(word)

    @lru_cache(maxsize=1 << 14)
    def read(text: str) -> Any:
        return short and short(text) or _read(rule, text)

    return read


READERS = {word: _reader(word, row.tail) for word, row in STATEMENTS.items()}
"""By first word, what reads the rest of the line."""

call_tail: Callable[[str], CallTail | Malformed] = READERS["call_plan"]
for_each_tail: Callable[[str], LoopTail | Malformed] = READERS["for_each_file"]
for_tail: Callable[[str], LoopTail | Malformed] = READERS["for"]
fork_tail: Callable[[str], LoopTail | Malformed] = READERS["fork"]
iterate_tail: Callable[[str], IterateTail | Malformed] = READERS["iterate"]
require_tail: Callable[[str], RequireTail | Malformed] = READERS["require"]
if_tail: Callable[[str], Condition | Malformed] = READERS["if"]
yield_tail: Callable[[str], Value | Malformed] = READERS["yield"]
param_tail: Callable[[str], ParamTail | Malformed] = READERS["param"]


def header_tail(keyword: str, text: str) -> NamedValues | Malformed:
    """What follows `use`, `budget` or `allow`."""
    tail: NamedValues | Malformed = READERS[keyword](text)
    return tail
