"""A number with its noun."""

from __future__ import annotations


def plural(number: int, word: str, words: str = "") -> str:
    """`1 error`, `2 errors`; `words` where the plural has no plain s."""
    return f"{number} {word if number == 1 else words or word + 's'}"
