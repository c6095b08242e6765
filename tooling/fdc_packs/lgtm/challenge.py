"""The null challenge of one hypothesis: what its judge said, as it is recorded, and the record. Pure."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from .artifacts import overall, problems, written
from .knowledge import said
from .names import HYPOTHESIS, generate_file_name

if TYPE_CHECKING:
    from .shapes.artifacts import Attempt, Challenge, HypothesisEntry, LogLine, Targets, Verdict
    from .shapes.found import Shown, TargetQueries, WrittenEntry
    from .shapes.steps import Challenged, ChallengeRecord

OUTCOMES: dict[str, Verdict] = {"disproved": "Failed", "supported": "Passed"}
"""What a verdict comes to where evidence decided it; everything else is `Undecided`."""


def attempts(
    targets: Targets, queries: TargetQueries, judged: object, known: Shown
) -> list[Attempt]:
    """The judgement of each target as it is recorded (LGTM-09, 11). Only evidence that the judge was shown decides.

    Where no judge answered, or a verdict names no such evidence, the target is undecided: neither a reason to pass nor one to
    fail.
    """
    rows = judged.get("verdicts") if isinstance(judged, dict) else None
    said = (
        {row["target"]: row for row in rows if isinstance(row, dict)}
        if isinstance(rows, list)
        else {}
    )
    reason = str(judged.get("why") or "") if isinstance(judged, dict) else ""
    out: list[Attempt] = []
    for target in targets["targets"]:
        row = said.get(target["targetID"], {})
        verdict, analysis = row.get("verdict", ""), str(row.get("analysis") or "").strip()
        cited = [one for one in row.get("decisive") or () if one in known["ids"]]
        outcome: Verdict = OUTCOMES.get(verdict, "Undecided") if cited else "Undecided"
        if not row:
            analysis = f"No judge answered it{f': {reason}' if reason else ''}."
        elif verdict in OUTCOMES and not cited:
            analysis += " (It names no evidence that was shown, so it decides nothing.)"
        files = [f"knowledge/k_{one}_evidence.md" for one in dict.fromkeys(cited)]
        out.append({
            "targetID": target["targetID"], "targetDescription": target["targetDescription"],
            "falsificationQueries": queries["by_target"].get(target["targetID"], []),
            "falsificationEvidenceFound": files, "falsificationAnalysis": analysis or "No reason was given.",
            "outcome": outcome,
        })  # fmt: skip
    return out


def weaknesses(challenge: Challenge) -> list[str]:
    """What of a hypothesis no one could decide, each target once."""
    return [f"Not decided: {row['targetDescription']} {row['falsificationAnalysis']}"
            for row in challenge["falsificationAttempts"] if row["outcome"] == "Undecided"]  # fmt: skip


def read(text: str) -> Challenged:
    """A challenge out of its file, as the plan tells it. Raises ValueError for a file that holds none."""
    value = json.loads(text)
    found = problems("null_challenge", value)
    if found:
        raise ValueError(f"a challenge file is not one any more: {found[0]}")
    ident, outcome = value["microHypothesisID"], value["overallOutcome"]
    return {"id": ident, "outcome": outcome, "weaknesses": weaknesses(value)}


def record(
    entry: HypothesisEntry,
    attempts: list[Attempt],
    knowledge: list[WrittenEntry],
    warn: str,
    log: LogLine | None,
    request: object = None,
    stubs: object = None,
) -> ChallengeRecord:
    """The challenge of a hypothesis: its file, its outcome (LGTM-05, 10, 12, 14), and what goes into the worldview; `lines` is
    its log."""
    ident = entry["microHypothesisID"]
    if HYPOTHESIS.match(ident) is None:
        raise ValueError(f"`{ident[:60]}` is not a hypothesis")
    outcome = overall(attempts)
    path = "null_challenges/" + generate_file_name("nc", ident, "challenge", "json")
    made: Challenge = {
        "challengeID": f"nc_{ident}_challenge", "microHypothesisID": ident, "hypothesisFilePath": entry["filePath"],
        "falsificationAttempts": attempts, "overallOutcome": outcome,
    }  # fmt: skip
    text = written("null_challenge", made, path)
    decisive = next(
        (row["falsificationAnalysis"] for row in attempts if row["outcome"] == outcome), ""
    )
    told = {"Failed": "was disproved", "Undecided": "was not decided"}.get(outcome)
    against = f"{ident} {told}: {decisive}" if told else ""
    lines: list[LogLine] = [log] if log else []
    lines += [{"level": "Warn", "message": warn}] if warn else []
    lines += said(request, stubs)
    lines.append({"level": "Info", "message": f"Null Challenge for {ident} outcome: {outcome}"})
    lines += [{"level": "Warn", "message": against}] if against else []
    return {"id": ident, "path": path, "outcome": outcome, "text": text, "knowledge": knowledge, "lines": lines,
            "against": against}  # fmt: skip
