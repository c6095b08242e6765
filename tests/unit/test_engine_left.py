"""A cost of `left`: a step may use all that is left of a budget, and the run within says what that was."""

from __future__ import annotations

from typing import Any

import pytest
from fdc_toolchain.engine.decide import decide
from fdc_toolchain.engine.events import Failure, Outcome, Perform, Performs, Record, Wait
from fdc_toolchain.engine.fold import apply, fold, launch
from fdc_toolchain.engine.ports import Waiting
from fdc_toolchain.testing import Crash, CrashPoint, FunctionTools, MemoryJournal, run

from tests.support.programs import give, loop, program, step

LEFT = {
    "effect": "idempotent",
    "parameters": [],
    "cost": {"steps": "left", "tokens": "left"},
}
PAID = {"effect": "read", "parameters": [], "cost": {"tokens": 10}}


def used(tokens: float, steps: int = 2) -> Outcome:
    return Outcome("x", None, {"tokens": tokens, "steps": steps})


def ten(effect: Perform) -> Outcome:
    return Outcome("y", None, {"tokens": 10})


def forked(*body: dict[str, Any], **budget: float) -> dict[str, Any]:
    return program(
        step("list", bind="xs"),
        loop("fork", "one", "{xs}", *body, give("{one}"), bind="all"),
        tools={"list": "read", "left": LEFT, "paid": PAID},
        budget=budget,
    )


def test_what_may_use_all_that_is_left_runs_alone_and_gives_back_what_it_did_not_use() -> None:
    made = forked(step("left"), step("paid"), tokens=60)
    journal = MemoryJournal()
    point = CrashPoint(1)
    listed = FunctionTools({"list": lambda _: [1, 2, 3], "left": lambda _: point.reach("left")})
    with pytest.raises(Crash):
        run(made, listed, journal=journal)
    state = fold(made, {}, journal.records[:1])
    decision = decide(made, state, 8)
    assert isinstance(decision, Performs)
    [effect] = decision.effects
    launch(state, effect.address)
    assert 60 == state.reserved["tokens"] and isinstance(decide(made, state, 8), Wait)
    tools = FunctionTools({"list": lambda _: [1, 2, 3], "left": lambda _: used(10), "paid": ten})
    assert "finished" == run(made, tools).status
    stopped = run(forked(step("left"), step("paid"), tokens=59), tools)
    assert stopped.stop is not None and "budget" in stopped.stop.kind + stopped.stop.message


def test_a_waiting_run_within_lets_nothing_else_stop_for_the_budget_that_it_holds() -> None:
    def left(effect: Perform) -> Outcome:
        raise Waiting("which colour?")

    made = forked(step("left"), step("paid"), tokens=50)
    ending = run(made, FunctionTools({"list": lambda _: [1, 2], "left": left, "paid": used}))
    assert "waiting" == ending.status and ["which colour?"] == [q.text for q in ending.questions]


def test_a_lost_attempt_has_used_nothing_else_and_one_that_is_tried_again_counts_once() -> None:
    """The run within goes on with each attempt and says what it used since it began."""
    made = program(step("left"), tools={"left": LEFT}, budget={"tokens": 100, "steps": 50})
    journal = MemoryJournal()
    run(made, FunctionTools({"left": lambda _: used(10)}), journal=journal, point=CrashPoint(0))
    [intent, outcome] = journal.records
    lost = [intent, Record("session", "", 2, "", "", 0.0, {}), intent._replace(turn=2)]
    state = fold(made, {}, lost)
    assert (1, 0) == (state.spent["steps"], state.spent["tokens"])
    assert 100 == state.reserved["tokens"]
    state = fold(made, {}, [*lost, outcome._replace(turn=2)])
    assert (10, 3, 0) == (state.spent["tokens"], state.spent["steps"], state.reserved["tokens"])
    failed = {
        "took": 0.0,
        "failed": {"kind": "plan", "message": "x"},
        "usage": {"tokens": 30, "steps": 4},
    }
    again = [
        intent,
        outcome._replace(body=failed),
        Record("session", "", 2, "", "", 0.0, {}),
        Record("retry", "main/1", 1, "", "", 0.0, {}),
    ]
    state = fold(made, {}, again)
    assert 30 == state.spent["tokens"] and [] == list(state.dangling)
    apply(state, intent._replace(turn=2))
    assert 70 == state.reserved["tokens"]
    apply(state, outcome._replace(turn=2, body={**failed, "usage": {"tokens": 45, "steps": 9}}))
    assert (45, 10) == (state.spent["tokens"], state.spent["steps"]) and state.overrun is None


def test_without_a_budget_nothing_is_set_aside() -> None:
    made = program(step("left", bind="a"), give("{a}"), tools={"left": LEFT})
    ending = run(made, FunctionTools({"left": lambda _: used(10**9)}))
    assert ("finished", "x") == (ending.status, ending.result)


def test_more_than_was_left_stops_the_run() -> None:
    made = program(step("left"), tools={"left": LEFT}, budget={"tokens": 5})
    ending = run(made, FunctionTools({"left": lambda _: used(6)}))
    assert ending.stop is not None and "overrun" == ending.stop.kind
    failing = FunctionTools({"left": lambda _: Outcome(None, Failure("plan", "refused"))})
    ending = run(made, failing)
    assert ending.stop is not None and "failure" == ending.stop.kind
