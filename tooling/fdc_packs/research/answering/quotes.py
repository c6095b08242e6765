"""Opens what is quoted, as it is now, and says why a quotation does not hold (EXP-17): the one check of the pack."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from fdc_toolchain.api.files import lines_in, read_beneath
from fdc_toolchain.api.tools import Context, ToolFailure

LEAST_QUOTE = 8
"""Characters that a quotation has at least where it is not the whole line: less stands on many lines, and shows nothing."""


class Lines:
    """Files beneath a folder, each opened once, and pages of the web as they were read."""

    def __init__(self, base: str | int, pages: Mapping[str, tuple[str, ...]] | None = None) -> None:
        self._base = base
        self._files: dict[str, tuple[str, ...] | str] = dict(pages or {})

    def of(self, path: str) -> tuple[str, ...] | str:
        """The file's lines, or why there are none."""
        if path not in self._files:
            self._files[path] = self._read(path)
        return self._files[path]

    def _read(self, path: str) -> tuple[str, ...] | str:
        if path.startswith(("http://", "https://")):
            return "the page was not read in this run"
        try:
            return lines_in(path, read_beneath(self._base, path))
        except UnicodeDecodeError:
            return "the file is not UTF-8"
        except (OSError, ToolFailure) as failed:
            why = getattr(failed, "strerror", None) or str(failed) or "unknown"
            return f"the file cannot be opened: {why.lower()}"

    def at(self, path: str, number: int) -> str | None:
        """One line, or None."""
        found = self.of(path)
        return (
            found[number - 1] if not isinstance(found, str) and 1 <= number <= len(found) else None
        )

    def wrong(self, citation: Any) -> str | None:
        """Why a citation does not hold; None where it does."""
        if not isinstance(citation, dict):
            return "it is no citation"
        path, line, quote = citation.get("path"), citation.get("line"), citation.get("quote")
        if (
            not isinstance(path, str)
            or not isinstance(line, int)
            or isinstance(line, bool)
            or not isinstance(quote, str)
        ):
            return "it does not say source, line and quotation"
        found = self.of(path)
        if isinstance(found, str):
            return found
        if not 1 <= line <= len(found):
            return f"the file has {len(found)} lines, not {line}"
        quote = quote.strip()
        if not quote or quote not in found[line - 1]:
            return "the quoted text is not there"
        if len(quote) < LEAST_QUOTE and quote != found[line - 1].strip():
            return f"`{quote}` is too little of that line to show anything"
        return None


@contextmanager
def of_workspace(context: Context) -> Iterator[Lines]:
    """The lines of the workspace's files."""
    with context.root.folder([]) as base:
        yield Lines(base)
