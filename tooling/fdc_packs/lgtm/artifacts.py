"""What an artifact must be before it is written: its JSON Schema, and what no schema can say. Pure."""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from .names import CHALLENGE, FILE, NONE

if TYPE_CHECKING:
    from .shapes.artifacts import (
        Attempt,
        Challenge,
        Hypothesis,
        HypothesisEntry,
        Status,
        Verdict,
        Worldview,
    )

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "prompts")
LATER = {
    "Initial": ("CandidateRefinement",),
    "CandidateRefinement": ("CandidateRefinement", "CandidateNullChallenge"),
    "CandidateNullChallenge": ("Validated", "Invalidated"),
    "Validated": (),
    "Invalidated": (),
}
"""Which status may follow which (LGTM-24)."""


def problems(kind: str, value: object) -> list[str]:
    """What is wrong with an artifact of a kind (`worldview`, `hypothesis`, `null_challenge`): JSON path and reason."""
    from jsonschema import Draft202012Validator

    errors = sorted(
        Draft202012Validator(_schema(kind)).iter_errors(value), key=lambda one: one.json_path
    )
    found = [f"{error.json_path}: {error.message[:200]}" for error in errors]
    return found or _MORE[kind](value)


def written(kind: str, value: object, name: str) -> str:
    """An artifact as it is written. Raises ValueError, naming the file, for one that is not what it must be."""
    found = problems(kind, value)
    if found:
        raise ValueError(f"{name}: {'; '.join(found[:4])}")
    return json.dumps(value, indent=2, ensure_ascii=False)


def advance(entry: HypothesisEntry, status: Status) -> HypothesisEntry:
    """The entry of a hypothesis with its next status. Raises ValueError for a jump."""
    if status not in LATER[entry["status"]]:
        raise ValueError(
            f"{entry['microHypothesisID']} cannot go from {entry['status']} to {status}"
        )
    return {**entry, "status": status}


def placed(path: str) -> None:
    """Raises ValueError for a path that is not where the files of hypotheses lie."""
    if FILE.match(path) is None:
        raise ValueError(f"`{path[:80]}` is not a file of a hypothesis")


def checked(rows: list[HypothesisEntry]) -> list[HypothesisEntry]:
    """Entries of hypotheses whose files lie where hypotheses lie. Raises ValueError for any other path."""
    for row in rows:
        placed(row["filePath"])
        if CHALLENGE.match(row.get("nullChallengeFilePath") or NONE) is None:
            raise ValueError(
                f"`{str(row['nullChallengeFilePath'])[:80]}` is not a file of a challenge"
            )
    return rows


def overall(attempts: Sequence[Attempt]) -> Verdict:
    """`Failed` where any target failed, `Passed` where none did and the statement itself (the first) is supported."""
    outcomes = [row["outcome"] for row in attempts]
    decided: Verdict = "Failed" if "Failed" in outcomes else "Passed"
    return decided if decided == "Failed" or outcomes[:1] == ["Passed"] else "Undecided"


def _worldview(value: Worldview) -> list[str]:
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
    for conflict in value["hypothesisConflicts"]:
        unknown = sorted(set(conflict["involvedHypotheses"]) - set(ids))
        if unknown:
            out.append(
                f"$.hypothesisConflicts: {conflict['conflictID']} names {unknown[0]}, which there is not"
            )
    return out


def _hypothesis(value: Hypothesis) -> list[str]:
    ids = [row["id"] for row in value["keyAssumptions"]]
    return ["$.keyAssumptions: an id is there twice"] if len(set(ids)) < len(ids) else []


def _null_challenge(value: Challenge) -> list[str]:
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


_MORE: dict[str, Callable[[Any], list[str]]] = {
    "worldview": _worldview,
    "hypothesis": _hypothesis,
    "null_challenge": _null_challenge,
}
"""What no schema can say of a value that its schema accepts."""


@functools.cache
def _schema(kind: str) -> Any:
    with open(os.path.join(FOLDER, f"{kind}.schema.json"), encoding="utf-8") as file:
        return json.load(file)
