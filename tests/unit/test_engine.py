"""The engine on doubles: control flow, addresses, budgets, automata, questions."""

from __future__ import annotations

import sys
import threading
from typing import Any

import pytest
from fdc_toolchain.engine.decide import decide
from fdc_toolchain.engine.drive import Ending
from fdc_toolchain.engine.events import Failure, Finish, Outcome, Perform, Performs, Record
from fdc_toolchain.engine.fold import fold, start
from fdc_toolchain.program.codec import digest, load
from fdc_toolchain.testing import CrashPoint, FakeClock, FunctionTools, MemoryJournal, run

from tests.support.background import PATIENCE
from tests.support.engine import addresses, done, tools
from tests.support.programs import (
    asks,
    call,
    choose,
    compare,
    each,
    everything,
    give,
    iterate,
    loop,
    plan,
    program,
    ref,
    require,
    step,
    template,
)  # fmt: skip
from tests.support.witness import Witness

AUTOMATON = {
    "states": ["START", "OPEN", "DONE"],
    "start": "START",
    "accept": ["DONE"],
    "transitions": {"START": {"open": "OPEN"}, "OPEN": {"work": "OPEN", "close": "DONE"}},
}


def test_every_construct_runs_to_the_end_and_every_effect_has_its_own_address() -> None:
    witness = Witness()
    journal = MemoryJournal()
    ending = run(everything(), witness, journal=journal)
    assert ending.status == "finished", ending
    found = addresses(journal)
    assert len(found) == len(set(found)) == len(witness.happened)
    assert found[:4] == ["main/1", "main/2", "main/3*", "main/3[1]/1"]
    assert "main/3[2]/2.then/1" in found
    assert "main/4[3]/1>sub/2.then/1" in found
    assert "main/5#2/3?1" in found and "main/5#2/3.then/1>sub/1" in found
    assert [at for at in found if at.startswith("main/6")] == [
        "main/6[1]/1", "main/6[1]/2", "main/6[1]?1", "main/6[2]/1", "main/6[2]/2", "main/6[2]?1",
        "main/6[3]/1", "main/6[3]/2", "main/6[3]?1",
    ]  # fmt: skip


def test_a_name_that_nothing_bound_is_null_and_so_are_its_fields() -> None:
    ending, _ = done(step("note", bind="x", value=[ref("no.such.field")]), give("{x} {no}"))
    assert ending.result == "null null"


def test_a_template_of_one_reference_keeps_the_value_and_others_are_text() -> None:
    ending, works = done(
        step("note", a="{v}", b="is {v}", c=template("")), given={"v": [1, {"k": "ü"}, None]}
    )
    assert ending.status == "finished"
    assert works.calls[0].args == {
        "a": [1, {"k": "ü"}, None],
        "b": 'is [1,{"k":"ü"},null]',
        "c": "",
    }


def test_loop_names_mean_afterwards_what_they_meant_before() -> None:
    ending, _ = done(
        step("note", bind="x", value="outer"),
        loop("for", "x", "{xs}", step("note", value="{x}")),
        each("*", step("note", value="{file}{file1}")),
        give("{x} {file} {file1}"),
        works=tools(for_each_file=lambda effect: ["f"]),
        given={"xs": [1, 2]},
    )
    assert ending.result == "outer null null"


def test_yield_goes_to_the_nearest_for_or_fork_and_else_is_the_result_of_the_plan() -> None:
    ending, _ = done(
        loop(
            "fork", "a", "{xs}",
            loop("for", "b", "{xs}", choose(compare("{b}", "==", 2), [give("{a}{b}")]), bind="inner"),
            give("{inner}"), give("!"),
            bind="outer",
        ),
        call("sub", bind="lone"),
        give("{outer} {lone}"),
        plans={"sub": plan(iterate(2, give("first")), give("last"), name="sub")},
        given={"xs": [1, 2]},
    )  # fmt: skip
    assert ending.result == '[["12"],"!",["22"],"!"] last'


def test_branches_run_at_the_same_time_and_join_in_the_order_of_the_input() -> None:
    """EXP-13: with room for all, all are in flight at once; the result does not depend on who is first."""
    together = threading.Barrier(4, timeout=PATIENCE)
    order = threading.Semaphore(0)

    def slow(effect: Perform) -> Any:
        together.wait()
        if effect.args["value"] == "a":
            order.acquire(timeout=PATIENCE)  # the first branch comes back last
        elif effect.args["value"] == "d":
            order.release()
        return effect.args["value"]

    ending, _ = done(
        loop("fork", "x", "{xs}", step("read", bind="got", value="{x}"), give("{got}"), bind="all"),
        give("{all}"),
        works=tools(read=slow),
        given={"xs": ["a", "b", "c", "d"]},
        room=4,
    )
    assert ending.result == ["a", "b", "c", "d"]


def test_branches_see_the_names_of_the_fork_and_not_each_other() -> None:
    ending, _ = done(
        step("note", bind="seen", value="before"),
        loop(
            "fork",
            "x",
            "{xs}",
            give("{seen}"),
            step("read", bind="seen", value="{x}"),
            give("{seen}"),
            bind="all",
        ),
        give("{all} {seen}"),
        given={"xs": ["a", "b"]},
    )
    assert ending.result == '["before","a","before","b"] before'


def test_branches_that_come_back_together_share_commits() -> None:
    journal = MemoryJournal()
    gate = threading.Barrier(8, timeout=PATIENCE)

    def meet(effect: Perform) -> Any:
        gate.wait()
        return 1

    body = loop("fork", "x", "{xs}", step("fire", value="{x}"), most=8)
    ending, _ = done(
        body, works=tools(fire=meet), given={"xs": list(range(8))}, journal=journal, room=8
    )
    assert ending.status == "finished"
    assert journal.commits[0] == 8  # eight intents at once
    assert sum(journal.commits) == 16


def test_a_branch_that_stops_lets_its_siblings_end_and_the_first_by_input_is_named() -> None:
    """LGTM-38: siblings finish."""

    def moody(effect: Perform) -> Any:
        if effect.args["value"] in ("b", "c"):
            return Outcome(failure=Failure("no", f"refused {effect.args['value']}"))
        return 1

    ending, works = done(
        loop("fork", "x", "{xs}", step("read", value="{x}"), step("note", value="{x}")),
        step("fire"),
        works=tools(read=moody),
        given={"xs": ["a", "b", "c", "d"]},
    )
    assert ending.stop is not None and ending.stop.kind == "failure"
    assert (ending.stop.message, ending.stop.address) == ("`read`: refused b", "main/1#2/1")
    assert sorted(effect.args["value"] for effect in works.calls if effect.tool == "note") == [
        "a",
        "d",
    ]
    assert not [effect for effect in works.calls if effect.tool == "fire"]


def test_a_failed_gate_stops_the_run_with_its_reason_and_place() -> None:
    ending, works = done(
        step("note"), require(compare(1, ">", 2), "numbers must behave"), step("fire")
    )
    assert ending.status == "stopped" and ending.stop is not None
    assert ending.stop[:3] == ("require", "numbers must behave", "main/2")
    assert [effect.tool for effect in works.calls] == ["note"]


def test_a_failure_of_a_tool_stops_the_run_and_is_in_the_journal() -> None:
    """T-23: a failure is a failure, never a success."""
    journal = MemoryJournal()
    works = tools(put=lambda effect: Outcome(failure=Failure("file", "`x` does not exist")))
    ending, _ = done(step("put"), step("fire"), works=works, journal=journal)
    assert ending.stop is not None and ending.stop[:3] == (
        "failure",
        "`put`: `x` does not exist",
        "main/1",
    )
    assert journal.records[-1].body["failed"] == {"kind": "file", "message": "`x` does not exist"}


@pytest.mark.parametrize(
    ("over", "message"),
    [
        ("text", "`for` runs over a list, and this is none"),
        ([1, 2, 3], "3 items, and the plan allows 2"),
    ],
)
def test_what_a_loop_cannot_run_over_stops_the_run_before_its_first_round(
    over: Any, message: str
) -> None:
    ending, works = done(loop("for", "x", "{xs}", step("fire"), most=2), given={"xs": over})
    assert ending.stop is not None and ending.stop.message == message
    assert works.calls == []


def test_more_files_than_allowed_stop_the_run_before_its_first_round() -> None:
    works = tools(for_each_file=lambda effect: ["a", "b"])
    ending, _ = done(each("*", step("fire"), most=1), works=works)
    assert ending.stop is not None and ending.stop[:2] == (
        "bound",
        "2 files match, and the plan allows 1",
    )


def test_the_list_of_files_is_fixed_on_entry_whatever_the_body_does() -> None:
    """FDC-35."""
    files = ["a", "b"]

    def grow(effect: Perform) -> Any:
        files.append(effect.address)
        return None

    works = tools(for_each_file=lambda effect: list(files), fire=grow)
    ending, _ = done(each("*", step("fire", value="{file}")), works=works)
    assert ending.status == "finished"
    assert [effect.args["value"] for effect in works.calls if effect.tool == "fire"] == ["a", "b"]


def test_iterate_runs_at_least_once_and_at_most_its_bound() -> None:
    ending, works = done(
        iterate(3, step("note", bind="n", value="x"), until=compare("{n}", "==", "x"))
    )
    assert len(works.calls) == 1
    ending, works = done(iterate(3, step("note"), until=compare(1, "==", 2)))
    assert len(works.calls) == 3 and ending.status == "finished"


def test_predicates_are_asked_from_left_to_right_and_no_more_than_needed() -> None:
    def answer(effect: Perform) -> Any:
        return effect.args["args"][0]

    both = {"and": [asks("p", False), asks("q", True)]}
    either = {"or": [asks("p", False), {"not": asks("q", True)}, asks("r", True)]}
    journal = MemoryJournal()
    works = tools(p=answer, q=answer, r=answer)
    done(choose(both, [step("note")]), choose(either, [step("note")]), works=works, journal=journal)
    assert [(effect.address, effect.tool) for effect in works.calls] == [
        ("main/1?1", "p"), ("main/2?1", "p"), ("main/2?2", "q"), ("main/2?3", "r"), ("main/2.then/1", "note"),
    ]  # fmt: skip


# Proofs checked again


def automatic(*symbols: str, plans: dict[str, Any] | None = None, **more: Any) -> Ending:
    body = [call("sub") if symbol == "sub" else step("note", action=symbol) for symbol in symbols]
    made = program(*body, automata={"fsm": AUTOMATON}, automaton="fsm", plans=plans, **more)
    return run(made, tools())


def test_a_step_that_the_automaton_forbids_is_our_bug_and_is_not_performed() -> None:
    ending = automatic("open", "open")
    assert ending.stop is not None
    assert ending.stop[:3] == (
        "bug",
        "`note` is `open`, which `fsm` does not allow in state `OPEN`",
        "main/2",
    )


def test_a_run_that_ends_where_the_automaton_does_not_accept_is_our_bug() -> None:
    ending = automatic("open", "work")
    assert ending.stop is not None and ending.stop.kind == "bug"
    assert ending.stop.message == "the plan ends in state `OPEN`, where `fsm` does not accept"
    assert automatic("open", "close").status == "finished"


def test_a_fragment_moves_its_callers_automaton_and_a_cycle_of_its_own_leaves_it() -> None:
    """FDC-30, FDC-31."""
    fragment = plan(step("note", action="close"), name="sub")
    assert automatic("open", "sub", plans={"sub": fragment}).status == "finished"
    cycle = plan(
        step("note", action="open"), step("note", action="close"), name="sub", automaton="fsm"
    )
    assert automatic("open", "sub", "close", plans={"sub": cycle}).status == "finished"
    unfinished = plan(step("note", action="open"), name="sub", automaton="fsm")
    ending = automatic("open", "sub", "close", plans={"sub": unfinished})
    assert ending.stop is not None and ending.stop.kind == "bug"


def chain(depth: int) -> dict[str, Any]:
    plans = {f"p{n}": plan(call(f"p{n + 1}"), name=f"p{n}") for n in range(2, depth)}
    plans[f"p{depth}"] = plan(step("note"), name=f"p{depth}")
    return program(call("p2"), plans=plans)


def test_ten_plans_may_lie_on_the_stack_and_the_eleventh_call_is_refused_before_it_happens() -> (
    None
):
    """FDC-33."""
    works = tools()
    assert run(chain(10), works).status == "finished" and len(works.calls) == 1
    works = tools()
    ending = run(chain(11), works)
    assert (
        ending.stop is not None and ending.stop.kind == "bug" and "11 deep" in ending.stop.message
    )
    assert works.calls == []


# Budgets


def test_a_budget_is_enforced_before_the_step_that_would_pass_it() -> None:
    ending, works = done(*[step("note")] * 4, budget={"steps": 3})
    assert ending.stop is not None
    assert ending.stop[:3] == ("budget", "the budget of 3 steps is used up before `note`", "main/4")
    assert len(works.calls) == 3


def test_a_tool_that_may_cost_more_than_is_left_is_not_started_and_what_it_used_is_what_counts() -> (
    None
):
    model = {"effect": "read", "parameters": [], "cost": {"model_calls": 2, "tokens": 100}}
    used = Outcome("x", usage={"model_calls": 1, "tokens": 40})
    works = FunctionTools({"ask": lambda effect: used})
    ending = run(program(*[step("ask")] * 5, tools={"ask": model}, budget={"tokens": 200}), works)
    assert len(works.calls) == 3  # 0+100, 40+100, 80+100 fit; 120+100 does not
    assert (
        ending.stop is not None
        and ending.stop.kind == "budget"
        and "200 tokens" in ending.stop.message
    )


def test_effects_in_flight_are_reserved_for_so_that_branches_cannot_spend_the_same_money() -> None:
    model = {"effect": "read", "parameters": [], "cost": {"money": 1.0}}
    works = FunctionTools({"ask": lambda effect: Outcome("x", usage={"money": 1.0})})
    body = loop("fork", "x", "{xs}", step("ask", of="{x}"))
    made = program(body, tools={"ask": model}, budget={"money": 3})
    ending = run(made, works, inputs={"given": {"xs": [1, 2, 3, 4, 5]}})
    assert len(works.calls) == 3
    assert ending.stop is not None and ending.stop.kind == "budget"


def test_seconds_are_counted_over_all_controllers_of_a_run() -> None:
    made = program(*[step("note")] * 10, budget={"seconds": 100})
    journal = MemoryJournal()
    clock = FakeClock(tick=1.0)
    point = CrashPoint(9)
    with pytest.raises(BaseException):  # noqa: B017 - whatever the crash is
        run(made, tools(), journal=journal, clock=clock, point=point)
    driven = journal.records[-1].at
    assert driven > 0
    ending = run(made, tools(), journal=journal, clock=FakeClock(now=1e6, tick=20.0))
    assert ending.stop is not None and ending.stop.kind == "budget"
    assert journal.records[-1].at >= driven


def test_the_seconds_that_a_tool_may_take_have_to_fit() -> None:
    slow = {"effect": "read", "parameters": [], "limits": {"seconds": 20, "retries": 1}}
    made = program(*[step("slow")] * 3, tools={"slow": slow}, budget={"seconds": 100})
    clock = FakeClock()
    works = FunctionTools({"slow": lambda effect: clock.advance(35)})
    ending = run(made, works, clock=clock)
    assert (
        ending.stop is not None and ending.stop.kind == "budget" and len(works.calls) == 2
    )  # 70 + 40 are more than 100


def test_a_person_may_raise_a_budget_and_the_run_goes_on() -> None:
    made = program(*[step("note")] * 3, budget={"steps": 2})
    journal = MemoryJournal()
    works = tools()
    assert run(made, works, journal=journal).status == "stopped"
    journal.append([Record("budget", "", 1, "", "", 0.0, {"budget": {"steps": 5}})])
    assert run(made, works, journal=journal).status == "finished"
    assert len(works.calls) == 3


# Cost


def test_decide_changes_nothing() -> None:
    made = everything()
    state = start(made, {})
    before = (dict(state.pending), dict(state.spent), state.elapsed)
    first = decide(made, state, 3)
    assert isinstance(first, Performs) and decide(made, state, 3) == first
    assert (state.pending, state.spent, state.elapsed) == before


def test_a_program_that_does_nothing_finishes_at_once() -> None:
    assert decide(program(), start(program(), {}), 1) == Finish(None, None)


@pytest.mark.slow
def test_a_run_costs_time_linear_in_its_steps_and_no_stack() -> None:
    """Twice the steps, about twice the time; the recursion limit is set so low that any recursion by length shows."""
    import time

    def seconds(steps: int) -> float:
        inner = iterate(1, choose(compare("{x}", ">=", 0), [step("note", of="{x}")]))
        sub = plan(inner, name="sub", params={"x": None})
        made = program(
            loop("for", "x", "{xs}", call("sub", x="{x}"), most=10**6), plans={"sub": sub}
        )
        inputs = {"given": {"xs": list(range(steps))}}
        journal = MemoryJournal()
        begun = time.process_time()
        assert run(made, tools(), journal=journal, inputs=inputs).status == "finished"
        fold(made, inputs, journal.records)
        return time.process_time() - begun

    limit = sys.getrecursionlimit()
    depth = len(__import__("inspect").stack())
    sys.setrecursionlimit(depth + 120)
    try:
        small, large = [seconds(1_250)], [seconds(5_000)]
        # What else the machine does makes a try longer and never shorter, so the best ones count. The square of the
        # steps would be sixteen times as much in every try.
        while min(large) > 4 * min(small) * 1.8 and len(large) < 8:
            small.append(seconds(1_250))
            large.append(seconds(5_000))
    finally:
        sys.setrecursionlimit(limit)
    assert min(large) <= 4 * min(small) * 1.8, (small, large)


# Programs as bytes


def test_a_program_survives_its_bytes_and_its_digest_names_its_content() -> None:
    from fdc_toolchain.program.codec import encode

    made = everything()
    again = load(encode(made))
    assert again == made and digest(again) == digest(made)
    made["plans"]["main"]["body"][0]["args"]["text"] = ["begun"]
    assert digest(again) != digest(made)


# Loops that ask models


def asking(
    *body: dict[str, Any], most: int = 9, until: dict[str, Any] | None = None, **tools: Any
) -> tuple[Any, FunctionTools]:
    ask = {"effect": "read", "parameters": [], "cost": {"model_calls": 1}}
    works = FunctionTools(dict.fromkeys(("ask", "note"), lambda effect: "v"))
    made = program(
        step("note", bind="seen", of="0"),
        iterate(most, *body, until=until),
        tools={"ask": ask, "note": "pure"},
    )
    made["plans"]["main"]["params"] = [{"name": "list", "default": None}]
    return run(made, works, inputs={"given": {"list": ["1", "2"]}}), works


def test_an_iterate_that_asks_models_the_same_three_times_stops_as_stalled() -> None:
    ending, works = asking(step("ask", of="{seen}", line=4))
    assert ending.stop is not None and (ending.stop.kind, ending.stop.address) == (
        "stalled",
        "main/2[3]",
    )
    assert "3 rounds in a row asked models exactly the same" in ending.stop.message
    assert [call.tool for call in works.calls] == ["note", "ask", "ask", "ask"]


def test_what_branches_ask_counts_in_whatever_order_they_come() -> None:
    ending, works = asking(
        loop("fork", "x", "{list}", step("note", of="{x}"), step("ask", of="{x}"))
    )
    assert ending.stop is not None and ending.stop.kind == "stalled"
    assert sum(call.tool == "ask" for call in works.calls) == 6


def test_loops_that_ask_something_new_or_no_model_or_are_done_do_not_stall() -> None:
    assert asking(step("note", of="{seen}"))[0].status == "finished"
    assert asking(step("ask", of="{seen}"), most=3)[0].status == "finished"
    counts = iter(range(99))
    works = FunctionTools({"note": lambda effect: next(counts), "ask": lambda effect: "v"})
    ask = {"effect": "read", "parameters": [], "cost": {"model_calls": 1}}
    body = iterate(9, step("note", bind="n"), step("ask", of="{n}"))
    assert run(program(body, tools={"ask": ask, "note": "read"}), works).status == "finished"
    until = compare("{seen}", "==", "v")
    assert asking(step("ask", of="{seen}"), until=until)[0].status == "finished"
