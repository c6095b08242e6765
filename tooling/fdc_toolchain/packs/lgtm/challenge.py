"""The null challenge of one hypothesis: evidence for each target, its judgement without a model, the record. Pure."""

from __future__ import annotations

from typing import Any

from ...knowledge.statements import against, quoted
from .artifacts import written
from .names import HYPOTHESIS, KNOWLEDGE, generate_file_name
from .search import relevant


def assign(targets: dict[str, Any], queries: dict[str, Any], knowledge: list[Any]) -> dict[str, Any]:
    """Each target with its queries and the evidence that bears on it (LGTM-67)."""
    good = [row for row in knowledge if row.get("ok")]
    rows = []
    for target in targets["targets"]:
        found = relevant(target["targetDescription"], good)
        evidence = [
            {"path": row["entry"]["filePath"], "source": row["entry"]["source"],
             "summary": row["entry"]["contentSummary"], "quote": str(row["stub"].get("quote", ""))}
            for row in found
        ]  # fmt: skip
        rows.append({**target, "queries": queries["by_target"].get(target["targetID"], []), "evidence": evidence})
    return {"targets": rows}


def judge(target: dict[str, Any]) -> dict[str, Any]:
    """Whether the evidence disproves a target, by rule: a quotation that speaks against it."""
    said = quoted(target["targetDescription"].partition(": ")[2])
    for row in target["evidence"]:
        why = against(said, row["quote"])
        if why:
            return {"disproved": True, "analysis": f"{row['source']}: {why}: {row['quote']}", "decisive": [row["path"]]}
    count = len(target["evidence"])
    looked = f"{count} {'place that bears' if count == 1 else 'places that bear'} on it" if count else "nothing that bears on it"
    return {"disproved": False, "analysis": f"The search found {looked}; none speaks against it.", "decisive": []}


def validate(target: dict[str, Any], judged: Any) -> dict[str, Any]:
    """One attempt as it is recorded (LGTM-09, 11). `Failed` needs evidence that was found for this very target.

    Where nobody could judge, the rule does: an answer that cannot be used is no reason to pass.
    """
    unread = ""
    if not isinstance(judged, dict) or "failed" in judged:
        why = judged.get("why") if isinstance(judged, dict) else "it is no judgement"
        unread, judged = f"No model could judge it ({why}); by rule: ", judge(target)
    paths = [row["path"] for row in target["evidence"] if KNOWLEDGE.match(row["path"])]
    decisive = [one for one in judged.get("decisive", ()) if one in paths]
    failed = judged.get("disproved") is True and bool(decisive)
    analysis = unread + str(judged.get("analysis", "")).strip()
    if judged.get("disproved") is True and not decisive:
        analysis += " (It names no evidence that was found, so it disproves nothing.)"
    found = sorted(set(decisive), key=paths.index) if failed else paths
    return {
        "targetID": target["targetID"], "targetDescription": target["targetDescription"],
        "falsificationQueries": target["queries"], "falsificationEvidenceFound": found,
        "falsificationAnalysis": analysis or "No reason was given.",
        "outcome": "Failed" if failed else "Passed",
    }  # fmt: skip


def record(entry: dict[str, Any], attempts: list[Any], knowledge: list[Any], warn: str, log: list[Any]) -> dict[str, Any]:
    """The challenge of a hypothesis: its file, its outcome (LGTM-05, 10, 12, 14), and what goes into the worldview."""
    ident = entry["microHypothesisID"]
    if HYPOTHESIS.match(ident) is None:
        raise ValueError(f"`{ident[:60]}` is no hypothesis")
    outcome = "Failed" if any(row["outcome"] == "Failed" for row in attempts) else "Passed"
    path = "null_challenges/" + generate_file_name("nc", ident, "challenge", "json")
    made = {"challengeID": f"nc_{ident}_challenge", "microHypothesisID": ident, "hypothesisFilePath": entry["filePath"],
            "falsificationAttempts": attempts, "overallOutcome": outcome}  # fmt: skip
    text = written("null_challenge", made, path)
    return {"id": ident, "path": path, "outcome": outcome, "text": text, "knowledge": knowledge, "warn": warn, "log": log}
