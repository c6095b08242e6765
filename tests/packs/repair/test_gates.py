"""What each phase of a repair must answer: falsifications, proposals, requests for context."""

from __future__ import annotations

from typing import Any

import pytest
from fdc_packs.repair import gates, loop
from hypothesis import given
from hypothesis import strategies as st

from tests.support.repair_states import opened, row_of
from tests.support.repaired import WRONG

SEEN: dict[str, Any] = {
    "attempts": [],
    "executed": {"shop/price.py": [6, 8]},
    "output": "AssertionError: 100 != 90",
}


@pytest.mark.parametrize(
    "answer",
    [
        None,
        {},
        {"contradictions": []},
        {"contradictions": [{"observation": "  "}]},
        {"hypothesis_id": "H007"},
    ],
)
def test_a_falsification_without_an_outcome_fails(answer: Any) -> None:
    """HYP-09, T-44: an empty list was viable."""
    assert gates.challenge(answer, row_of(), SEEN).wrong


def test_what_was_seen_contradicts_whatever_is_said() -> None:
    """HYP-11, T-44: a failure of before became `pending`, never `observed`."""
    said = {
        "contradictions": [
            {"observation": "the region is not run", "status": "pending", "kind": "not-executed"}
        ]
    }
    assert [] == gates.challenge(said, row_of(), SEEN).observed
    far = {**SEEN, "executed": {"shop/price.py": [60]}}
    shown = "the region is not run (no failing test runs lines 7 to 7 of shop/price.py, or lines near them)"
    seen = gates.challenge(said, row_of(WRONG), far)
    assert ([shown], False) == (
        seen.observed,
        seen.tried,
    )  # nothing was changed: nothing is falsified
    assert (
        [] == gates.challenge(said, row_of(WRONG), SEEN).observed
    )  # near what is run: why it is not reached
    assert [] == gates.challenge(said, {**row_of(WRONG), "probe": "passes"}, far).observed
    assert [] == gates.challenge(said, row_of(WRONG), {**SEEN, "executed": None}).observed
    for kind, attempt in (
        ("unchanged-error", {"unchanged": True}), ("compile", {"reason": "compile-1"})
    ):  # fmt: skip
        named = {
            "contradictions": [{"observation": "it came so", "status": "pending", "kind": kind}]
        }
        before = {
            **SEEN,
            "attempts": [{"hypothesis": "H001", "iteration": 3, "applied": True, **attempt}],
        }
        assert ["it came so (iteration 3 showed it)"] == gates.challenge(
            named, row_of(), before
        ).observed
        other = {**SEEN, "attempts": [{**before["attempts"][0], "hypothesis": "H002"}]}
        assert [] == gates.challenge(named, row_of(), other).observed
        refused = {**SEEN, "attempts": [{**before["attempts"][0], "applied": False}]}
        assert (
            [] == gates.challenge(named, row_of(), refused).observed
        )  # E4: no patch, no falsification


def test_an_unknown_status_is_pending_and_an_observation_needs_evidence() -> None:
    """HYP-10."""
    said = {
        "contradictions": [
            {"observation": "a", "status": "maybe"}, {"observation": "b", "status": "observed"},
            {"observation": "c", "status": "observed", "evidence": "never said"},
            {"observation": "d", "status": "observed", "evidence": "100 !=  90"},
        ]
    }  # fmt: skip
    assert (
        [] == gates.challenge(said, row_of(), SEEN).observed
    )  # E4: a quotation of the first failure is not a trial
    made = [{"hypothesis": "H001", "iteration": 1, "applied": True}]
    read = gates.challenge(said, row_of(), {**SEEN, "attempts": made})
    assert ["pending", "pending", "pending", "observed"] == [
        row["status"] for row in read.contradictions
    ]
    assert ["d (100 != 90)"] == [one.replace("  ", " ") for one in read.observed] and 3 == len(
        read.warnings
    )


def proposed(intent: str, type_: Any = "scope", operation: Any = "rebind_operator") -> str:
    return gates.proposal(
        {"intent": intent, "structural_change": {"type": type_, "operation": operation}}
    )


@pytest.mark.parametrize(
    "intent",
    ["Adds punctuation", "Insert a semicolon.", "insert the missing semi-colon", "Adds a comma at the end", "Fix a typo",
     "Correct the spelling of the name", "Remove trailing whitespace", "Append the missing character", "adds a missing bracket",
     "Change the quotes", "A purely cosmetic change"],
)  # fmt: skip
def test_a_lexical_change_is_refused(intent: str) -> None:
    """HYP-21, T-44: "adds punctuation" was taken for a structural change."""
    assert "lexical" in proposed(intent)


@pytest.mark.parametrize(
    "intent",
    ["Group the sum before it is multiplied.", "Add parentheses so that the operands of `or` are grouped first.",
     "Move the check before the access.", "Rebind the comparison so that the limit belongs to the branch."],
)  # fmt: skip
def test_a_structural_change_is_taken(intent: str) -> None:
    """HYP-20."""
    assert "" == proposed(intent)


@pytest.mark.parametrize(
    ("type_", "operation", "intent", "why"),
    [
        (None, "x", "Group it.", "relation"), ("lexical", "x", "Group it.", "relation"), ("scope", "", "Group it.", "operation"),
        ("scope", "x", "", "intent"), ("scope", "x", "Group it:\n```python\nx\n```", "code"),
        ("scope", "x", "@@ -1 +1 @@\n-a\n+b", "code"), ("grouping", "drop_semicolon", "Group it.", "terminator"),
        ("grouping", "regroup", "Group it and add a statement terminator.", "terminator"),
        ("ordering", "insert_semicolon", "Order the branches.", "lexical"),
    ],
)  # fmt: skip
def test_a_proposal_that_breaks_a_rule_is_refused(
    type_: Any, operation: Any, intent: str, why: str
) -> None:
    """HYP-20 to 23."""
    assert why in proposed(intent, type_, operation)


FIELDS = (
    "intent structural_change type contradictions hypotheses claim affected_region requests needs_more_context interpretation"
    " explanation observation"
).split()
LEAVES = st.none() | st.text(max_size=20) | st.integers()


@given(
    st.recursive(
        LEAVES,
        lambda one: (
            st.lists(one, max_size=3) | st.dictionaries(st.sampled_from(FIELDS), one, max_size=4)
        ),
        max_leaves=12,
    )
)
def test_no_answer_makes_a_gate_raise(answer: Any) -> None:
    """Whatever a model says, a gate answers."""
    gates.proposal(answer)
    gates.requests(answer)
    gates.challenge(answer, row_of(), SEEN)
    loop.hold_interpretation(opened(), answer)
    after = loop.admit(opened(), answer)
    assert [] == after["ids"] or len(after["ids"]) >= 2


def test_context_is_asked_for_by_a_word() -> None:
    """HYP-45."""
    asked = {
        "category": "DECLARATION",
        "target": {"kind": "function", "name": "discount"},
        "reason": "its signature",
    }
    two = {**asked, "target": {"kind": "function", "name": "two words"}}
    rows, note = gates.requests(
        {"needs_more_context": True, "requests": [asked, two, {**asked, "category": "MOOD"}]}
    )
    assert ["discount"] == [row["name"] for row in rows] and "" == note
    assert ([], "the answer about context could not be read; it goes on without") == gates.requests(
        "please"
    )
    assert ([], "") == gates.requests({"needs_more_context": False, "requests": []})
