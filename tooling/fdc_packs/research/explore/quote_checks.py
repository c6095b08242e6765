"""The tools of the explore pack that check what findings and a synthesis quote: each place is opened and compared."""

from __future__ import annotations

from typing import Any

from fdc_toolchain.api.tools import Context

from ..answering.judge import shown

LEAST_QUOTE = 8
"""Characters that a quotation has at least where it is not the whole line: less stands on many lines, and shows nothing."""


def check_findings(args: dict[str, Any], context: Context) -> Any:
    """Opens every citation of a track's findings; a finding with one that does not hold, or with none of the track's evidence,
    is rejected (EXP-16, 17, 19).
    """
    documented = args.get("documented")
    evidence = {_at(row) for row in _rows(args.get("evidence"), "evidence")}
    held, rejected, checked = _checked(
        _rows(documented, "findings"), Lines(context), evidence, "the track's evidence"
    )
    return {"documented": documented, "held": held, "rejected": rejected, "checked": checked}


def check_synthesis(args: dict[str, Any], context: Context) -> Any:
    """Opens every citation of a synthesis once more, right before it is written (EXP-17). A claim that cites nothing of what the
    tracks found for the question is rejected: it does not answer it (EXP-25).
    """
    proposal = args.get("proposal")
    tracks = args.get("findings")
    found = {
        _at(cited) for row in (tracks if isinstance(tracks, list) else ()) for one in _rows(row, "findings")
        for cited in _rows(one, "citations")
    }  # fmt: skip
    lines = Lines(context)
    out: dict[str, Any] = {"proposal": proposal, "rejected": [], "checked": 0}
    for part in ("unified", "nuances"):
        held, rejected, checked = _checked(
            _rows(proposal, part), lines, found, "what the tracks found"
        )
        out[part] = held
        out["rejected"] += rejected
        out["checked"] += checked
    out["claims"] = shown(out["unified"], out["nuances"])
    return out


class Lines:
    """Files of the workspace as they are now, each opened once."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._files: dict[str, tuple[str, ...] | str] = {}

    def of(self, path: str) -> tuple[str, ...] | str:
        """The file's lines, or why there are none."""
        from fdc_toolchain.api.files import lines_in, read_beneath

        if path not in self._files:
            try:
                with self._context.root.folder([]) as base:
                    self._files[path] = lines_in(path, read_beneath(base, path))
            except UnicodeDecodeError:
                self._files[path] = "the file is not UTF-8"
            except OSError as failed:
                self._files[path] = (
                    f"the file cannot be opened: {(failed.strerror or 'unknown').lower()}"
                )
        return self._files[path]

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
            return "it does not say file, line and quotation"
        found = self.of(path)
        if isinstance(found, str):
            return found
        if not 1 <= line <= len(found):
            return f"the file has {len(found)} lines"
        quote = quote.strip()
        if not quote or quote not in found[line - 1]:
            return "the quoted text is not there"
        if len(quote) < LEAST_QUOTE and quote != found[line - 1].strip():
            return f"`{quote}` is too little of that line to show anything"
        return None


def _at(row: Any) -> tuple[Any, Any] | None:
    """Where a citation, or a piece of evidence, points to."""
    return (str(row.get("path")), str(row.get("line"))) if isinstance(row, dict) else None


def _checked(
    rows: list[Any], lines: Lines, among: set[tuple[Any, Any] | None], called: str
) -> tuple[list[dict[str, Any]], list[dict[str, Any]], int]:
    """The rows of which every citation holds and one is `among` what was found, the others with the reason, and how many
    citations were opened."""
    held: list[dict[str, Any]] = []
    rejected: list[dict[str, Any]] = []
    checked = 0
    for row in rows:
        if not isinstance(row, dict):
            continue
        citations = row.get("citations")
        citations = citations if isinstance(citations, list) else []
        checked += len(citations)
        why, place = "it cites nothing" if not citations else None, ""
        for citation in citations:
            wrong = lines.wrong(citation)
            if wrong is not None:
                place = (
                    f"{citation.get('path')}:{citation.get('line')}"
                    if isinstance(citation, dict)
                    else "?"
                )
                why = f"{place}: {wrong}"
                break
        if why is None and not among & {_at(one) for one in citations}:
            why = f"it cites nothing of {called}"
        if why is None:
            held.append(row)
        else:
            rejected.append({"claim": str(row.get("claim", ""))[:300], "why": why, "place": place})
    return held, rejected, checked


def _rows(value: Any, name: str) -> list[Any]:
    rows = value.get(name) if isinstance(value, dict) else None
    return rows if isinstance(rows, list) else []
