"""Our loop over Lark's tables gives Lark's own trees, and refuses what Lark refuses (formal ground: one grammar, one parser)."""

from __future__ import annotations

import dataclasses
import os
import random
from collections.abc import Callable
from typing import Any

import pytest
from fdc_toolchain import resources
from fdc_toolchain.diagnostics.source import Limits
from fdc_toolchain.syntax import tail_values, values
from fdc_toolchain.syntax.grammar.compile_tables import TAILS
from fdc_toolchain.syntax.grammar.lalr import Refused, Word
from fdc_toolchain.syntax.parse import _Builder, _machinery
from fdc_toolchain.syntax.syntax_errors import Wrong
from lark import Lark, Token, Transformer
from lark.exceptions import UnexpectedInput, VisitError

GRAMMAR = resources.read("grammar/plan.lark").decode("ascii")
COUNT = 100_000 if os.environ.get("HYPOTHESIS_PROFILE") == "soak" else 20_000
"""Texts for each of the two parsers; `make soak` asks for 100,000."""

PIECES = (
    'a b9 max as in until depth not and or true false len len( ( ) { } {a} {a.b} {{a}} a.b key= key=v "q" "q{a}" "\\"" '
    "\" = == != < <= > >= 3 12.5 -1 , . * ** src/*.py https://x?a=b else fsm é # 'x' x.y.z [ ] 007 ="
).split(" ")


class _LarkReader(Transformer[Any, Any], tail_values.TailBuilder):  # type: ignore[misc]
    """The same methods, called by Lark, with words in place of its tokens."""

    def __init__(self) -> None:
        super().__init__(visit_tokens=False)
        for name in dir(tail_values.TailBuilder):
            if name[0] != "_" and callable(method := getattr(self, name)):
                setattr(self, name, _of_words(method))


def _of_words(method: Callable[..., Any]) -> Callable[..., Any]:
    def called(children: Any, *more: Any) -> Any:
        own = isinstance(children, list)  # the methods also call each other, with anything
        return method([_word(one) for one in children] if own else children, *more)

    return called


def _word(one: object) -> object:
    if not isinstance(one, Token):
        return one
    word = Word(one)
    word.type, word.start_pos, word.end_pos = one.type, one.start_pos or 0, one.end_pos or 0
    return word


class _LarkBuilder(Transformer[Any, Any], _Builder):  # type: ignore[misc]
    """The same methods, called by Lark."""


@pytest.mark.long
def test_tails_are_read_as_lark_reads_them() -> None:
    lark = Lark(
        GRAMMAR,
        parser="lalr",
        lexer="contextual",
        start=list(TAILS),
        transformer=_LarkReader(),
    )
    driver = values._driver()
    rng = random.Random(20261121)
    read = refused = 0
    for _ in range(COUNT):
        start = rng.choice([name for name in TAILS if name != "template"])
        text = rng.choice(("", " ")).join(rng.choice(PIECES) for _ in range(rng.randint(0, 7)))
        if rng.random() < 0.5:
            text = _seemly(rng, start)
        expected: Any
        actual: Any
        try:
            expected = lark.parse(text, start=start)
        except UnexpectedInput:
            expected = Refused
        except Wrong as wrong:
            expected = wrong.malformed
        except VisitError as inner:
            assert isinstance(inner.orig_exc, Wrong)
            expected = inner.orig_exc.malformed
        try:
            actual = driver.read(start, text)
        except Refused:
            actual = Refused
        except Wrong as wrong:
            actual = wrong.malformed
        assert actual == expected, f"{start}: {text!r}"
        read += expected is not Refused
        refused += expected is Refused
    assert read > COUNT // 10 and refused > COUNT // 10


def _seemly(rng: random.Random, start: str) -> str:
    """A text near the form of its rule, so that many are accepted."""

    def value() -> str:
        return rng.choice(
            ("a", "{a}", "{a.b}", '"x y"', '"{a} b"', "12", "src/*.py", "a.b", "max", "depth")
        )

    def condition(depth: int = 0) -> str:
        kind = rng.randrange(8)
        atom = rng.choice(
            ("a", "{a}", "a.b", '"x"', "3", "-1", "true", "len(a)", "cited({a})", "f(a, 3)", "f()")
        )
        if depth > 2 or kind < 3:
            return atom
        if kind < 5:
            return f"{atom} {rng.choice(('==', '!=', '<', '<=', '>', '>=', 'in'))} {rng.choice(('a', '3', '{b}'))}"
        if kind == 5:
            return f"not {condition(depth + 1)}"
        if kind == 6:
            return f"({condition(depth + 1)})"
        return f"{condition(depth + 1)} {rng.choice(('and', 'or'))} {condition(depth + 1)}"

    arguments = " ".join(rng.choice(("", "k=", "key=")) + value() for _ in range(rng.randint(0, 3)))
    return {
        "arguments": arguments,
        "call_tail": f"{value()} {' '.join('k=' + value() for _ in range(rng.randint(0, 2)))} {rng.choice(('', 'depth 2'))}",
        "for_each_tail": f"{value()} {rng.choice(('', 'as x'))} {rng.choice(('', 'max 3'))}",
        "for_tail": f"x in {value()} {rng.choice(('', 'max 3'))}",
        "fork_tail": f"x in {value()} {rng.choice(('', 'max 3'))} {rng.choice(('', 'keep failures', 'keep'))}",
        "iterate_tail": f"max 3 {rng.choice(('', 'until ' + condition()))}",
        "require_tail": f'{condition()} else "why"',
        "if_tail": condition(),
        "yield_tail": value(),
        "use_tail": "fsm " + value(),
        "param_tail": rng.choice(("p", "p = " + value(), "p=" + value())),
        "budget_tail": rng.choice(("steps 3", "money 0.5")),
        "allow_tail": "read " + " ".join(value() for _ in range(rng.randint(1, 3))),
    }[start]


LINES = (
    "read_file a|  read_file b|    x <- grep a b|if a|  if b|else|  else|for x in {y} max 3|  y <- fork z in {y} max 2|"
    "    yield {z}|for_each_file *.py|  iterate max 2|call_plan p|  c <- call_plan q k=v|"
    'require a else "b"|# note|  # inner|use fsm x|param p|'
    "  text line|      deep text||---|1. x|\tx"
).split("|")


def test_shapes_are_built_as_lark_builds_them() -> None:
    lark = Lark(
        GRAMMAR,
        parser="lalr",
        lexer="basic",
        start=["plan"],
        transformer=_LarkBuilder(visit_tokens=False),
    )
    lexer, driver = _machinery()
    rng = random.Random(20261122)
    statements = 0
    for _ in range(COUNT // 4):
        text = "\n".join(rng.choice(LINES) for _ in range(rng.randint(1, 14))) + "\n"
        mine, _ = lexer.lex(text, "p", Limits())
        theirs, _ = lexer.lex(text, "p", Limits())
        assert mine is not None and theirs is not None
        actual = driver.parse("plan", mine)
        state = lark.parse_interactive().parser_state
        for token in theirs:
            state.feed_token(token)  # type: ignore[arg-type]
        expected = state.feed_token(_End(), True)  # type: ignore[arg-type]
        assert _plain(actual) == _plain(expected), text
        statements += len(actual)
    assert statements > COUNT // 4


class _End:
    type = "$END"


def _plain(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if dataclasses.is_dataclass(value):
        return [
            type(value).__name__,
            *(_plain(getattr(value, item.name)) for item in dataclasses.fields(value)),
        ]
    if hasattr(value, "__slots__") and not isinstance(value, str):
        return [
            type(value).__name__,
            *(_plain(getattr(value, name, None)) for name in value.__slots__),
        ]
    return value
