"""The tools of the explore pack that check what findings and a synthesis quote: each place is opened and compared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fdc_toolchain.api.tools import Context

from ..answering.judge import shown
from ..answering.quotes import check_claims, of_workspace
from .tracks import rows_of


def check_findings(args: Mapping[str, object], context: Context) -> object:
    """Opens every citation of a track's findings; a finding with one that does not hold, or with none of the track's evidence,
    is rejected (EXP-16, 17, 19).
    """
    documented, evidence = args.get("documented"), args.get("evidence")
    seen = set(map(_place, rows_of(evidence, "evidence")))
    bodies: list[dict[str, Any]] = rows_of(evidence, "bodies")
    for row in bodies:
        last = row["first"] + row["text"].count("\n")
        seen |= {(row["path"], line) for line in range(row["first"], last + 1)}
    with of_workspace(context) as lines:
        done = check_claims(rows_of(documented, "findings"), lines, seen, "the track's evidence")
    return {
        "documented": documented,
        "held": done.held,
        "rejected": done.rejected,
        "checked": done.opened,
    }


def check_synthesis(args: Mapping[str, object], context: Context) -> object:
    """Opens every citation of a synthesis once more, right before it is written (EXP-17). A claim that cites nothing of what the
    tracks found for the question is rejected: it does not answer it (EXP-25).
    """
    proposal, tracks = args.get("proposal"), args.get("findings")
    found = {
        _place(cited) for row in (tracks if isinstance(tracks, list) else ())
        for one in rows_of(row, "findings") for cited in rows_of(one, "citations")
    }  # fmt: skip
    out: dict[str, Any] = {"proposal": proposal, "rejected": [], "checked": 0}
    with of_workspace(context) as lines:
        for part in ("unified", "nuances"):
            done = check_claims(rows_of(proposal, part), lines, found, "what the tracks found")
            out[part] = done.held
            out["rejected"] += done.rejected
            out["checked"] += done.opened
    out["claims"] = shown(out["unified"], out["nuances"])
    return out


def _place(row: dict[str, Any]) -> tuple[str, int]:
    return row["path"], row["line"]
