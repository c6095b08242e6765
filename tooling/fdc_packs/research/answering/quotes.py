"""Opens what is quoted, as it is now, and says why a quotation does not hold (EXP-17): the one check of the pack."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

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

    def wrong(self, citation: object) -> str | None:
        """Why a citation does not hold; None where it does."""
        if not isinstance(citation, dict):
            return "it is not a citation"
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


class Checked(NamedTuple):
    """The claims of which every citation holds, the others with the reason, and how many citations were opened."""

    held: list[dict[str, Any]]
    rejected: list[dict[str, Any]]
    opened: int


def check_claims(
    rows: object, lines: Lines, among: Container[tuple[str, int]] | None = None, called: str = ""
) -> Checked:
    """Opens every line that claims cite. `among`: the places that a claim has to cite one of, and what they are `called`."""
    out = Checked([], [], 0)
    for row in rows if isinstance(rows, list) else ():
        if not isinstance(row, dict):
            continue
        citations = row.get("citations")
        citations = citations if isinstance(citations, list) else []
        out = out._replace(opened=out.opened + len(citations))
        why, place = "" if citations else "it cites nothing", ""
        for one in citations:
            wrong = lines.wrong(one)
            if wrong is not None:
                place = place_of(one)
                why = f"{place}: {wrong}"
                break
        if not why and among is not None:
            if not any((one["path"], one["line"]) in among for one in citations):
                why = f"it cites nothing of {called}"
        if why:
            claim = str(row.get("claim", ""))[:300]
            out.rejected.append({"claim": claim, "why": why, "place": place})
        else:
            out.held.append(row)
    return out


def place_of(citation: object) -> str:
    """Where a citation points to."""
    return f"{citation.get('path')}:{citation.get('line')}" if isinstance(citation, dict) else "?"


@contextmanager
def of_workspace(context: Context) -> Iterator[Lines]:
    """The lines of the workspace's files."""
    with context.root.folder([]) as base:
        yield Lines(base)
