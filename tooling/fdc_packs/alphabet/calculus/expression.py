"""Meanings as people write them: `time and not (space or cause)`; labels of several words in quotes or joined by `_`.

    expression = a label | `not` expression | expression `and` expression | expression `or` expression | ( expression )

`&`, `|`, `~` and a comma (which is `and`) are read too. `not` binds first, then `and`, then `or`.
"""

from __future__ import annotations

import re

from .concepts import Basis, CalculusError
from .operators import Meaning, atom, conjoin, disjoin, negate

_TOKEN = re.compile(r'\s*(?:"([^"]*)"|([\w-]+)|([&|~(),]))')
_WORDS = {"&": "and", ",": "and", "|": "or", "~": "not"}
DEEPEST = 100


def meaning_of(basis: Basis, text: str) -> Meaning:
    """What an expression means. Raises CalculusError that says where it is not one, UnknownPrimitive."""
    tokens = _tokens(text)
    meaning, at = _either(basis, tokens, 0, 0)
    if at < len(tokens):
        raise CalculusError(f"`{text}` goes on with `{tokens[at][1]}` where it should end")
    return meaning


def _tokens(text: str) -> list[tuple[str, str]]:
    found, at = [], 0
    text = text.rstrip()
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise CalculusError(f"`{text[at:].strip()[:20]}` is no label and no operator")
        quoted, word, sign = match.groups()
        if quoted is not None:
            found.append(("label", quoted))
        elif sign is not None:
            found.append((_WORDS.get(sign, sign), sign))
        else:
            found.append((word.lower() if word.lower() in ("and", "or", "not") else "label", word))
        at = match.end()
    return found


def _either(
    basis: Basis, tokens: list[tuple[str, str]], at: int, depth: int
) -> tuple[Meaning, int]:
    meaning, at = _both(basis, tokens, at, depth)
    while at < len(tokens) and tokens[at][0] == "or":
        other, at = _both(basis, tokens, at + 1, depth)
        meaning = disjoin(meaning, other)
    return meaning, at


def _both(basis: Basis, tokens: list[tuple[str, str]], at: int, depth: int) -> tuple[Meaning, int]:
    meaning, at = _one(basis, tokens, at, depth)
    while at < len(tokens) and tokens[at][0] == "and":
        other, at = _one(basis, tokens, at + 1, depth)
        meaning = conjoin(meaning, other)
    return meaning, at


def _one(basis: Basis, tokens: list[tuple[str, str]], at: int, depth: int) -> tuple[Meaning, int]:
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
