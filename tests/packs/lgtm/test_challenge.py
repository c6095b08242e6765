"""What a round of refinement and a challenge come to: kept, changed, refused; passed, failed, undecided."""

from __future__ import annotations

import pytest
from fdc_packs.lgtm import artifacts, challenge, challenge_state, hypotheses, worldview

from tests.support.lgtm_state import attempt, entry, hypothesis, state


def test_a_round_that_changed_nothing_is_the_last_one() -> None:
    """LGTM-60: what was looked at and stands is not looked at again; what was refused is tried as often as allowed."""
    config = worldview.configure("5", "1", "0", "all")
    counter = worldview.first_round(config)
    for number in range(1, 6):
        counter = worldview.next_round(state(entry()), counter, config)
        assert ((number == 5), number) == (counter["stop"], counter["count"])
    assert "that was the last iteration" == counter["why"]
    row = {"id": "h_Stock_001", "outcome": "Unchanged", "knowledge": [], "lines": []}
    stands = worldview.refined(state(entry()), {"results": [row]}, [])
    assert [("CandidateRefinement", 0)] == [
        (one["status"], one["version"]) for one in stands["microHypotheses"]
    ]
    counter = worldview.next_round(stands, worldview.first_round(config), config)
    assert counter["stop"] and "the round changed no hypothesis" == counter["why"]


def test_the_reason_of_the_last_refusal_is_told_until_a_version_is_taken() -> None:
    """It goes with the next request, and a round with a refusal is not one that changed nothing."""
    wv, config = state(entry("CandidateRefinement")), worldview.configure("5", "1", "0", "all")
    assert "" == worldview.refused(wv, entry())
    for said, told in (
        ("stays as it is: Validation Failed: p: $.confidence", "p: $.confidence"),
        ("is version 1 now", ""),
        ("stays as it is: nothing new was found", ""),
    ):
        wv = worldview.logged(wv, worldview.log_line("Info", f"h_Stock_001 {said}"))
        assert told == worldview.refused(wv, entry())
        assert (not told) == worldview.next_round(wv, worldview.first_round(config), config)["stop"]


@pytest.mark.parametrize(
    ("verdict", "decisive", "outcome"),
    [
        ("disproved", ["EV_01"], "Failed"), ("supported", ["EV_01"], "Passed"), ("undecided", ["EV_01"], "Undecided"),
        ("disproved", ["EV_09"], "Undecided"), ("supported", [], "Undecided"), ("maybe", ["EV_01"], "Undecided"),
    ],
)  # fmt: skip
def test_only_evidence_that_was_shown_decides(
    verdict: str, decisive: list[str], outcome: str
) -> None:
    """LGTM-11, 12, 13: neither a feeling that it is false nor one that it is true."""
    targets = {"targets": [{"targetID": "T01", "targetDescription": "d"}]}
    said = {
        "verdicts": [{"target": "T01", "verdict": verdict, "analysis": "a", "decisive": decisive}]
    }
    [row] = challenge.attempts(targets, {"by_target": {}}, said, {"ids": ["EV_01"]})
    assert outcome == row["outcome"] == artifacts.overall([row])
    assert (["knowledge/k_EV_01_evidence.md"] if decisive == ["EV_01"] else []) == row[
        "falsificationEvidenceFound"
    ]


def test_what_nobody_judged_is_undecided_and_the_statement_decides_for_the_whole() -> None:
    """LGTM-12, 69: an assumption that no one could decide is told and stops nothing; a statement is, and does."""
    targets = {
        "targets": [
            {"targetID": "T01", "targetDescription": "Statement: s"},
            {"targetID": "T02", "targetDescription": "A"},
        ]
    }
    known, none = {"ids": ["EV_01"]}, {"by_target": {}}
    lost = challenge.attempts(
        targets, none, {"failed": "refused", "why": "the model refused"}, known
    )
    assert ["Undecided"] * 2 == [row["outcome"] for row in lost] and "the model refused" in lost[0][
        "falsificationAnalysis"
    ]
    said = {
        "verdicts": [
            {"target": "T01", "verdict": "supported", "analysis": "a", "decisive": ["EV_01"]}
        ]
    }
    rows = challenge.attempts(targets, none, said, known)
    assert ["Passed", "Undecided"] == [
        row["outcome"] for row in rows
    ] and "Passed" == artifacts.overall(rows)
    assert "Undecided" == artifacts.overall(rows[1:]) == artifacts.overall([])
    assert 1 == len(challenge.weaknesses({"falsificationAttempts": rows}))
    with pytest.raises(ValueError):
        challenge.record(entry(microHypothesisID="../x"), [attempt("Passed")], [], "", [])


def test_an_unchanged_draft_is_no_failure_and_evidence_is_named_by_the_ids_of_entries() -> None:
    """LGTM-15, 17, 56 to 58."""
    known = [{"filePath": "knowledge/k_EV_01_evidence.md"}]
    draft = {
        key: value
        for key, value in hypothesis().items()
        if key not in ("microHypothesisID", "areaOfAnalysisID", "refinementHistory")
    }
    draft["keyAssumptions"] = [{"id": "A01", "statement": "s", "evidence": ["EV_01"]}]
    same = hypotheses.validate(draft, "A_Stock", known, [], hypothesis(), 1)
    assert (False, True, "nothing new was found") == (same["ok"], same["same"], same["why"])
    assert "Unchanged" == hypotheses.refinement(same, [])["outcome"]
    better = hypotheses.validate(
        {**draft, "confidence": 0.8}, "A_Stock", known, [], hypothesis(), 1
    )
    assert better["ok"] and 1 == better["hypothesis"]["refinementHistory"][0]["version"]
    assert ["knowledge/k_EV_01_evidence.md"] == better["hypothesis"]["keyAssumptions"][0][
        "evidence"
    ]
    foreign = hypotheses.validate(draft, "A_Stock", [], [], hypothesis(confidence=0.1), 1)
    assert (
        foreign["why"].startswith("Validation Failed: ")
        and "k_EV_01" in foreign["why"]
        and not foreign["same"]
    )
    assert "FailedRefinement" == hypotheses.refinement(foreign, [])["outcome"]


def test_a_challenge_that_could_not_be_made_is_not_passed() -> None:
    """LGTM-38, 69: its branch left a record; the hypothesis stays a candidate, and the plan is made of the others."""
    known = [
        entry("CandidateNullChallenge"),
        entry("CandidateNullChallenge", microHypothesisID="h_Other_001"),
    ]
    wv = state(*known)
    kept = {"id": "h_Other_001", "path": "null_challenges/nc_h_Other_001_challenge.json", "outcome": "Passed", "knowledge": [],
            "lines": []}  # fmt: skip
    record = {
        "failed": "failure",
        "why": "the disk is full",
        "item": known[0],
        "at": "main/1",
        "path": "p",
        "line": 1,
    }
    joined = hypotheses.join([record, kept], "CollectTupleResults")
    outcomes = [outcome for _, outcome in joined["tuples"]]
    assert ["NotAttempted", "Passed"] == outcomes and not joined["all"]
    challenged = challenge_state.challenged(wv, joined, worldview.log_line("Info", "x"))
    assert "was not challenged: the disk is full" in challenged["log"][-1]["message"]
    for gate in ("all", "subset"):
        settled = challenge_state.settle(challenged, worldview.configure("5", "0.7", "0", gate))
        statuses = [row["status"] for row in settled["worldview"]["microHypotheses"]]
        assert (False, True) == (settled["all_passed"], settled["proceed"])
        assert ["CandidateNullChallenge", "Validated"] == statuses


@pytest.mark.parametrize(
    ("outcomes", "gate", "proceed", "text"),
    [
        ("", "all", False, "nothing was challenged"), ("Passed", "all", True, "Passed"),
        ("Undecided", "subset", False, "Undecided"),
        ("Passed Undecided", "all", True, "Passed"), ("Passed Failed", "all", False, "Failed"),
        ("Passed Failed", "subset", True, "Failed"), ("Failed Undecided", "subset", False, "Failed"),
    ],
)  # fmt: skip
def test_the_log_says_how_the_challenge_ended_and_only_what_passed_goes_on(
    outcomes: str, gate: str, proceed: bool, text: str
) -> None:
    """LGTM-24, 64, 69, 70, C-19."""
    rows = [entry("CandidateNullChallenge", nullChallengeOutcome=one) for one in outcomes.split()]
    found = challenge_state.settle(state(*rows), worldview.configure("5", "0.7", "0", gate))
    assert (proceed, text) == (found["proceed"], found["text"])
    becomes = {
        "Passed": "Validated",
        "Failed": "Invalidated",
        "Undecided": "CandidateNullChallenge",
    }
    statuses = [row["status"] for row in found["worldview"]["microHypotheses"]]
    assert [becomes[one] for one in outcomes.split()] == statuses
