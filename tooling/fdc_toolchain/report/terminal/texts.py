"""The lines that spans point into, by path."""

from __future__ import annotations

from collections.abc import Callable

Texts = Callable[[str], "list[str] | None"]


def lines_of(sources: Callable[[str], str | None]) -> Texts:
    """The lines of a text by path, each split once. CRLF counts as one line end."""
    cache: dict[str, list[str] | None] = {}

    def lines(path: str) -> list[str] | None:
        if path not in cache:
            text = sources(path)
            rows = None if text is None else text.split("\n")
            if rows and "\r" in text:  # type: ignore[operator]
                rows = [line[:-1] if line.endswith("\r") else line for line in rows]
            cache[path] = rows
        return cache[path]

    return lines
