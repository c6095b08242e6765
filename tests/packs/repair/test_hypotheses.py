"""The store of a repair's hypotheses: numbers, fields, regions, rivals, lives, selection."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from fdc_packs.repair import hypotheses
from fdc_packs.repair.hypotheses import Illegal
from hypothesis import given
from hypothesis import strategies as st

from tests.support.repair_states import made, stands
from tests.support.repaired import OTHER, RIGHT, WHY, WRONG, hypothesis, region


def test_numbers_are_never_given_again() -> None:
    """HYP-01."""
    store = made(RIGHT, WRONG)
    store = hypotheses.expire(store, "over")
    store = hypotheses.create(store, [OTHER, hypothesis("a fourth one", region(9))], 2).store
    assert ["H001", "H002", "H003", "H004"] == [row["id"] for row in hypotheses.listed(store)]


@pytest.mark.parametrize("field", ["claim", "affected_region", "expected_effect"])
def test_a_missing_field_makes_no_hypothesis(field: str) -> None:
    """HYP-01."""
    row = {name: value for name, value in RIGHT.items() if name != field}
    done = hypotheses.create(hypotheses.empty(), [row, WRONG, OTHER], 1)
    assert ["H001", "H002"] == done.ids and field in done.refused[0]["why"]


@pytest.mark.parametrize(
    "where",
    ["column 5 of line 1", "the loop body", ["shop/price.py", 1, 5], None, {"path": "a.py", "first": "1", "last": 2}],
)  # fmt: skip
def test_a_region_of_prose_makes_no_hypothesis(where: Any) -> None:
    """HYP-15, T-45: "column 5 of line 1" was read as lines 1 to 5."""
    done = hypotheses.create(hypotheses.empty(), [hypothesis("somewhere", where), WRONG, OTHER], 1)
    assert 2 == len(done.ids) and 1 == len(done.refused)


def test_one_hypothesis_is_no_diagnosis() -> None:
    """HYP-26, T-44: it was taken, and a line of the log asked for more."""
    done = hypotheses.create(hypotheses.empty(), [RIGHT], 1)
    assert [] == done.ids and [] == done.store["rows"]


def test_the_same_in_other_words_does_not_compete() -> None:
    """HYP-27."""
    again = {**RIGHT, "claim": "The comparison, leaves the LIMIT out!"}
    same = {**RIGHT, "claim": "quite another sentence"}
    other = {**RIGHT, "claim": "a third sentence", "expected_effect": "test_below fails"}
    assert [] == hypotheses.create(hypotheses.empty(), [RIGHT, again], 1).ids
    assert [] == hypotheses.create(hypotheses.empty(), [RIGHT, same], 1).ids
    assert ["H001", "H002"] == hypotheses.create(hypotheses.empty(), [RIGHT, other], 1).ids
    code = [
        hypothesis(f"`k {sign} 1` is meant", region(6), effect=f"`k {sign} 1` is used")
        for sign in "+-*"
    ]
    assert 3 == len(hypotheses.create(hypotheses.empty(), code, 1).ids), (
        "what differs in code differs"
    )
    store = made(RIGHT, WRONG)
    assert hypotheses.compare(store, "H001", "H002") == {
        "same_claim": False, "same_region": False, "same_effect": True, "competing": True,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("said", "number"),
    [(0.8, 0.8), ("0.8", 0.8), ("80%", 0.8), ("80", 0.8), (80, 0.8), (1, 1.0), (7.0, 0.07), (-3, 0.0), (1e9, 1.0), ("150%", 1.0),
     ("likely", None), (None, None), (True, None), ([], None), ("nan", None), ("%", None)],
)  # fmt: skip
def test_confidence_is_a_share_or_nothing(said: Any, number: float | None) -> None:
    """HYP-05."""
    assert (
        number == pytest.approx(hypotheses.confidence(said))
        if number is not None
        else hypotheses.confidence(said) is None
    )


@given(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(),
        st.text(max_size=12),
        st.lists(st.integers(), max_size=2),
    )
)
def test_confidence_takes_anything(said: Any) -> None:
    """HYP-05."""
    number = hypotheses.confidence(said)
    assert number is None or (0.0 <= number <= 1.0 and not math.isnan(number))


@pytest.mark.parametrize("end", ["falsified", "rejected", "archived", "expired"])
def test_an_end_is_final_and_a_hypothesis_is_in_one_bucket(end: str) -> None:
    """HYP-02, 03."""
    store = hypotheses.retire(made(RIGHT, WRONG), "H001", end, "because")
    inside = hypotheses.buckets(store)
    assert ["H001"] == [row["id"] for row in inside[end]] and ["H002"] == [
        row["id"] for row in inside["active"]
    ]
    assert 2 == sum(len(rows) for rows in inside.values())
    for status in hypotheses.BUCKETS:
        with pytest.raises(Illegal):
            hypotheses.retire(store, "H001", status, "")
    with pytest.raises(Illegal):
        hypotheses.failed(store, "H001", "again", False)
    with pytest.raises(Illegal):
        hypotheses.get(store, "H009")


def test_the_export_is_in_camel_case_and_holds_no_edit() -> None:
    """HYP-04."""
    row = hypotheses.exported(made({**RIGHT, "edit": "--- a\n", "key": "k"}, WRONG)["rows"][0])
    assert {
        "affectedRegion",
        "expectedEffect",
        "structuralChange",
        "retryCount",
        "falsificationNotes",
    } < row.keys()
    assert not {"edit", "key", "created"} & row.keys() and 0 == row["retryCount"]


def test_selection() -> None:
    """HYP-28: newly proposed, then confidence, then fewer retries, then the lower number."""
    store = made({**RIGHT, "confidence": 0.9}, {**WRONG, "confidence": 0.4})
    assert "H001" == hypotheses.select(store, 1)
    store = hypotheses.create(
        store, [{**OTHER, "confidence": 0.1}, hypothesis("d", region(9), 0.1)], 2
    ).store
    assert "H003" == hypotheses.select(store, 2) and "H001" == hypotheses.select(store, 3)
    assert "H004" == hypotheses.select(hypotheses.failed(store, "H003", "no", False), 2)
    assert hypotheses.select(hypotheses.expire(store, ""), 2) is None


def test_two_failures_retire_and_a_third_attempt_is_refused() -> None:
    """HYP-19, 24, 25: weakened, then invalid; archived after the second."""
    store = hypotheses.failed(made(RIGHT, WRONG), "H001", "it changed nothing", True)
    assert ("weakened", 1, "active") == stands(store, "H001")
    store = hypotheses.failed(store, "H001", "it changed nothing", True)
    assert ("invalid", 2, "archived") == stands(store, "H001")
    with pytest.raises(Illegal):
        hypotheses.failed(store, "H001", "once more", False)
    other = hypotheses.failed(hypotheses.failed(store, "H002", "a", False), "H002", "b", False)
    assert ("sound", 2, "archived") == stands(other, "H002")


def test_what_is_carried_holds_no_explanation() -> None:
    """HYP-07."""
    assert WHY in json.dumps(made(RIGHT, WRONG)) and WHY not in json.dumps(
        hypotheses.carried(made(RIGHT, WRONG))
    )
