"""Converts Lark's parser of the grammar to the tables of `syntax.grammar.table_form`."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from lark import Lark
from lark.lexer import PatternStr, UnlessCallback
from lark.parsers.lalr_analysis import Shift

from ..language import CONSTRUCTS, STATEMENTS
from .table_form import Grammar, Tables

TAILS = ["template", "arguments", *(row.tail for row in STATEMENTS.values())]


@lru_cache(maxsize=1)
def shape_parser(text: str) -> Lark:
    """Lark's parser of whole texts, to be fed with line tokens."""
    return Lark(text, parser="lalr", lexer="basic", start=["plan"])


@lru_cache(maxsize=1)
def tail_parser(text: str) -> Lark:
    """Lark's parser of what follows a line's first word; its start rules are `TAILS`."""
    return Lark(text, parser="lalr", lexer="contextual", start=list(TAILS))


def compiled(text: str) -> Grammar:
    """The tables of a grammar. Raises ImportError where its first words are not those of `syntax.language`."""
    shape = shape_parser(text)
    _check_words(shape)
    tails = tail_parser(text)
    sources = {"BINDING": shape, "STEP": shape, "PLACEHOLDER": tails}
    terminals = {
        name: parser.get_terminal(name).pattern.to_regexp() for name, parser in sources.items()
    }
    return Grammar(
        _tables(shape, ["plan"], lexed=False), _tables(tails, TAILS, lexed=True), terminals
    )


def _check_words(shape: Lark) -> None:
    """Raises ImportError unless the grammar and the table of statements have the same first words and names."""
    used, work = set(), ["plan"]
    while work:
        name = work.pop()
        if name not in used:
            used.add(name)
            work += [
                str(symbol.name)
                for rule in shape.rules
                if rule.origin.name == name
                for symbol in rule.expansion
            ]
    in_grammar = {
        str(item.name): str(item.pattern.value)
        for item in shape.terminals
        if item.name in used and isinstance(item.pattern, PatternStr)
    }
    stated = {row.token: row.word for row in CONSTRUCTS}
    for token, word in sorted(stated.items() - in_grammar.items()):
        raise ImportError(f'grammar/plan.lark has no `{token}: "{word}"` which `plan` uses')
    for token, word in sorted(in_grammar.items() - stated.items()):
        raise ImportError(f"syntax/language.py has no row for `{word}` ({token} in plan.lark)")


def _tables(parser: Lark, starts: list[str], *, lexed: bool) -> Tables:
    table = parser.parser.parser.parser.parse_table
    numbers: dict[Any, int] = {}
    rules: list[Any] = []
    states: dict[int, dict[str, int]] = {}
    for state, row in table.states.items():
        actions = states[state] = {}
        for name, (action, argument) in row.items():
            if action is Shift:
                actions[str(name)] = argument
                continue
            if argument not in numbers:
                numbers[argument] = len(rules)
                rules.append(_rule(argument))
            actions[str(name)] = -1 - numbers[argument]
    lexers: dict[int, int] = {}
    patterns: list[Any] = []
    if lexed:
        seen: dict[int, int] = {}
        for state, lexer in parser.parser.lexer.lexers.items():
            if id(lexer) not in seen:
                seen[id(lexer)] = len(patterns)
                patterns.append(_pattern(lexer))
            lexers[state] = seen[id(lexer)]
    places = {name: (table.start_states[name], table.end_states[name]) for name in starts}
    ignored = frozenset(str(name) for name in parser.lexer_conf.ignore) if lexed else frozenset()
    return Tables(_plain(places), states, _plain(rules), lexers, _plain(patterns), ignored)


def _rule(rule: Any) -> Any:
    """(size, name, method, kept, single): what Lark's own child filter does with a rule's children."""
    size = len(rule.expansion)
    gaps = [0] * (size + 1)
    if rule.options.empty_indices:
        gaps = [
            len(ones)
            for ones in "".join(str(int(bit)) for bit in rule.options.empty_indices).split("0")
        ]
    kept: list[tuple[int, bool, int]] = []
    nones = 0
    for at, symbol in enumerate(rule.expansion):
        nones += gaps[at]
        if symbol.is_term and (symbol.filter_out or symbol.name.startswith("_")):
            continue
        kept.append((at, not symbol.is_term and symbol.name.startswith("_"), nones))
        nones = 0
    nones += gaps[size]
    if nones:
        kept.append((-1, False, nones))
    name = rule.origin.name
    return size, name, rule.alias or name, kept, bool(rule.options.expand1 and not rule.alias)


def _pattern(lexer: Any) -> Any:
    """The alternation that a lexer tries, in its order, and the texts that are keywords instead."""
    scanner = lexer.scanner
    alternation = "|".join(
        f"(?P<{item.name}>{item.pattern.to_regexp()})" for item in scanner.terminals
    )
    keywords: dict[str, dict[str, str]] = {}
    for name, callback in lexer.callback.items():
        if isinstance(callback, UnlessCallback):
            keywords[name] = {item.pattern.value: item.name for item in callback.scanner.terminals}
    return alternation, keywords


def _plain(value: object) -> Any:
    """Built-in types only, as `marshal` wants them; Lark's names are strings of a class of their own."""
    if isinstance(value, str):
        return str(value)
    if isinstance(value, dict):
        return {_plain(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, tuple):
        return tuple(_plain(item) for item in value)
    return value
