"""What an artifact must be before it is written: its JSON Schema, and what no schema can say. Pure."""

from __future__ import annotations

import functools
import json
import os
from typing import Any

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "prompts")
LATER = {
    "Initial": ("CandidateRefinement",),
    "CandidateRefinement": ("CandidateRefinement", "CandidateNullChallenge"),
    "CandidateNullChallenge": ("Validated", "Invalidated"),
    "Validated": (),
    "Invalidated": (),
}
"""Which status may follow which (LGTM-24)."""


def problems(kind: str, value: Any) -> list[str]:
    """What is wrong with an artifact of a kind (`worldview`, `hypothesis`, `null_challenge`): JSON path and reason."""
    from jsonschema import Draft202012Validator

    errors = sorted(
        Draft202012Validator(_schema(kind)).iter_errors(value), key=lambda one: one.json_path
    )
    found = [f"{error.json_path}: {error.message[:200]}" for error in errors]
    return found or _MORE[kind](value)


def written(kind: str, value: Any, name: str) -> str:
    """An artifact as it is written. Raises ValueError, naming the file, for one that is not what it must be."""
    found = problems(kind, value)
    if found:
        raise ValueError(f"{name}: {'; '.join(found[:4])}")
    return json.dumps(value, indent=2, ensure_ascii=False)


def advance(entry: dict[str, Any], status: str) -> dict[str, Any]:
    """The entry of a hypothesis with its next status. Raises ValueError for a jump."""
    if status not in LATER[entry["status"]]:
        raise ValueError(
            f"{entry['microHypothesisID']} cannot go from {entry['status']} to {status}"
        )
    return {**entry, "status": status}


def overall(attempts: list[Any]) -> str:
    """`Failed` where any target failed, `Passed` where none did and the statement itself (the first) is supported."""
    outcomes = [row["outcome"] for row in attempts]
    decided = "Failed" if "Failed" in outcomes else "Passed"
    return decided if decided == "Failed" or outcomes[:1] == ["Passed"] else "Undecided"


def _worldview(value: dict[str, Any]) -> list[str]:
    areas = {row["areaID"] for row in value["areasOfAnalysis"]}
    ids = [row["microHypothesisID"] for row in value["microHypotheses"]]
    entries = [row["entryID"] for row in value["knowledgeBase"]["entries"]]
    out = [
        f"$.microHypotheses: {one} is there twice"
        for one in sorted({one for one in ids if ids.count(one) > 1})
    ]
    out += [
        f"$.knowledgeBase: {one} is there twice"
        for one in sorted({one for one in entries if entries.count(one) > 1})
    ]
    for row in value["microHypotheses"]:
        if row["areaOfAnalysisID"] not in areas:
            out.append(f"$.microHypotheses: {row['microHypothesisID']} is of no area that there is")
    for row in value["hypothesisConflicts"]:
        unknown = sorted(set(row["involvedHypotheses"]) - set(ids))
        if unknown:
            out.append(
                f"$.hypothesisConflicts: {row['conflictID']} names {unknown[0]}, which there is not"
            )
    return out


def _hypothesis(value: dict[str, Any]) -> list[str]:
    ids = [row["id"] for row in value["keyAssumptions"]]
    return ["$.keyAssumptions: an id is there twice"] if len(set(ids)) < len(ids) else []


def _null_challenge(value: dict[str, Any]) -> list[str]:
    targets = [row["targetID"] for row in value["falsificationAttempts"]]
    out = (
        ["$.falsificationAttempts: a targetID is there twice"]
        if len(set(targets)) < len(targets)
        else []
    )
    if value["overallOutcome"] != overall(value["falsificationAttempts"]):
        out.append(
            f"$.overallOutcome: `{value['overallOutcome']}` does not follow from the attempts"
        )
    if value["challengeID"] != f"nc_{value['microHypothesisID']}_challenge":
        out.append("$.challengeID: it is not that of the hypothesis")
    for row in value["falsificationAttempts"]:
        if row["outcome"] != "Undecided" and not row["falsificationEvidenceFound"]:
            out.append(f"$.falsificationAttempts: {row['targetID']} was decided without evidence")
    return out


_MORE = {"worldview": _worldview, "hypothesis": _hypothesis, "null_challenge": _null_challenge}


@functools.cache
def _schema(kind: str) -> Any:
    with open(os.path.join(FOLDER, f"{kind}.schema.json"), encoding="utf-8") as file:
        return json.load(file)
