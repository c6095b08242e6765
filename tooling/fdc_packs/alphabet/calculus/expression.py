"""Meanings as people write them: `time and not (space or cause)`; labels of several words in quotes or joined by `_`.

    text       = statement { `;` statement }
    statement  = expression | expression `->` expression | P(x) | R(a, b)
    expression = a label | `not` expression | expression `and` expression | expression `or` expression | ( expression )

`&`, `|`, `~` and a comma (which is `and`) are read too. `not` binds first, then `and`, then `or`. P and R are a label or an
expression in brackets: P is said of one subject, R holds between two. A rule, `->`, is a sentence of its own.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from .concepts import Basis, CalculusError
from .operators import ArityError, Meaning, atom, conjoin, disjoin, negate

_TOKEN = re.compile(r'\s*(?:"([^"]*)"|(->)|(\w+(?:-\w+)*)|([&|~(),;]))')
_WORDS = {"&": "and", ",": "and", "|": "or", "~": "not"}
DEEPEST = 100
Tokens = list[tuple[str, str]]


class Statement(NamedTuple):
    """One statement: what it means, the subjects that it is said of, and for a rule what follows from it."""

    meaning: Meaning
    subjects: tuple[str, ...] = ()
    conclusion: Meaning | None = None


def statements_of(basis: Basis, text: str) -> list[Statement]:
    """The statements of a text. Raises CalculusError that says where it is none, UnknownPrimitive, ArityError."""
    parts: list[Tokens] = [[]]
    for token in _tokens(text):
        if token[0] == ";":
            parts.append([])
        else:
            parts[-1].append(token)
    return [_statement(basis, part) for part in parts]


def meaning_of(basis: Basis, text: str) -> Meaning:
    """What one expression means. Raises CalculusError that says where it is not one, UnknownPrimitive."""
    return _whole(basis, _tokens(text))


def _statement(basis: Basis, tokens: Tokens) -> Statement:
    arrows = [at for at, token in enumerate(tokens) if token[0] == "->"]
    if len(arrows) > 1:
        raise CalculusError("a rule has one `->`")
    if arrows:
        condition, conclusion = tokens[: arrows[0]], tokens[arrows[0] + 1 :]
        return Statement(_whole(basis, condition), (), _whole(basis, conclusion))
    meaning, at = _either(basis, tokens, 0, 0)
    if at == len(tokens) or tokens[at][0] != "(":
        return Statement(_ended(tokens, meaning, at))
    subjects = _subjects(tokens[at + 1 :])
    if len(subjects) not in (1, 2):
        raise ArityError(
            f"a predication has exactly one subject, a relation two, and there are {len(subjects)}"
        )
    return Statement(meaning, tuple(subjects))


def _subjects(tokens: Tokens) -> list[str]:
    """The names between the brackets of P(x) and R(a, b)."""
    if not tokens or tokens[-1][0] != ")":
        raise CalculusError("a `(` is not closed")
    inside = tokens[:-1]
    for at, (kind, text) in enumerate(inside):
        if kind != "label" if at % 2 == 0 else text != ",":
            raise CalculusError(
                f"subjects are names with commas between them, and there is `{text}`"
            )
    if inside and len(inside) % 2 == 0:
        raise CalculusError("a subject is missing after the last comma")
    return [text for kind, text in inside[::2]]


def _whole(basis: Basis, tokens: Tokens) -> Meaning:
    return _ended(tokens, *_either(basis, tokens, 0, 0))


def _ended(tokens: Tokens, meaning: Meaning, at: int) -> Meaning:
    if at < len(tokens):
        said = " ".join(text for _, text in tokens)
        raise CalculusError(f"`{said}` goes on with `{tokens[at][1]}` where it should end")
    return meaning


def _tokens(text: str) -> Tokens:
    found, at = [], 0
    text = text.rstrip()
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise CalculusError(f"`{text[at:].strip()[:20]}` is not a label and no operator")
        quoted, arrow, word, sign = match.groups()
        if quoted is not None:
            found.append(("label", quoted))
        elif arrow or sign:
            found.append((_WORDS.get(sign, arrow or sign), arrow or sign))
        else:
            found.append((word.lower() if word.lower() in ("and", "or", "not") else "label", word))
        at = match.end()
    return found


def _either(basis: Basis, tokens: Tokens, at: int, depth: int) -> tuple[Meaning, int]:
    meaning, at = _both(basis, tokens, at, depth)
    while at < len(tokens) and tokens[at][0] == "or":
        other, at = _both(basis, tokens, at + 1, depth)
        meaning = disjoin(meaning, other)
    return meaning, at


def _both(basis: Basis, tokens: Tokens, at: int, depth: int) -> tuple[Meaning, int]:
    meaning, at = _one(basis, tokens, at, depth)
    while at < len(tokens) and tokens[at][0] == "and":
        other, at = _one(basis, tokens, at + 1, depth)
        meaning = conjoin(meaning, other)
    return meaning, at


def _one(basis: Basis, tokens: Tokens, at: int, depth: int) -> tuple[Meaning, int]:
    kind, text = tokens[at] if at < len(tokens) else ("end", "")
    if depth > DEEPEST:
        raise CalculusError(f"the expression is nested deeper than {DEEPEST}")
    if kind == "label":
        return atom(basis, text), at + 1
    if kind == "not":
        meaning, at = _one(basis, tokens, at + 1, depth + 1)
        return negate(meaning), at
    if kind == "(":
        meaning, at = _either(basis, tokens, at + 1, depth + 1)
        if at >= len(tokens) or tokens[at][0] != ")":
            raise CalculusError("a `(` is not closed")
        return meaning, at + 1
    raise CalculusError(
        "a label is missing at the end" if kind == "end" else f"a label is missing before `{text}`"
    )
