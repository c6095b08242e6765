"""The pure functions of guided repair: hypotheses and their lives, the gates of each phase, what an output says."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from fdc_toolchain.effects.prompt_tools import rendered, variables
from fdc_toolchain.packs.repair import embedded, failure, gates, hypotheses, loop
from fdc_toolchain.packs.repair.hypotheses import Illegal
from hypothesis import given
from hypothesis import strategies as st

from tests.support.linting import findings, lint
from tests.support.repaired import OTHER, RIGHT, WHY, WRONG, hypothesis, region
from tests.support.repository import ROOT

CATALOGUE = json.loads((ROOT / "grammar/repair_tools.json").read_text("utf-8"))["tools"]
CHECKLIST = json.loads((ROOT / "plans/library/fix/checklist.json").read_text("utf-8"))


def made(*rows: dict[str, Any]) -> dict[str, Any]:
    return hypotheses.create(hypotheses.empty(), list(rows), 1).store


# ---- hypotheses ----------------------------------------------------------------------------


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
    code = [hypothesis(f"`k {sign} 1` is meant", region(6), effect=f"`k {sign} 1` is used") for sign in "+-*"]
    assert 3 == len(hypotheses.create(hypotheses.empty(), code, 1).ids), "what differs in code differs"
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
    assert number == pytest.approx(hypotheses.confidence(said)) if number is not None else hypotheses.confidence(said) is None


@given(st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=12), st.lists(st.integers(), max_size=2)))
def test_confidence_takes_anything(said: Any) -> None:
    """HYP-05."""
    number = hypotheses.confidence(said)
    assert number is None or (0.0 <= number <= 1.0 and not math.isnan(number))


@pytest.mark.parametrize("end", ["falsified", "rejected", "archived", "expired"])
def test_an_end_is_final_and_a_hypothesis_is_in_one_bucket(end: str) -> None:
    """HYP-02, 03."""
    store = hypotheses.retire(made(RIGHT, WRONG), "H001", end, "because")
    inside = hypotheses.buckets(store)
    assert ["H001"] == [row["id"] for row in inside[end]] and ["H002"] == [row["id"] for row in inside["active"]]
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
    assert {"affectedRegion", "expectedEffect", "structuralChange", "retryCount", "falsificationNotes"} < row.keys()
    assert not {"edit", "key", "created"} & row.keys() and 0 == row["retryCount"]


def test_selection() -> None:
    """HYP-28: newly proposed, then confidence, then fewer retries, then the lower number."""
    store = made({**RIGHT, "confidence": 0.9}, {**WRONG, "confidence": 0.4})
    assert "H001" == hypotheses.select(store, 1)
    store = hypotheses.create(store, [{**OTHER, "confidence": 0.1}, hypothesis("d", region(9), 0.1)], 2).store
    assert "H003" == hypotheses.select(store, 2) and "H001" == hypotheses.select(store, 3)
    assert "H004" == hypotheses.select(hypotheses.failed(store, "H003", "no", False), 2)
    assert hypotheses.select(hypotheses.expire(store, ""), 2) is None


def test_two_failures_retire_and_a_third_attempt_is_refused() -> None:
    """HYP-19, 24, 25: weakened, then invalid; archived after the second."""
    store = hypotheses.failed(made(RIGHT, WRONG), "H001", "it changed nothing", True)
    assert ("weakened", 1, "active") == _stands(store, "H001")
    store = hypotheses.failed(store, "H001", "it changed nothing", True)
    assert ("invalid", 2, "archived") == _stands(store, "H001")
    with pytest.raises(Illegal):
        hypotheses.failed(store, "H001", "once more", False)
    other = hypotheses.failed(hypotheses.failed(store, "H002", "a", False), "H002", "b", False)
    assert ("sound", 2, "archived") == _stands(other, "H002")


def _stands(store: dict[str, Any], key: str) -> tuple[str, int, str]:
    row = hypotheses.get(store, key)
    return row["standing"], row["retry_count"], row["status"]


def test_what_is_carried_holds_no_explanation() -> None:
    """HYP-07."""
    assert WHY in json.dumps(made(RIGHT, WRONG)) and WHY not in json.dumps(hypotheses.carried(made(RIGHT, WRONG)))


# ---- gates ---------------------------------------------------------------------------------

SEEN: dict[str, Any] = {"attempts": [], "executed": {"shop/price.py": [6, 8]}, "output": "AssertionError: 100 != 90"}


def row_of(row: dict[str, Any] = RIGHT) -> dict[str, Any]:
    return hypotheses.get(made(row, OTHER), "H001")


@pytest.mark.parametrize(
    "answer", [None, {}, {"contradictions": []}, {"contradictions": [{"observation": "  "}]}, {"hypothesis_id": "H007"}]
)
def test_a_falsification_without_an_outcome_fails(answer: Any) -> None:
    """HYP-09, T-44: an empty list was viable."""
    assert gates.challenge(answer, row_of(), SEEN).wrong


def test_what_was_seen_contradicts_whatever_is_said() -> None:
    """HYP-11, T-44: a failure of before became `pending`, never `observed`."""
    said = {"contradictions": [{"observation": "the region is not run", "status": "pending", "kind": "not-executed"}]}
    assert [] == gates.challenge(said, row_of(), SEEN).observed
    shown = "the region is not run (no failing test runs lines 7 to 7 of shop/price.py)"
    assert [shown] == gates.challenge(said, row_of(WRONG), SEEN).observed
    assert [] == gates.challenge(said, row_of(WRONG), {**SEEN, "executed": None}).observed
    for kind, attempt in (
        ("unchanged-error", {"unchanged": True}), ("patch-apply", {"reason": "patch-apply"}), ("compile", {"reason": "compile-1"})
    ):  # fmt: skip
        named = {"contradictions": [{"observation": "it came so", "status": "pending", "kind": kind}]}
        before = {**SEEN, "attempts": [{"hypothesis": "H001", "iteration": 3, **attempt}]}
        assert ["it came so (iteration 3 showed it)"] == gates.challenge(named, row_of(), before).observed
        other = {**SEEN, "attempts": [{**before["attempts"][0], "hypothesis": "H002"}]}
        assert [] == gates.challenge(named, row_of(), other).observed


def test_an_unknown_status_is_pending_and_an_observation_needs_evidence() -> None:
    """HYP-10."""
    said = {
        "contradictions": [
            {"observation": "a", "status": "maybe"}, {"observation": "b", "status": "observed"},
            {"observation": "c", "status": "observed", "evidence": "never said"},
            {"observation": "d", "status": "observed", "evidence": "100 !=  90"},
        ]
    }  # fmt: skip
    read = gates.challenge(said, row_of(), SEEN)
    assert ["pending", "pending", "pending", "observed"] == [row["status"] for row in read.contradictions]
    assert ["d (100 != 90)"] == [one.replace("  ", " ") for one in read.observed] and 3 == len(read.warnings)


def proposed(intent: str, type_: Any = "scope", operation: Any = "rebind_operator") -> str:
    return gates.proposal({"intent": intent, "structural_change": {"type": type_, "operation": operation}})


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
def test_a_proposal_that_breaks_a_rule_is_refused(type_: Any, operation: Any, intent: str, why: str) -> None:
    """HYP-20 to 23."""
    assert why in proposed(intent, type_, operation)


FIELDS = (
    "intent structural_change type contradictions hypotheses claim affected_region requests needs_more_context interpretation"
    " explanation observation"
).split()
LEAVES = st.none() | st.text(max_size=20) | st.integers()


@given(
    st.recursive(
        LEAVES, lambda one: st.lists(one, max_size=3) | st.dictionaries(st.sampled_from(FIELDS), one, max_size=4), max_leaves=12
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
    asked = {"category": "DECLARATION", "target": {"kind": "function", "name": "discount"}, "reason": "its signature"}
    two = {**asked, "target": {"kind": "function", "name": "two words"}}
    rows, note = gates.requests({"needs_more_context": True, "requests": [asked, two, {**asked, "category": "MOOD"}]})
    assert ["discount"] == [row["name"] for row in rows] and "" == note
    assert ([], "the answer about context could not be read; it goes on without") == gates.requests("please")
    assert ([], "") == gates.requests({"needs_more_context": False, "requests": []})


# ---- the loop ------------------------------------------------------------------------------

def printed(message: str = "AssertionError: 100 != 90", line: int = 11, failing: str = "ab", noise: str = "") -> str:
    trace = f'Traceback (most recent call last):\n  File "check.py", line {line}, in t\n    x\n{message}\n\n'
    return noise + "".join(f"FAIL: test_{name} (m.T.test_{name})\n------\n{trace}" for name in failing)


BEFORE = failure.read({"exit_code": 1, "output": printed()})


def opened() -> dict[str, Any]:
    return loop.open_repair({"passed": False, "exit_code": 1, "output": printed(), "seconds": 1.0}, "5", "2")


def diagnosed(*rows: dict[str, Any]) -> dict[str, Any]:
    return loop.choose(loop.admit(opened(), {"hypotheses": list(rows or (RIGHT, WRONG))}))


SURVIVES = {"contradictions": [{"observation": "another error", "status": "pending"}]}
PROPOSAL = {"ok": True, "why": ""}
PATCH = {"ok": True, "reason": "", "why": "", "path": "shop/price.py", "diff": "d", "spans": [[6, 6]]}


def after(**more: Any) -> dict[str, Any]:
    return {"passed": False, "exit_code": 1, "output": printed(**more)}


def tried(state: dict[str, Any], ended: dict[str, Any], patch: dict[str, Any] = PATCH) -> dict[str, Any]:
    state = loop.weigh(state, SURVIVES)
    return loop.conclude(state, loop.attempted(state, PROPOSAL, patch, ended if patch["ok"] else None), {"assessment": "so"})


def test_two_bad_diagnoses_are_asked_again_and_the_third_ends_it() -> None:
    """HYP-26, 43: an iteration without a hypothesis ends the repair at once."""
    state = opened()
    for number in (1, 2):
        state = loop.admit(state, {"hypotheses": [RIGHT]})
        assert state["short"] and number == state["asked"] and state["refused"]
    state = loop.admit(state, {"hypotheses": [RIGHT]})
    assert not state["short"] and "no-hypotheses" == state["ended"] and [] == state["ids"]


def test_a_contradicted_hypothesis_gives_way_to_the_next_and_none_left_asks_for_diagnoses() -> None:
    """HYP-11, 12, 30."""
    state = diagnosed(WRONG, OTHER)
    seen = {"contradictions": [{"observation": "it is not run", "kind": "not-executed"}]}
    state = loop.weigh(state, seen, {"shop/price.py": [6]})
    assert ("H002", False, False) == (state["selected"], state["settled"], state["viable"])
    state = loop.weigh(state, seen, {"shop/price.py": [6]})
    assert ("", True, False) == (state["selected"], state["settled"], state["viable"])
    assert 2 == state["wanted"] and {"falsified"} == {row["status"] for row in state["store"]["rows"]}
    ended = loop.conclude(state, loop.attempted(state), {})
    assert "" == ended["ended"] and "missing-diff" == ended["attempts"][-1]["reason"]


def test_an_empty_falsification_is_asked_again_once_and_then_rejects() -> None:
    """HYP-09."""
    state = loop.weigh(diagnosed(), {"contradictions": []})
    assert "H001" == state["selected"] and not state["settled"] and not state["viable"]
    state = loop.weigh(state, {"contradictions": []})
    assert "H002" == state["selected"] and "rejected" == hypotheses.get(state["store"], "H001")["status"]


def test_success_ends_it_at_once() -> None:
    """HYP-33."""
    state = tried(diagnosed(), {"passed": True, "exit_code": 0, "output": "OK"})
    assert ("fixed", 1) == (state["ended"], state["iteration"]) and 0 == len(hypotheses.listed(state["store"], "active"))
    assert "Loop 1: patch applied; compile/test passes; critique: so" == state["history"][-1]


def test_a_patch_that_changes_nothing_weakens_and_the_second_time_stalls() -> None:
    """HYP-17, 19, 24, 29: message, place and scope are the same twice."""
    state = tried(diagnosed(), after())
    first = state["attempts"][-1]
    assert ("unchanged-error", True) == (first["reason"], first["unchanged"]) and first["previous"] == first["current"]
    assert ("weakened", 1, "active") == _stands(state["store"], "H001")
    state = tried(loop.choose(state), after())
    assert "stall" == state["attempts"][-1]["reason"] and 1 == state["stalls"]
    assert ("invalid", 2, "archived") == _stands(state["store"], "H001")
    assert "H002" == loop.choose(state)["selected"]


def test_a_stall_replaces_the_hypothesis_though_it_has_an_attempt_left() -> None:
    """HYP-29, T-47: a stall was a line of the log."""
    one, two = hypothesis("a", region(6), 0.9, "x"), hypothesis("b", region(6), 0.8, "y")
    state = tried(diagnosed(one, two), after(noise="one\n"))
    state = {**state, "store": hypotheses.retire(state["store"], "H001", "archived", "")}
    state = tried(loop.choose(state), after(noise="two\n"))
    assert ("stall", ("weakened", 1, "archived")) == (state["attempts"][-1]["reason"], _stands(state["store"], "H002"))


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


def test_fewer_failures_are_kept_and_the_next_error_begins_a_cycle() -> None:
    """HYP-46: each cycle takes on the first error."""
    state = tried(diagnosed(), after(failing="b", message="OtherError: x", line=14))
    assert (2, True, "") == (state["cycle"], state["fresh"], state["ended"]) and "OtherError: x" == state["failure"]["message"]
    assert 1 == len(state["accepted"]) and 2 == state["wanted"]
    worse = tried(diagnosed(), after(failing="bc", line=14))
    assert not worse["fresh"] and [] == worse["accepted"] and "compile-1" == worse["attempts"][-1]["reason"]
    assert ["fixed", "partial", "none", "passing"] == [
        loop.outcome({**opened(), "ended": ended}, {"changes": changes, "diff": ""})["status"]
        for ended, changes in (("fixed", [{}]), ("stalled", [{}]), ("stalled", []), ("passing", []))
    ]


@pytest.mark.parametrize("reason", ["missing-diff", "empty-diff", "scope-violation", "patch-apply", "empty-response"])
def test_a_patch_that_was_not_applied_is_a_failed_validation(reason: str) -> None:
    """HYP-24, 34."""
    state = tried(diagnosed(), after(), {"ok": False, "reason": reason, "why": "so"})
    assert (reason, False) == (state["attempts"][-1]["reason"], state["attempts"][-1]["applied"])
    assert f"patch not applied ({reason})" in state["history"][-1] and ("sound", 1, "active") == _stands(state["store"], "H001")


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
    state = {**state, "limit": 7}
    while not state["ended"]:
        state = loop.choose(tried(state, after()))
    assert 7 == len(state["history"]) and state["history"][-5:] == state["recent"]


def test_interpretation_and_explanation_are_two_things() -> None:
    """HYP-06, 07."""
    for bad in ({}, {"interpretation": "x"}, {"explanation": "x"}, {"interpretation": "Same.", "explanation": "same."}, None):
        state = loop.hold_interpretation(opened(), bad)
        assert "" == state["interpretation"] and "INTERPRET failed" in state["notes"][0]
    good = loop.hold_interpretation(opened(), {"interpretation": "the branch", "explanation": WHY})
    assert "the branch" == good["interpretation"] and WHY not in json.dumps(good)


# ---- what is shipped -----------------------------------------------------------------------


def test_the_checklist_says_what_the_code_checks() -> None:
    """HYP-44."""
    said = {phase["step"]: {rule["name"]: rule["rule"] for rule in phase["rules"]} for phase in CHECKLIST["phases"]}
    assert said == gates.RULES
    assert list(gates.RELATIONS) == CHECKLIST["relations"] and list(hypotheses.BUCKETS) == CHECKLIST["buckets"]
    assert list(gates.REASONS) == CHECKLIST["failure_reasons"] and hypotheses.ATTEMPTS == CHECKLIST["attempts"]
    order = [phase["step"] for phase in CHECKLIST["phases"]]
    assert ["GATHER", "INTERPRET", "DIAGNOSE", "FALSIFY", "PROPOSE", "GENERATE_PATCH", "CRITIQUE", "CONVERGE"] == order
    assert CHECKLIST["hypothesis"] and CHECKLIST["validation"]


@pytest.mark.parametrize("tool", [name for name, row in CATALOGUE.items() if "prompt" in row.get("run", {})])
def test_every_prompt_uses_what_its_tool_has(tool: str) -> None:
    declared = CATALOGUE[tool]
    text = (ROOT / declared["run"]["prompt"]).read_text("utf-8")
    assert variables(text) <= {parameter["name"] for parameter in declared["parameters"]}
    assert "data-" in rendered(text, EXAMPLE)[1] and hasattr(embedded, declared["run"]["embedded"].partition(":")[2])


EXAMPLE: dict[str, Any] = {
    "failure": BEFORE, "hypothesis": row_of({**RIGHT, "edit": "SECRET-EDIT"}),
    "proposal": {"intent": "x", "structural_change": {}},
    "attempt": loop.attempted(loop.weigh(diagnosed(), SURVIVES), PROPOSAL, PATCH, after()),
    "context": {"excerpts": "e", "files": ["f"], "gathered": [], "suspects": [], "sources": {"shop/price.py": "s"}},
    "history": ["h"], "known": hypotheses.carried(made(RIGHT, WRONG)), "refused": ["r"], "tried": ["t"], "interpretation": "i",
    "gathered": ["g"], "probed": {"verdicts": {"t": "helps"}},
}  # fmt: skip


def test_no_prompt_shows_an_explanation_or_an_edit() -> None:
    """HYP-07, 22."""
    for declared in CATALOGUE.values():
        if "prompt" in declared.get("run", {}):
            whole = "".join(rendered((ROOT / declared["run"]["prompt"]).read_text("utf-8"), EXAMPLE))
            assert WHY not in whole and "SECRET-EDIT" not in whole


EARLY = (
    "  early <- write_patch hypothesis={state.hypothesis} proposal={state} context={context}\n  message_user {early}\n"
    "  proposed <- propose_change"
)
TESTED = "      after <- run_tests case={case} test={test} seconds={state.patience}\n"
APPLIED = "      apply_repair case={case} patch={patch}\n"
PLANS = ("fix", "fix_interpret", "fix_iteration", "fix_attempt")


@pytest.mark.parametrize(
    ("where", "old", "new", "code"),
    [
        ("fix", "", "", ""),
        ("fix_iteration", "  iterate max 24 until state.settled\n", "  if state.viable\n", "FDC401"),
        ("fix_attempt", "  proposed <- propose_change", EARLY, "FDC401"),
        ("fix_attempt", TESTED, "      after <- open_repair measured={patch}\n", "FDC401"),
        ("fix_attempt", APPLIED, "      overwrite_file_with_block shop/price.py\n        x\n", "FDC451"),
        ("fix", "  iterate max 200 until ", "  iterate until ", "FDC"),
        ("fix", "allow run *\n", "", "FDC451"),
    ],
)  # fmt: skip
def test_the_linter_proves_the_order_the_bound_and_what_is_written(where: str, old: str, new: str, code: str) -> None:
    """HYP-08, 32: no patch without falsification and proposal; each is measured; every loop has a bound; nothing is written."""
    library = ROOT / "plans/library"
    world = {f"plans/library/{name}.plan": (library / f"{name}.plan").read_text("utf-8") for name in PLANS}
    world |= {str(path.relative_to(ROOT)): path.read_text("utf-8") for path in (library / "fix").iterdir()}
    world["tooling/repair_fsm.json"] = (ROOT / "tooling/repair_fsm.json").read_text("utf-8")
    for name in PLANS[1:]:
        for plan in PLANS:
            key = f"plans/library/{plan}.plan"
            world[key] = world[key].replace(f"call_plan {name.replace('_', '-')} ", f"call_plan plans/library/{name}.plan ")
    changed = f"plans/library/{where}.plan"
    assert old in world[changed]
    world[changed] = world[changed].replace(old, new, 1) if old else world[changed]
    errors = [item.code for item in findings(lint(world, "plans/library/fix.plan")) if item.severity == "error"]
    assert (any(one.startswith(code) for one in errors) if code else not errors), errors
