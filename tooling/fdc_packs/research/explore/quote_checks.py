"""The tools of the explore pack that check what findings and a synthesis quote: each place is opened and compared."""

from __future__ import annotations

from typing import Any

from fdc_toolchain.api.tools import Context

from ..answering.judge import shown
from ..answering.quotes import Lines, of_workspace


def check_findings(args: dict[str, Any], context: Context) -> Any:
    """Opens every citation of a track's findings; a finding with one that does not hold, or with none of the track's evidence,
    is rejected (EXP-16, 17, 19).
    """
    documented = args.get("documented")
    evidence = {_at(row) for row in _rows(args.get("evidence"), "evidence")}
    with of_workspace(context) as lines:
        held, rejected, checked = _checked(
            _rows(documented, "findings"), lines, evidence, "the track's evidence"
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
    out: dict[str, Any] = {"proposal": proposal, "rejected": [], "checked": 0}
    with of_workspace(context) as lines:
        for part in ("unified", "nuances"):
            held, rejected, checked = _checked(
                _rows(proposal, part), lines, found, "what the tracks found"
            )
            out[part] = held
            out["rejected"] += rejected
            out["checked"] += checked
    out["claims"] = shown(out["unified"], out["nuances"])
    return out


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
