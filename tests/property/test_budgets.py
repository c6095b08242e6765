"""Budgets are reserved before an effect and settled after it: no run passes one, whatever its branches do (issue 4)."""

from __future__ import annotations

import random
import re
import threading
from typing import Any

from fdc_toolchain.engine.events import Failure, Outcome, Perform, Record
from fdc_toolchain.engine.fold import fold
from fdc_toolchain.engine.replay import replay
from fdc_toolchain.testing import Crash, CrashPoint, FakeClock, FunctionTools, MemoryJournal, run
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.profiles import share
from tests.support.programs import call, give, iterate, loop, plan, program, step

MEASURES = ("model_calls", "tokens", "money")
GIVEN = {"given": {"list": ["1", "2", "3"]}}


def budgeted(chance: random.Random, called: bool = True) -> dict[str, Any]:
    """A program whose tools cost something, in loops, calls and forks, with a budget that it may or may not keep to.

    `called`: plans that it calls may have one, too.
    """
    names = ("ask", "buy", "look")
    tools = {
        name: {
            "effect": kind, "parameters": [],
            "cost": {measure: _amount(chance, measure, 9) for measure in MEASURES if chance.random() < 0.8},
        }
        for name, kind in zip(names, ("read", "once", "idempotent"), strict=True)
    }  # fmt: skip

    def body(depth: int) -> list[dict[str, Any]]:
        out = []
        for _ in range(chance.randrange(1, 4)):
            kind = chance.randrange(6 if depth < 2 else 3)
            if kind < 3:
                out.append(step(chance.choice(names), of="x"))
            elif kind == 3:
                out.append(iterate(chance.randrange(1, 4), *body(depth + 1)))
            elif kind == 4:
                out.append(call("low"))
            else:
                out.append(loop("fork", "i", "{list}", *body(depth + 1), give("{i}"), bind="b"))
        return out

    low = plan(*[step(chance.choice(names)) for _ in range(2)], name="low", params={"list": "none"})
    wide = loop("fork", "i", "{list}", call("low"), step(chance.choice(names)))
    high = plan(step("look"), wide, call("low"), name="high", params={"list": None})
    limits = {
        measure: _amount(chance, measure, 60) for measure in MEASURES if chance.random() < 0.6
    }
    if chance.random() < 0.5:
        limits["steps"] = chance.randrange(20)
    last = [call("high", list="{list}")] if called else []
    for one in (low, high) if called and chance.random() < 0.7 else ():
        one["budget"] = {
            measure: _amount(chance, measure, 40) for measure in MEASURES if chance.random() < 0.5
        }
        if chance.random() < 0.5:
            one["budget"]["steps"] = chance.randrange(1, 9)
    return program(
        *body(0),
        *last,
        params={"list": None},
        plans={"low": low, "high": high},
        tools=tools,
        budget=limits,
    )


def _amount(chance: random.Random, measure: str, most: int) -> float:
    return round(chance.uniform(0, most), 3) if measure == "money" else chance.randrange(most)


class Meter:
    """Tools that use what they may at most, or less, say so or say nothing, and count what was really used."""

    def __init__(self, made: dict[str, Any], seed: int) -> None:
        self.tools = made["tools"]
        self.seed = seed
        self.used: dict[str, float] = {}
        self.calls: dict[tuple[str, str], float] = {}
        """What each call of a plan used, with all that it called: by its address and measure."""
        self.lock = threading.Lock()

    def __call__(self, effect: Perform) -> Outcome:
        chance = random.Random(f"{self.seed} {effect.address} {effect.turn}")
        part = chance.choice((0.0, 0.5, 1.0, 1.0))
        usage = {
            measure: round(number * part, 3) if measure == "money" else int(number * part)
            for measure, number in self.tools[effect.tool]["cost"].items()
        }
        with self.lock:
            for measure, number in {"steps": 1, **usage}.items():
                self.used[measure] = round(self.used.get(measure, 0) + number, 6)
                for made in re.finditer(r">\w+", effect.address):
                    key = effect.address[: made.end()], measure
                    self.calls[key] = round(self.calls.get(key, 0) + number, 6)
        failed = Failure("net", "no") if chance.random() < 0.05 else None
        return Outcome(None, failed, usage if chance.random() < 0.8 else None)

    def is_within(self, plans: dict[str, Any], *, without: str = "") -> bool:
        """Whether no call used more than its plan's budget."""
        return all(
            used <= plans[address.rpartition(">")[2]].get("budget", {}).get(measure, used)
            for (address, measure), used in self.calls.items()
            if measure != without
        )

    def works(self) -> FunctionTools:
        return FunctionTools(dict.fromkeys(("ask", "buy", "look"), self))


@given(st.integers(0, 2**32))
@settings(max_examples=share(400))
def test_what_a_run_uses_never_passes_its_budget_and_is_never_more_than_it_says(seed: int) -> None:
    made = budgeted(random.Random(seed))
    meter, journal = Meter(made, seed), MemoryJournal()
    ending = run(made, meter.works(), inputs=GIVEN, journal=journal)
    state = fold(made, GIVEN, journal.records)
    for measure, ceiling in made["budget"].items():
        assert meter.used.get(measure, 0) <= state.spent.get(measure, 0) <= ceiling
    assert meter.is_within(made["plans"])
    assert not any(state.reserved.values())
    assert ending.stop is None or ending.stop.kind in ("budget", "plan_budget", "failure")
    spent = {measure: number for measure, number in state.spent.items() if number}
    said = {
        "stop": ending.stop and ending.stop._asdict(),
        "steps": state.steps,
        "seconds": 0.0,
        "spent": spent,
        "questions": [],
    }
    assert replay(made, GIVEN, journal.records, ending.status, said).difference is None


@given(st.integers(0, 2**32))
@settings(max_examples=share(200))
def test_a_replay_finds_the_step_that_a_smaller_budget_would_not_have_let_begin(seed: int) -> None:
    """A record is not only what the program wants there: the controller would have begun it, budget and all (issue 4)."""
    made = budgeted(random.Random(seed))
    journal = MemoryJournal()
    plenty = {**GIVEN, "budget": dict.fromkeys((*MEASURES, "steps"), 10**9)}
    run(made, Meter(made, seed).works(), inputs=plenty, journal=journal)
    for measure, number in fold(made, plenty, journal.records).spent.items():
        if number:
            less = {**GIVEN, "budget": {**plenty["budget"], measure: round(number - 0.001, 3)}}
            found = replay(made, less, journal.records, "running", None)
            assert (
                found.difference is not None
                and f"the budget of {less['budget'][measure]:g} {measure}" in found.difference
            )


@given(st.integers(0, 2**32), st.integers(1, 30), st.booleans())
@settings(max_examples=share(400))
def test_a_lost_attempt_was_paid_for_so_no_number_of_crashes_passes_a_budget(
    seed: int, first: int, session: bool
) -> None:
    """What is paid for is announced, so a controller that is lost in the middle of it leaves its reservation behind."""
    made = budgeted(random.Random(seed))
    meter, journal = Meter(made, seed), MemoryJournal()
    for number in (first, first // 2 + 1, first // 3 + 1, None):
        if session:
            journal.append([Record("session", "", len(journal.records) + 1, "", "", 0.0, {})])
        try:
            run(made, meter.works(), inputs=GIVEN, journal=journal, point=CrashPoint(number))
        except Crash:
            continue
        break
    state = fold(made, GIVEN, journal.records)
    for measure, ceiling in made["budget"].items():
        if measure == "steps":  # a step that is tried again is one step
            assert state.spent.get(measure, 0) <= ceiling
        else:
            assert meter.used.get(measure, 0) <= ceiling
            held = state.spent.get(measure, 0) + state.reserved.get(measure, 0)
            assert meter.used.get(measure, 0) <= held + 1e-9 and held <= ceiling + 1e-9  # floats
    assert meter.is_within(made["plans"], without="steps")


@given(st.integers(0, 2**32))
@settings(max_examples=share(120))
def test_a_larger_budget_lets_a_run_go_on_to_the_end_that_it_would_have_had(seed: int) -> None:
    made = budgeted(random.Random(seed), called=False)
    journal = MemoryJournal()
    stopped = run(made, Meter(made, seed).works(), inputs=GIVEN, journal=journal)
    plenty = dict.fromkeys((*MEASURES, "steps"), 10**9)
    free = run(made, Meter(made, seed).works(), inputs={**GIVEN, "budget": plenty})
    if stopped.stop is not None and stopped.stop.kind == "budget":
        journal.append([Record("budget", "", 1, "", "", 0.0, {"budget": plenty})])
        stopped = run(made, Meter(made, seed).works(), inputs=GIVEN, journal=journal)
    assert (stopped.status, stopped.result) == (free.status, free.result)


LIES: list[Any] = [11, -1, float("nan"), float("inf"), "many", None, True, [3], 10**30]


@given(st.sampled_from(LIES), st.booleans())
def test_a_report_of_more_than_was_set_aside_stops_the_run_typed_and_more_budget_lets_it_go_on(
    lie: Any, fork: bool
) -> None:
    if isinstance(lie, float):
        lie = str(lie)  # what JSON cannot say never comes into a journal
    body = [step("ask", bind="a", of="x"), step("ask", bind="a", of="y"), give("{a}")]
    made = program(
        *([loop("fork", "i", "{list}", *body, bind="all"), give("{all}")] if fork else body),
        params={"list": None}, budget={"tokens": 100},
        tools={"ask": {"effect": "read", "parameters": [], "cost": {"tokens": 10}}},
    )  # fmt: skip
    works = FunctionTools({"ask": lambda effect: Outcome("v", usage={"tokens": lie})})
    journal = MemoryJournal()
    ending = run(made, works, inputs=GIVEN, journal=journal)
    assert (
        ending.stop is not None
        and ending.stop.kind == "overrun"
        and "10 had been set aside" in ending.stop.message
    )
    assert ending.stop.address == ("main/1#1/1" if fork else "main/1")
    assert len(works.calls) <= (3 if fork else 1)
    honest = FunctionTools({"ask": lambda effect: Outcome("v", usage={"tokens": 9})})
    assert (
        run(made, honest, inputs=GIVEN, journal=journal).stop == ending.stop and honest.calls == []
    )
    journal.append([Record("budget", "", 1, "", "", 0.0, {"budget": {"tokens": 10**40}})])
    assert run(made, honest, inputs=GIVEN, journal=journal).status == "finished"


def test_a_prompt_is_reserved_for_at_the_price_of_the_dearest_model() -> None:
    """The rate is in the run's inputs, so the reservation is the same on resume and replay."""
    tool = {
        "effect": "read",
        "parameters": [],
        "cost": {"tokens": 1000},
        "run": {"prompt": "p", "role": "r"},
    }
    made = program(*[step("ask", of="x")] * 5, tools={"ask": tool}, budget={"money": 0.05})
    works = FunctionTools(
        {"ask": lambda effect: Outcome("v", usage={"tokens": 500, "money": 0.005})}
    )
    inputs = {"model": {"names": ["m"], "rate": 25e-6}}
    ending = run(made, works, inputs=inputs)
    assert (
        ending.status == "finished" and len(works.calls) == 5
    )  # 0.025 are reserved, 0.005 used: 4 * 0.005 + 0.025 <= 0.05
    works.calls.clear()
    tight = {**made, "budget": {"money": 0.04}}
    ending = run(tight, works, inputs=inputs)
    assert ending.stop is not None and ending.stop.kind == "budget" and len(works.calls) == 4
    works.calls.clear()
    assert (
        run({**made, "budget": {"money": 0.02}}, works, inputs=inputs).stop[0] == "budget"
        and works.calls == []
    )  # type: ignore[index]


def test_a_step_within_which_models_are_asked_is_reserved_for_like_a_prompt() -> None:
    """A tool that asks models by a run of its own (`plan.run`): what it declares in tokens has its price in money."""
    tool = {"effect": "idempotent", "parameters": [], "cost": {"tokens": 1000}}
    made = program(step("ask"), step("ask"), tools={"ask": tool}, budget={"money": 0.03})
    works = FunctionTools(
        {"ask": lambda effect: Outcome("v", usage={"tokens": 900, "money": 0.02})}
    )
    ending = run(made, works, inputs={"model": {"names": ["m"], "rate": 25e-6}})
    assert ending.stop is not None and ending.stop.kind == "budget" and len(works.calls) == 1


PRICED = {
    "ask": {
        "effect": "read",
        "parameters": [],
        "cost": {"tokens": 10, "model_calls": 1, "money": 0.5},
    }
}


def ends(*body: dict[str, Any], low: dict[str, Any], **more: Any) -> tuple[Any, int]:
    """The stop of a run that calls `low`, without its place, and how many steps were done before it."""
    made = program(*body, plans={"low": low}, tools=PRICED, params={"list": None}, **more)
    works = FunctionTools({"ask": lambda effect: Outcome("v", usage={"tokens": 6})})
    journal = MemoryJournal()
    ending = run(made, works, inputs=GIVEN, journal=journal)
    state = fold(made, GIVEN, journal.records)
    said = {
        "stop": ending.stop and ending.stop._asdict(), "steps": state.steps, "seconds": 0.0, "questions": [],
        "spent": {measure: number for measure, number in state.spent.items() if number},
    }  # fmt: skip
    assert replay(made, GIVEN, journal.records, ending.status, said).difference is None
    return ending.stop and (ending.stop.kind, ending.stop.message, ending.stop.address), len(
        works.calls
    )


def test_each_call_of_a_plan_is_held_to_the_budget_that_the_plan_states() -> None:
    def low(**budget: float) -> dict[str, Any]:
        return plan(step("ask"), step("ask"), step("ask"), name="low", budget=budget)

    assert ends(call("low"), call("low"), call("low"), low=low(steps=3)) == (None, 9)
    used_up = "that `low.plan` states is used up before `ask`"
    for measure, most, done in (
        ("steps", 2, 2),
        ("tokens", 21, 2),
        ("tokens", 22, 3),
        ("model_calls", 1, 1),
        ("money", 1, 2),
    ):
        stop, steps = ends(step("ask"), call("low"), low=low(**{measure: most}))
        stopped = (
            "plan_budget",
            f"the budget of {most} {measure} {used_up}",
            f"main/2>low/{done + 1}",
        )
        assert (stop, steps) == (stopped if done < 3 else None, done + 1)
    run_first = ends(call("low"), low=low(steps=2), budget={"steps": 1})
    assert run_first == (
        ("budget", "the budget of 1 steps is used up before `ask`", "main/1>low/2"),
        1,
    )


def test_what_a_called_plan_calls_and_forks_counts_for_its_budget_and_stops_the_run_even_where_failures_are_kept() -> (
    None
):
    inner = loop("fork", "i", "{list}", step("ask"), step("ask"), keeps=True)
    low = plan(inner, name="low", params={"list": None}, budget={"steps": 5})
    stop, steps = ends(loop("fork", "j", "{list}", call("low", list="{list}"), keeps=True), low=low)
    assert stop[:2] == (
        "plan_budget",
        "the budget of 5 steps that `low.plan` states is used up before `ask`",
    )
    assert 5 <= steps <= 15


def test_the_seconds_of_a_called_plan_count_from_where_its_call_begins() -> None:
    low = plan(step("ask"), step("ask"), step("ask"), name="low", budget={"seconds": 100})
    made = program(
        step("ask"), call("low"), step("ask"), call("low"), plans={"low": low}, tools=PRICED
    )
    for took, done in ((30, 8), (45, 8), (50, 3)):
        clock = FakeClock()

        def slow(effect: Perform, clock: Any = clock, took: int = took) -> Outcome:
            clock.now += took
            return Outcome("v")

        works, journal = FunctionTools({"ask": slow}), MemoryJournal()
        ending = run(made, works, journal=journal, clock=clock)
        assert len(works.calls) == done
        stop = (
            "plan_budget",
            "the budget of 100 seconds that `low.plan` states is used up before `ask`",
            "main/2>low/3",
        )
        assert (ending.stop and ending.stop[:3]) == (stop if done == 3 else None)
        again = run(made, FunctionTools({}), journal=journal, clock=clock)
        assert again.stop == ending.stop
