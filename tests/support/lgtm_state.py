"""Parts of a worldview of the LGTM pack, as they are in the middle of a run."""

from __future__ import annotations

from typing import Any

from fdc_packs.lgtm import worldview


def hypothesis(**more: Any) -> dict[str, Any]:
    row = {
        "microHypothesisID": "h_Stock_001", "areaOfAnalysisID": "A_Stock", "statement": "`reserve` (`a.py:1`): It keeps.",
        "confidence": 0.7, "gapCharacterization": "g", "rationale": "r", "refinementHistory": [],
        "keyAssumptions": [{"id": "A01", "statement": "s", "evidence": ["knowledge/k_EV_01_evidence.md"]}],
        "validationCriteria": [], "critiquePoints": [], "questions": [], "alternativeApproaches": [],
    }  # fmt: skip
    return {**row, **more}


def entry(status: str = "Initial", **more: Any) -> dict[str, Any]:
    row = {
        "microHypothesisID": "h_Stock_001", "areaOfAnalysisID": "A_Stock", "version": 0, "status": status, "confidence": 0.7,
        "filePath": "hypotheses/hyp_h_Stock_001_v0_initial.json", "nullChallengeFilePath": None,
        "nullChallengeOutcome": "NotAttempted", "derivedFromMicroHypothesisID": None,
    }  # fmt: skip
    return {**row, **more}


def state(*entries: dict[str, Any]) -> dict[str, Any]:
    wv = worldview.begin("Why?", "", "runs/20260101-000000-abcd")
    areas = [{"areaID": "A_Stock", "description": "d", "status": "Active"}]
    return {**wv, "areasOfAnalysis": areas, "microHypotheses": list(entries)}


def attempt(outcome: str, number: int = 1, **more: Any) -> dict[str, Any]:
    row = {"targetID": f"T{number:02d}", "targetDescription": "d", "falsificationQueries": [], "falsificationAnalysis": "a",
           "falsificationEvidenceFound": ["knowledge/k_EV_01_evidence.md"], "outcome": outcome}  # fmt: skip
    return {**row, **more}
