"""Parse tables as plain data, which `marshal` can write."""

from __future__ import annotations

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
