"""The second question: what a judge of claims is shown, and what becomes of a claim that it does not confirm."""

from __future__ import annotations

from typing import Any

import pytest
from fdc_packs.research.answering import judge

from tests.packs.research.test_explore_pack import AGREED, finding, judged


@pytest.mark.parametrize(
    ("verdicts", "held", "ended"),
    [
        ([{"number": 0, "says_so": True, "why": ""}], 1, "success"),
        ([{"number": 0, "says_so": False, "why": "it shows a name"}], 0, "blocked"),
        ([{"number": 1, "says_so": True, "why": ""}], 0, "blocked"),
        ([], 0, "blocked"),
    ],
)
def test_a_claim_that_the_judge_does_not_confirm_is_dropped(
    verdicts: list[Any], held: int, ended: str
) -> None:
    """E9: nor is one that it says nothing of."""
    out = judged(*AGREED, verdicts={"verdicts": verdicts})
    assert (held, ended) == (len(out["unified"]), out["ended"])
    assert ("a is there" in out["text"]) == bool(held)
    assert held or "a is there" not in out["markdown"]


def test_the_judge_sees_the_claim_and_the_cited_lines_only() -> None:
    row = {**finding("a"), "explanation": "so", "support": "secret"}
    assert [
        {"number": 0, "claim": "a is there", "lines": [{"place": "a.py:1", "line": "a"}]},
        {"number": 1, "claim": "a is there (so)", "lines": [{"place": "a.py:1", "line": "a"}]},
    ] == judge.shown([finding("a")], [row])


def test_a_failed_judge_confirms_nothing() -> None:
    out = judged(*AGREED, verdicts={"failed": "timeout", "why": "slow", "verdicts": []})
    assert [] == out["unified"] and any("slow" in one for one in out["open_questions"])


def test_what_is_not_there_is_said_not_to_be_there() -> None:
    out = judged(*AGREED, sure="None")
    assert "absent" == out["ended"] and out["text"].startswith("I do not find it: as measured.")
