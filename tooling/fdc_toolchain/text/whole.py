"""Half a character (a lone surrogate): JSON can spell it, and UTF-8 cannot write it."""

from __future__ import annotations


def whole(text: str) -> str:
    """The text with every lone surrogate replaced by U+FFFD."""
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
