"""The loop of a repair: what an attempt is worth, stalls, cycles, passes, bounds, and what is told of it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from typing import Any

import pytest
from fdc_packs.repair import gates, hypotheses, loop
from fdc_packs.repair.hypotheses import Illegal

from tests.support.repair_states import (
    PATCH,
    PROPOSAL,
    SURVIVES,
    after,
    diagnosed,
    opened,
    printed,
    stands,
    tried,
)
from tests.support.repaired import OTHER, RIGHT, WHY, WRONG, hypothesis, region
from tests.support.repository import ROOT

FAILING = {"passed": False, "exit_code": 1, "stdout": printed(), "stderr": ""}


def test_two_bad_diagnoses_are_asked_again_and_the_third_ends_it() -> None:
    """HYP-26, 43: an iteration without a hypothesis ends the repair at once."""
    state = opened()
    for number in (1, 2):
        state = loop.admit(state, {"hypotheses": [RIGHT]})
        assert state["short"] and number == state["asked"] and state["refused"]
    state = loop.admit(state, {"hypotheses": [RIGHT]})
    assert not state["short"] and "no-hypotheses" == state["ended"] and [] == state["ids"]


def test_two_must_compete_whenever_none_is_active() -> None:
    """HYP-26, 30: after a stall too, who says that there is no other one."""
    state = tried(diagnosed(), after())
    state = {**state, "store": hypotheses.expire(state["store"], "over"), "wanted": 2}
    state = loop.admit(state, {"hypotheses": [OTHER], "exhausted": True})
    assert ("exhausted", 2) == (state["ended"], len(state["ids"])) and "" == loop.choose(state)[
        "selected"
    ]


def test_a_contradicted_hypothesis_gives_way_to_the_next_and_none_left_asks_for_diagnoses() -> None:
    """HYP-11, 12, 30."""
    state = diagnosed(WRONG, OTHER)
    seen = {"contradictions": [{"observation": "it is not run", "kind": "not-executed"}]}
    state = loop.weigh(state, seen, {"shop/price.py": [60]})
    assert ("H002", False, False) == (state["selected"], state["settled"], state["viable"])
    state = loop.weigh(state, seen, {"shop/price.py": [60]})
    assert ("", True, False) == (state["selected"], state["settled"], state["viable"])
    assert 2 == state["wanted"] and {"rejected"} == {
        row["status"] for row in state["store"]["rows"]
    }
    ended = loop.conclude(state, loop.attempted(state), {})
    assert "" == ended["ended"] and "missing-diff" == ended["attempts"][-1]["reason"]


def test_an_empty_falsification_is_asked_again_once_and_then_rejects() -> None:
    """HYP-09."""
    state = loop.weigh(diagnosed(), {"contradictions": []})
    assert "H001" == state["selected"] and not state["settled"] and not state["viable"]
    state = loop.weigh(state, {"contradictions": []})
    assert (
        "H002" == state["selected"]
        and "rejected" == hypotheses.get(state["store"], "H001")["status"]
    )


def test_success_ends_it_at_once() -> None:
    """HYP-33."""
    state = tried(diagnosed(), {"passed": True, "exit_code": 0, "output": "OK"})
    assert ("fixed", 1) == (state["ended"], state["iteration"]) and 0 == len(
        hypotheses.listed(state["store"], "active")
    )
    assert "Loop 1: patch applied; compile/test passes; critique: so" == state["history"][-1]


def test_a_patch_that_changes_nothing_weakens_and_the_second_time_stalls() -> None:
    """HYP-17, 19, 24, 29: message, place and scope are the same twice."""
    state = tried(diagnosed(), after())
    first = state["attempts"][-1]
    assert ("unchanged-error", True) == (first["reason"], first["unchanged"]) and first[
        "previous"
    ] == first["current"]
    assert ("weakened", 1, "active") == stands(state["store"], "H001")
    state = tried(loop.choose(state), after())
    assert "stall" == state["attempts"][-1]["reason"] and 1 == state["stalls"]
    assert ("invalid", 2, "archived") == stands(state["store"], "H001")
    assert "H002" == loop.choose(state)["selected"]


def test_a_stall_replaces_the_hypothesis_though_it_has_an_attempt_left() -> None:
    """HYP-29, T-47: a stall was a line of the log."""
    one, two = hypothesis("a", region(6), 0.9, "x"), hypothesis("b", region(6), 0.8, "y")
    state = tried(diagnosed(one, two), after(noise="one\n"))
    state = {**state, "store": hypotheses.retire(state["store"], "H001", "archived", "")}
    state = tried(loop.choose(state), after(noise="two\n"))
    assert ("stall", ("weakened", 1, "archived")) == (
        state["attempts"][-1]["reason"],
        stands(state["store"], "H002"),
    )


def test_stalls_and_iterations_end_it() -> None:
    """HYP-31, 32: the loop ends by itself, whatever is answered."""
    state = diagnosed(*(hypothesis(claim, region(6), 0.9, f"effect {claim}") for claim in "abc"))
    for _ in range(3):
        state = loop.choose(tried(state, after())) if not state["ended"] else state
    assert ("stalled", 3) == (state["ended"], state["iteration"])
    state = diagnosed(*(hypothesis(f"claim {number}", region(number)) for number in range(1, 9)))
    while not state["ended"]:
        state = loop.choose(tried(state, after()))
    assert ("bound", 5) == (state["ended"], state["iteration"])
    opening = {"passed": False, "exit_code": 1, "output": "x"}
    assert [1, 200, 7] == [loop.open_repair(opening, most)["limit"] for most in ("0", "9999", "7")]


@pytest.mark.parametrize(
    ("given", "most"),
    [
        ((1, 3, 2), 8),
        ((1, 3, 1), 4),
        ((0, -2, 0), 1),
        ((-9, 0, -1), 1),
        ((40, 0, 1), 40),
        ((7, 3, 5), 50),
        ((199, 99, 99), 200),
    ],
)
def test_the_bound_is_the_one_that_is_written(given: tuple[int, int, int], most: int) -> None:
    """HYP-32: (max(1, max_iterations) + max(0, refine_sub_iterations)) x max(1, passes), and never more than the plan's loop."""
    iterations, refine, passes = given
    state = loop.open_repair(
        FAILING, str(iterations), "300", refine=str(refine), passes=str(passes)
    )
    assert (
        most == state["limit"] == min(200, (max(1, iterations) + max(0, refine)) * max(1, passes))
    )
    rivals = [hypothesis(f"claim {number}", region(number)) for number in range(1, 210)]
    while not state["ended"]:
        wanted = state["wanted"]
        state = loop.choose(loop.admit(state, {"hypotheses": rivals}) if wanted else state)
        state = tried(state, {**FAILING, "stdout": f"{state['iteration']} is wrong"})
        rivals = rivals[1:]
    assert ("bound", most) == (state["ended"], state["iteration"])


def test_a_pass_begins_with_new_hypotheses_and_an_interpretation() -> None:
    """HYP-32: what was only proposed may be proposed again; what was tried may not."""
    state = loop.open_repair(FAILING, "1", "6", refine="1", passes="2")
    rows = [
        {**hypothesis(f"claim {number}", region(number), 0.9 - number / 10), "key": f"k{number}"}
        for number in (1, 2, 3)
    ]
    state = loop.choose(loop.admit(state, {"hypotheses": rows}))
    state = tried(state, after(line=1))
    assert not state["anew"] and 0 == state["wanted"]
    state = tried(loop.choose(state), after(line=2))
    assert (True, False, 2, "") == (state["anew"], state["fresh"], state["wanted"], state["ended"])
    assert (
        "archived" == hypotheses.get(state["store"], "H001")["status"] and ["k1"] == state["tried"]
    )
    again = loop.admit(state, {"hypotheses": rows})
    assert ["H001", "H002", "H003", "H004", "H005"] == again[
        "ids"
    ] and "claims the same" not in str(again["store"])
    assert ["claim 2", "claim 3"] == [
        row["claim"] for row in hypotheses.listed(again["store"], "active")
    ]


def test_a_cycle_is_measured_anew_once() -> None:
    """HYP-46: only the iteration that found another first error asks for it; it was every one after it, with a bad patch in."""
    state = tried(diagnosed(), after(failing="b", message="OtherError: x", line=14))
    assert state["fresh"] and state["anew"]
    state = loop.choose(
        loop.admit(state, {"hypotheses": [hypothesis("x", region(3)), hypothesis("y", region(4))]})
    )
    state = tried(state, after(failing="b", message="OtherError: x", line=14))
    assert not state["fresh"] and not state["anew"]


def test_fifty_cycles_are_the_most() -> None:
    """HYP-46."""
    state = {**diagnosed(), "cycle": 50}
    state = tried(state, after(failing="b", message="OtherError: x", line=14))
    assert ("bound", False) == (state["ended"], state["fresh"]) and 50 == loop.CYCLES


def test_a_file_that_stays_as_it_is_weakens_and_then_invalidates() -> None:
    """HYP-19: a patch may change nothing in two ways; this one is not even applied."""
    no = {"ok": False, "reason": "empty-diff", "why": "the patch changes nothing"}
    state = tried(diagnosed(RIGHT, {**WRONG, "confidence": 0.1}), after(), no)
    assert ("weakened", 1, "active") == stands(state["store"], "H001")
    state = tried(loop.choose({**state, "attempts": []}), after(), no)
    assert ("invalid", 2, "archived") == stands(state["store"], "H001")


def test_the_same_first_error_at_the_same_place_is_no_effect_whatever_else_fails() -> None:
    """HYP-19."""
    state = tried(diagnosed(), after(failing="abc"))
    assert ("unchanged-error", True) == (
        state["attempts"][-1]["reason"],
        state["attempts"][-1]["unchanged"],
    )
    assert ("weakened", 1, "active") == stands(state["store"], "H001")


@pytest.mark.parametrize(
    ("code", "reason"), [(1, "compile-1"), (-11, "compile--11"), (None, "compile-null")]
)
def test_every_failure_has_one_of_the_reasons(code: int | None, reason: str) -> None:
    """HYP-34: the code of the run is a part of it; None is a command that is not found (HYP-38)."""
    state = tried(
        diagnosed(),
        {
            "passed": False,
            "exit_code": code,
            "stdout": "",
            "stderr": "bash: line 1: x: command not found",
        },
    )
    assert reason == state["attempts"][-1]["reason"]
    assert re.fullmatch(r"compile-(null|-?\d+)", reason) and "compile-<rc>" in gates.REASONS


@pytest.mark.parametrize(
    ("measured", "ended"),
    [
        ({"passed": True, "exit_code": 0}, "passing"), ({"passed": False, "exit_code": None}, "no-command"),
        ({"passed": False, "exit_code": 1, "flaky": True}, "flaky"), ({"passed": False, "exit_code": 1, "flaky": False}, ""),
    ],
)  # fmt: skip
def test_where_there_is_nothing_to_measure_with_nothing_begins(
    measured: dict[str, Any], ended: str
) -> None:
    """HYP-31, 38."""
    assert ended == loop.open_repair({**measured, "stdout": "", "stderr": "x"})["ended"]


def test_fewer_failures_are_kept_and_the_next_error_begins_a_cycle() -> None:
    """HYP-46: each cycle takes on the first error."""
    state = tried(diagnosed(), after(failing="b", message="OtherError: x", line=14))
    assert (2, True, "") == (
        state["cycle"],
        state["fresh"],
        state["ended"],
    ) and "OtherError: x" == state["failure"]["message"]
    assert 1 == len(state["accepted"]) and 2 == state["wanted"]
    worse = tried(diagnosed(), after(failing="bc", line=14))
    assert (
        not worse["fresh"]
        and [] == worse["accepted"]
        and "compile-1" == worse["attempts"][-1]["reason"]
    )
    assert ["fixed", "partial", "none", "passing"] == [
        loop.outcome({**opened(), "ended": ended}, {"changes": list(changes), "diff": ""})["status"]
        for ended, changes in (
            ("fixed", ({},)),
            ("stalled", ({},)),
            ("stalled", ()),
            ("passing", ()),
        )
    ]


@pytest.mark.parametrize(
    "reason", ["missing-diff", "empty-diff", "scope-violation", "patch-apply", "empty-response"]
)
def test_a_patch_that_was_not_applied_is_a_failed_validation(reason: str) -> None:
    """HYP-24, 34."""
    state = tried(diagnosed(), after(), {"ok": False, "reason": reason, "why": "so"})
    assert (reason, False) == (state["attempts"][-1]["reason"], state["attempts"][-1]["applied"])
    assert f"patch not applied ({reason})" in state["history"][-1]
    if reason == "empty-diff":
        assert ("weakened", 1, "active") == stands(state["store"], "H001")
        return
    assert ("sound", 1, "expired") == stands(state["store"], "H001")
    again = loop.admit({**state, "ended": ""}, {"hypotheses": [RIGHT, OTHER]})
    assert again["ids"][-2:] == ["H003", "H004"]  # E4: what was never tried is not forbidden


def test_a_patch_of_no_or_two_hypotheses_is_refused() -> None:
    """HYP-13."""
    state = loop.weigh(diagnosed(), SURVIVES)
    attempt = loop.attempted(state, PROPOSAL, PATCH, after())
    for ids in ([], ["H001", "H002"]):
        with pytest.raises(Illegal):
            loop.conclude(state, {**attempt, "hypotheses": ids}, {})


def test_history_has_a_line_for_each_iteration_and_prompts_get_five() -> None:
    """HYP-40."""
    state = diagnosed(*(hypothesis(f"claim {number}", region(number)) for number in range(1, 9)))
    state = {**state, "limit": 7, "pass_limit": 7}
    while not state["ended"]:
        state = loop.choose(tried(state, after()))
    assert 7 == len(state["history"]) and state["history"][-5:] == state["recent"]


def test_interpretation_and_explanation_are_two_things() -> None:
    """HYP-06, 07."""
    for bad in (
        {},
        {"interpretation": "x"},
        {"explanation": "x"},
        {"interpretation": "Same.", "explanation": "same."},
        None,
    ):
        state = loop.hold_interpretation(opened(), bad)
        assert "" == state["interpretation"] and "INTERPRET failed" in state["notes"][0]
    good = loop.hold_interpretation(opened(), {"interpretation": "the branch", "explanation": WHY})
    assert "the branch" == good["interpretation"] and WHY not in json.dumps(good)


ORDERED = """
import json, pathlib, textwrap
from fdc_packs.repair.mutate.mutate import propose
own = "def g(a, b):\\n    return min(max(a), sum(b))\\n\\n\\ndef f(a, b):\\n    return a - b\\n"
for source, lines in ((own, (6,)), (pathlib.Path(textwrap.__file__).read_text("utf-8"), range(1, 400, 3))):
    rows = [{"path": "m.py", "line": line, "score": 1.0} for line in lines]
    print(json.dumps(propose(source, "m.py", rows, [], 2000)))
"""


@pytest.mark.long
def test_the_same_edits_come_in_the_same_order_in_every_process() -> None:
    """Sets of texts have another order in each, and only the first edits are tried."""
    said = {
        subprocess.run(
            [sys.executable, "-c", ORDERED],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT / "tooling")},
            capture_output=True, check=True,
        ).stdout
        for seed in ("0", "7")
    }  # fmt: skip
    assert len(said) == 1 and len(said.pop()) > 1000
