"""Sentences of comments and docstrings, on one line and without their marks."""

from __future__ import annotations

import re

_MARKS = re.compile(
    r"^\s*(?:[rRuUbBfF]{0,2}(?:\"{3}|'{3})|/\*+|\*+/?|//[/!]?|#+[:!]?|--|;+|%+|<!--)?\s*|\s*(?:\"{3}|'{3}|\*+/|-->)\s*$"
)
_OPENS = re.compile(r"\s*(?:[-*+] |\d+[.)] |[:@.]\w|[rRuUbB]?[\"']{3}|\w+ : )")
_WORDS = re.compile(r"\w{2}")
_STOPS = re.compile(r"[.!?]\s+(?=[A-Z`\"'(])|:\s+$")


def sentence(lines: tuple[str, ...], line: int, prose: frozenset[int]) -> str:
    """The first sentence of a documentation that begins on a line, on one line, without its marks; `prose` has its lines."""
    out: list[str] = []
    for number in range(line, min(line + 4, len(lines) + 1)):
        if number not in prose:
            break
        text = _MARKS.sub("", lines[number - 1])
        if not text.strip():
            break
        out.append(text.strip())
        if re.search(r"[.!?:][\"'`)]*$", out[-1]) or re.search(
            r"[\"']{3}\s*$|\*/\s*$", lines[number - 1]
        ):
            break
    return " ".join(out)


def around(lines: tuple[str, ...], line: int, prose: frozenset[int]) -> str:
    """The sentence of a comment or docstring that a line is part of, on one line; `prose` has the lines that are either."""
    first = line
    while (
        first - 1 in prose
        and line - first < 6
        and _WORDS.search(lines[first - 2])
        and not _OPENS.match(lines[first - 1])
    ):
        first -= 1
    text, at = "", 0
    for number in range(first, min(line + 6, len(lines)) + 1):
        bare = _MARKS.sub("", lines[number - 1]).strip()
        if (
            number not in prose
            or not _WORDS.search(bare)
            or (number > line and _OPENS.match(lines[number - 1]))
        ):
            break
        at = len(text) if number == line else at
        text += bare + " "
    starts = [0, *(found.end() for found in _STOPS.finditer(text))]
    begin = max(start for start in starts if start <= at)
    end = next((start for start in starts if start > at + 1), len(text))
    return text[begin:end].strip().removeprefix("- ").removeprefix("* ")
