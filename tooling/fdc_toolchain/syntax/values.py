"""What stands on a line after its first word: arguments, loop heads, conditions, templates.

Each reader takes the text of a tail and returns a value, or `Malformed` with the place; none
raises. Results depend on the text alone, so they are memoised by it. Offsets count
characters from the start of the tail.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

from .. import resources
from .conditions import Condition, Ref
from .lalr import Driver, Refused
from .language import complete
from .syntax_errors import Malformed, Wrong, complain
from .tables import grammar
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
    count,
    escape,
    placeholder,
    template,
)

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
    """What Lark itself says of a tail that the driver refused."""
    from lark.exceptions import UnexpectedCharacters, UnexpectedToken

    from .compile_tables import tail_parser

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
    return Value(text, parts, start, start + len(text))


def _words(text: str) -> list[Argument]:
    """The arguments of a text that `_WORDS` matches."""
    out = []
    at = 0
    for word in text.split(" "):
        if word:
            key, equals, value = word.partition("=")
            if equals:
                out.append(Argument(key, _plain(value, at + len(key) + 1), at))
            else:
                out.append(Argument(None, _plain(word, at), at))
        at += len(word) + 1
    return out


def rest(text: str) -> Value:
    """The whole tail as one value, as it stands."""
    return Value(text, template(text), 0, len(text))


@lru_cache(maxsize=1 << 16)
def arguments(text: str) -> tuple[Argument, ...] | Malformed:
    """`value`, `"quoted"` and `key=value`, in order."""
    return tuple(_words(text)) if _WORDS(text) else _read("arguments", text)


@lru_cache(maxsize=1 << 14)
def call_tail(text: str) -> CallTail | Malformed:
    """What follows `call_plan`."""
    if _WORDS(text):
        target, *given = _words(text)
        if target.key is None and all(argument.key is not None for argument in given):
            return CallTail(target.value, tuple(given), None)
    return _read("call_tail", text)


@lru_cache(maxsize=1 << 14)
def for_each_tail(text: str) -> LoopTail | Malformed:
    """What follows `for_each_file`."""
    found = _EACH(text)
    if found:
        return LoopTail(found[2], _plain(found[1], 0), count(found[3]))
    return _read("for_each_tail", text)


def _items(text: str) -> LoopTail | None:
    found = _ITEMS(text)
    return LoopTail(found[1], _plain(found[2], found.start(2)), count(found[3])) if found else None


@lru_cache(maxsize=1 << 14)
def for_tail(text: str) -> LoopTail | Malformed:
    """What follows `for`."""
    return _items(text) or _read("for_tail", text)


@lru_cache(maxsize=1 << 14)
def fork_tail(text: str) -> LoopTail | Malformed:
    """What follows `fork`."""
    return _items(text) or _read("fork_tail", text)


@lru_cache(maxsize=1 << 14)
def iterate_tail(text: str) -> IterateTail | Malformed:
    """What follows `iterate`."""
    return _read("iterate_tail", text)


@lru_cache(maxsize=1 << 14)
def require_tail(text: str) -> RequireTail | Malformed:
    """What follows `require`."""
    return _read("require_tail", text)


@lru_cache(maxsize=1 << 14)
def if_tail(text: str) -> Condition | Malformed:
    """What follows `if`."""
    return _read("if_tail", text)


@lru_cache(maxsize=1 << 14)
def yield_tail(text: str) -> Value | Malformed:
    """What follows `yield`."""
    return _plain(text, 0) if _WORD(text) else _read("yield_tail", text)


@lru_cache(maxsize=1 << 12)
def param_tail(text: str) -> ParamTail | Malformed:
    """What follows `param`."""
    return _read("param_tail", text)


@lru_cache(maxsize=1 << 12)
def header_tail(keyword: str, text: str) -> NamedValues | Malformed:
    """What follows `use`, `budget` or `allow`."""
    return _read(f"{keyword}_tail", text)


READERS: dict[str, Callable[[str], Any]] = {
    "use": partial(header_tail, "use"),
    "param": param_tail,
    "budget": partial(header_tail, "budget"),
    "allow": partial(header_tail, "allow"),
    "call_plan": call_tail,
    "for_each_file": for_each_tail,
    "for": for_tail,
    "fork": fork_tail,
    "iterate": iterate_tail,
    "if": if_tail,
    "require": require_tail,
    "yield": yield_tail,
}
"""By first word, what reads the rest of the line."""

complete(READERS, "reader of its tail in syntax/values.py")
