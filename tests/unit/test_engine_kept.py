"""Forks that keep failures, driven (LGTM-38): a branch that stops is a record among what the others yielded."""

from __future__ import annotations

from typing import Any

import pytest
from fdc_toolchain.engine.events import Failure, Outcome, Perform
from fdc_toolchain.engine.fold import fold
from fdc_toolchain.engine.replay import before, failed_alone
from fdc_toolchain.testing import FunctionTools, MemoryJournal, run

from tests.support.engine import done, tools
from tests.support.programs import compare, give, iterate, loop, plan, program, require, step

XS = {"xs": ["a", "b", "c"]}


def moody(*bad: str) -> FunctionTools:
    def read(effect: Perform) -> Any:
        value = effect.args["value"]
        return Outcome(failure=Failure("no", f"refused {value}")) if value in bad else value

    return tools(read=read)


def kept(*body: dict[str, Any], name: str = "x", over: str = "{xs}") -> dict[str, Any]:
    return loop("fork", name, over, *body, bind="got", keeps=True)


def record(failed: str, why: str, item: Any, at: str, path: str = "main.plan") -> dict[str, Any]:
    return {"failed": failed, "why": why, "item": item, "at": at, "path": path, "line": 1}


def test_a_branch_that_stops_leaves_a_record_in_its_place_and_the_run_goes_on() -> None:
    """LGTM-38: in the order of the input; what it had yielded is dropped, and so are its later steps."""
    body = kept(give("{x}1"), step("read", value="{x}"), step("note", value="{x}"), give("{x}2"))
    ending, works = done(
        body, step("fire", value="{got}"), give("{got}"), works=moody("b"), given=XS
    )
    assert ending.status == "finished"
    assert ending.result == [
        "a1",
        "a2",
        record("failure", "`read`: refused b", "b", "main/1#2/2"),
        "c1",
        "c2",
    ]
    assert sorted(one.args["value"] for one in works.calls if one.tool == "note") == ["a", "c"]
    assert [one.tool for one in works.calls][-1] == "fire"


@pytest.mark.parametrize(
    ("inside", "expected"),
    [
        (
            [require(compare("{x}", "!=", "b"), "not b")],
            record("require", "not b", "b", "main/1#2/1"),
        ),
        (
            [loop("for", "y", "{x}", step("note"))],
            record("value", "`for` runs over a list, and this is none", "b", "main/1#2/1"),
        ),
        (
            [loop("for", "y", "{xs}", step("note"), most=2)],
            record("bound", "3 items, and the plan allows 2", "b", "main/1#2/1"),
        ),
    ],
)
def test_gates_values_and_bounds_end_their_branch_only(
    inside: list[dict[str, Any]], expected: dict[str, Any]
) -> None:
    ending, _ = done(kept(*inside), give("{got}"), given={"xs": XS["xs"]})
    assert ending.status == "finished"
    assert expected in ending.result


def test_an_iterate_that_asks_the_same_again_and_again_ends_its_branch_only() -> None:
    asks = {"effect": "read", "parameters": [], "cost": {"model_calls": 1}}
    body = kept(iterate(9, step("read", value="same")), give("never"))
    ending, works = done(
        body, give("{got}"), given={"xs": ["a"]}, tools={"read": asks, "note": "pure"}
    )
    assert ending.status == "finished"
    assert [one["failed"] for one in ending.result] == ["stalled"]
    assert len(works.calls) == 3


def test_a_fork_in_a_branch_that_keeps_nothing_ends_the_branch_after_its_siblings() -> None:
    inner = loop("fork", "y", "{xs}", step("read", value="{y}"), step("note", value="{x}{y}"))
    ending, works = done(
        kept(inner, step("fire", value="{x}")), give("{got}"), works=moody("b", "c"), given=XS
    )
    assert ending.status == "finished"
    assert [one["at"] for one in ending.result] == [
        f"main/1#{branch}/1#2/1" for branch in (1, 2, 3)
    ]
    assert sorted(one.args["value"] for one in works.calls if one.tool == "note") == [
        "aa",
        "ba",
        "ca",
    ]
    assert not [one for one in works.calls if one.tool == "fire"]


def test_a_fork_in_a_branch_that_keeps_its_own_failures_ends_nobody_else() -> None:
    inner = loop(
        "fork", "y", "{xs}", step("read", value="{y}"), give("{y}"), bind="inner", keeps=True
    )
    outer = loop("fork", "x", "{xs}", inner, give("{inner}"), bind="got")
    ending, _ = done(outer, give("{got}"), works=moody("b"), given=XS)
    assert ending.status == "finished"
    assert [
        "a",
        record("failure", "`read`: refused b", "b", "main/1#3/1#2/1"),
        "c",
    ] == ending.result[2]


def test_a_failure_in_a_called_plan_names_the_place_there() -> None:
    sub = plan(step("read", value="{v}"), name="sub", params={"v": None})
    call = {
        "op": "call",
        "line": 1,
        "plan": "sub",
        "name": "sub",
        "args": {"v": [{"ref": ["x"]}]},
        "bind": "one",
    }
    ending, _ = done(
        kept(call, give("{one}")),
        give("{got}"),
        works=moody("a", "b", "c"),
        given=XS,
        plans={"sub": sub},
    )
    assert ending.result[0] == record(
        "failure", "`read`: refused a", "a", "main/1#1/1>sub/1", "sub.plan"
    )


def test_what_a_failed_branch_had_reserved_is_settled_and_what_it_cost_is_spent() -> None:
    paid = {"effect": "read", "parameters": [], "cost": {"model_calls": 1, "tokens": 100}}

    def read(effect: Perform) -> Any:
        failure = Failure("no", "no") if effect.args["value"] == "b" else None
        return Outcome(1, failure, usage={"model_calls": 1, "tokens": 10})

    journal = MemoryJournal()
    made = program(
        kept(step("read", value="{x}")),
        step("read", value="z"),
        tools={"read": paid},
        budget={"tokens": 130},
    )
    for room in (1, 3):
        ending = run(
            made,
            tools(read=read),
            inputs={"given": XS},
            journal=(journal := MemoryJournal()),
            room=room,
        )
        state = fold(made, {"given": XS}, journal.records)
        assert ending.status == "finished"
        assert state.spent["tokens"] == 40 and state.reserved["tokens"] == 0
        assert [stop.address for stop in state.kept] == ["main/1#2/1"]


def test_a_spent_budget_stops_the_run_wherever_it_is_met() -> None:
    ending, _ = done(kept(step("read", value="{x}")), step("fire"), given=XS, budget={"steps": 2})
    assert ending.status == "stopped" and ending.stop is not None and ending.stop.kind == "budget"


def test_a_broken_rule_stops_the_run_wherever_it_is_met() -> None:
    made = program(kept(step("read", value="{x}"), step("fire")), step("note"))
    made["rules"] = [{
        "protocol": "p", "rule": "r", "description": "No fire.", "events": [[{"tool": "fire"}], [], []], "same": None,
        "states": ["fine"], "accept": [0], "table": [[0], [-1]],
    }]  # fmt: skip
    ending = run(made, tools(), inputs={"given": XS})
    assert ending.stop is not None and ending.stop.kind == "rule"


def test_a_bug_of_ours_is_never_kept() -> None:
    """The linter proves that a nested cycle ends accepted; where one does not, nothing may go on."""
    automata = {
        "door": {
            "states": ["A", "B"],
            "start": "A",
            "accept": ["A"],
            "transitions": {"A": {"open": "B"}},
        }
    }
    sub = plan(step("note", action="open"), name="sub", automaton="door")
    call = {"op": "call", "line": 1, "plan": "sub", "name": "sub", "args": {}, "bind": None}
    ending, _ = done(
        kept(call), step("fire"), given={"xs": ["a"]}, plans={"sub": sub}, automata=automata
    )
    assert ending.stop is not None and ending.stop.kind == "bug"


def test_a_new_run_from_a_later_step_takes_kept_failures_over_and_one_from_the_failed_step_tries_it() -> (
    None
):
    journal = MemoryJournal()
    made = program(kept(step("read", value="{x}"), give("{x}")), step("fire", value="{got}"))
    inputs = {"given": XS}
    run(made, moody("b"), inputs=inputs, journal=journal, room=1)
    alone = failed_alone(made, inputs, journal.records)
    assert alone == {"main/1#2/1"}
    later = before(journal.records, "main/2", alone)
    assert "main/2" in fold(made, inputs, later).pending
    again = before(journal.records, "main/1#2/1", alone)
    assert "main/1#2/1" in fold(made, inputs, again).pending
    # without them the program stands at the failed step, not at the one asked for
    assert "main/2" not in fold(made, inputs, before(journal.records, "main/2")).pending
