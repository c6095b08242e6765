"""Parse tables as plain data, which `marshal` can write."""

from __future__ import annotations

from typing import Any

from ...named_tuples import NamedTuple


class Tables(NamedTuple):
    """One parser. An action is a number: a state to shift to, or -1 - n to reduce by rule n.

    `states`: state to terminal or rule name to action. `rules`: (size, name, method, kept, single)
    where `kept` lists (position, splice, Nones before), a position of -1 being a None at the end.
    `lexers`: state to number in `patterns`; a pattern is (regular expression, terminal to
    {text: keyword terminal}).
    """

    starts: dict[str, tuple[int, int]]
    states: dict[int, dict[str, int]]
    rules: list[tuple[int, str, str, list[tuple[int, bool, int]], bool]]
    lexers: dict[int, int]
    patterns: list[tuple[str, dict[str, dict[str, str]]]]
    ignored: frozenset[str]


class Grammar(NamedTuple):
    """Both parsers, and the regular expressions of the terminals that the line lexer and templates use."""

    shape: Tables
    tails: Tables
    terminals: dict[str, str]


def plain(value: object) -> Any:
    """Built-in types only, as `marshal` wants them; Lark's names are strings of a class of their own."""
    if isinstance(value, str):
        return str(value)
    if isinstance(value, dict):
        return {plain(key): plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, tuple):
        return tuple(plain(item) for item in value)
    return value
