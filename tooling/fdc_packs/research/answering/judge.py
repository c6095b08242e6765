"""The second question: does the cited line say what the claim says? What a judge does not confirm is not an answer. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from fdc_toolchain.api.text import narrow


def unjudged(claims: Sequence[object]) -> dict[str, object]:
    """Where no model is configured no one is asked: each claim is its own quotation."""
    return {"verdicts": [], "asked": False}


def confirmed(
    rows: list[dict[str, object]], first: int, verdicts: object
) -> tuple[list[dict[str, object]], list[dict[str, str]]]:
    """The claims that the judge confirmed, and the others with why. `first`: the number of the first of them.

    Where no one was asked each claim is a quotation, and none is called confirmed.
    """
    verdicts = verdicts if isinstance(verdicts, dict) else {"failed": "no judge"}
    if verdicts.get("asked") is False and not verdicts.get("failed"):
        return rows, []
    said = {
        row.get("number"): row for row in verdicts.get("verdicts") or () if isinstance(row, dict)
    }
    held, dropped = [], []
    for number, row in enumerate(rows, first):
        verdict = said.get(number, {})
        if verdict.get("says_so") is True:
            held.append({**row, "confirmed": True})
        else:
            why = str(verdict.get("why") or verdicts.get("why") or "the judge did not confirm it")
            dropped.append({"claim": str(row.get("claim"))[:300], "why": why[:200], "place": ""})
    return held, dropped


def shown(
    unified: list[dict[str, object]], nuances: list[dict[str, object]]
) -> list[dict[str, object]]:
    """What the judge sees: each claim with the lines that it cites, and nothing else."""
    rows = []
    for number, row in enumerate([*unified, *nuances]):
        claim = str(row.get("claim", ""))
        if row.get("explanation"):
            claim = f"{claim} ({row['explanation']})"
        lines = [
            {"place": f"{one['path']}:{one['line']}", "line": one["quote"]}
            for one in narrow(row["citations"], list)
        ]
        rows.append({"number": number, "claim": claim, "lines": lines})
    return rows
