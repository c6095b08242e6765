"""The engine goes on: records that fit and do not fit, lost effects, questions, second attempts."""

from __future__ import annotations

from typing import Any

import pytest
from fdc_toolchain.engine.events import Failure, Mismatch, Outcome, Perform, Record
from fdc_toolchain.engine.fold import fold
from fdc_toolchain.engine.ports import Waiting, WorldFailed
from fdc_toolchain.testing import CrashPoint, FunctionTools, MemoryJournal, run

from tests.support.engine import addresses, done, echo, tools
from tests.support.programs import everything, give, loop, program, step
from tests.support.witness import Witness


def test_a_finished_run_is_finished_again_without_any_effect() -> None:
    journal = MemoryJournal()
    witness = Witness()
    first = run(everything(), witness, journal=journal)
    before = list(witness.happened)
    assert run(everything(), witness, journal=journal) == first
    assert witness.happened == before


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"tool": "put"}, "the journal has `put` at main/1, where the program wants `note`"),
        ({"request": "0" * 32}, "with the request 00000000000000000000000000000000"),
        (
            {"address": "main/7"},
            "the journal has `note` at main/7, where the program wants nothing at that point",
        ),
    ],
)
def test_a_record_that_the_program_does_not_want_is_an_error_that_names_both(
    change: dict[str, Any], says: str
) -> None:
    journal = MemoryJournal()
    made = program(step("note"), step("read"))
    run(made, tools(), journal=journal)
    records = [journal.records[0]._replace(**change), *journal.records[1:]]
    with pytest.raises(Mismatch) as raised:
        fold(made, {}, records)
    assert says in str(raised.value)


def lost(effect_class: str) -> tuple[dict[str, Any], MemoryJournal]:
    """A run whose controller died after the intent of its only `fire`, and before its outcome."""
    made = program(
        step("fire", value="x"), step("note"), tools={"fire": effect_class, "note": "pure"}
    )
    journal = MemoryJournal()
    point = CrashPoint(3)
    with pytest.raises(BaseException):  # noqa: B017
        run(made, tools(), journal=journal, point=point)
    assert point.moments[-1].startswith("before fire")
    assert [record.kind for record in journal.records] == ["intent"]
    return made, journal


def test_an_unknown_once_effect_asks_a_person_and_their_word_settles_it() -> None:
    made, journal = lost("once")
    works = tools()
    ending = run(made, works, journal=journal)
    assert ending.status == "waiting"
    assert [(q.effect.address, q.how) for q in ending.questions] == [("main/1", "assume")]
    assert works.calls == []
    ending = run(made, works, journal=MemoryJournal(journal.records), assume={"main/1": "done"})
    assert ending.status == "finished" and [effect.tool for effect in works.calls] == ["note"]
    works = tools()
    again = MemoryJournal(journal.records)
    ending = run(made, works, journal=again, assume={"main/1": "not-done"})
    assert ending.status == "finished" and [effect.tool for effect in works.calls] == [
        "fire",
        "note",
    ]
    assert [(r.kind, r.turn, r.body.get("after")) for r in again.records][:2] == [
        ("intent", 1, None), ("intent", 2, "a person said that it had not happened"),
    ]  # fmt: skip


def test_who_says_that_a_kept_step_happened_says_what_it_brought() -> None:
    made = program(step("fire", bind="got"), give("{got}"))
    journal = MemoryJournal()
    with pytest.raises(BaseException):  # noqa: B017
        run(made, tools(), journal=journal, point=CrashPoint(3))
    ending = run(made, tools(), journal=MemoryJournal(journal.records), assume={"main/1": "done"})
    assert ending.status == "waiting" and "must include the result" in ending.questions[0].text
    ending = run(made, tools(), journal=journal, assume={"main/1": Outcome({"found": 1})})
    assert (ending.status, ending.result) == ("finished", {"found": 1})


def test_a_probe_that_knows_settles_a_lost_effect_either_way() -> None:
    made, journal = lost("once")
    for verdict, performed in ((Outcome("seen"), ["note"]), ("not-done", ["fire", "note"])):
        works = FunctionTools(
            {"fire": echo, "note": echo}, {"fire": lambda effect, verdict=verdict: verdict}
        )
        ending = run(made, works, journal=MemoryJournal(journal.records))
        assert ending.status == "finished"
        assert [effect.tool for effect in works.calls] == performed


def test_a_tool_that_waits_for_a_person_lets_the_run_wait_and_asks_again_later() -> None:
    def nobody(effect: Perform) -> Any:
        raise Waiting("what colour?")

    made = program(step("fire", bind="answer"), give("{answer}"))
    journal = MemoryJournal()
    ending = run(made, tools(fire=nobody), journal=journal)
    assert ending.status == "waiting"
    assert [(q.text, q.how) for q in ending.questions] == [("what colour?", "answer")]
    works = FunctionTools({"fire": lambda effect: "blue"}, {"fire": lambda effect: "not-done"})
    assert run(made, works, journal=journal).result == "blue"


def test_branches_that_need_nobody_go_on_while_one_waits() -> None:
    def some(effect: Perform) -> Any:
        if effect.args["value"] == "b":
            raise Waiting("b?")
        return 1

    works = tools(read=some)
    body = loop("fork", "x", "{xs}", step("read", value="{x}"), step("note", value="{x}"))
    ending, _ = done(body, works=works, given={"xs": ["a", "b", "c"]})
    assert ending.status == "waiting"
    assert sorted(effect.args["value"] for effect in works.calls if effect.tool == "note") == [
        "a",
        "c",
    ]


def test_a_world_that_fails_stops_the_controller_and_not_the_run() -> None:
    broken = [True]

    def disk(effect: Perform) -> Any:
        if broken[0]:
            raise WorldFailed("no space left")
        return 1

    made = program(step("note"), step("put"), step("note"))
    journal = MemoryJournal()
    works = tools(put=disk)
    ending = run(made, works, journal=journal)
    assert (ending.status, ending.message) == ("broken", "no space left")
    assert addresses(journal) == ["main/1"]
    broken[0] = False
    assert run(made, works, journal=journal).status == "finished"


@pytest.mark.parametrize("kind", ["read", "idempotent", "once"])
def test_a_person_may_have_failed_steps_tried_again_and_both_attempts_stay_in_the_journal(
    kind: str,
) -> None:
    broken = [True]

    def moody(effect: Perform) -> Any:
        if broken[0] and effect.args["of"] != "b":
            return Outcome(failure=Failure("net", "no answer"))
        return effect.args["of"]

    made = program(
        loop("fork", "x", "{xs}", step("moody", bind="got", of="{x}"), give("{got}"), bind="all"), give("{all}"),
        tools={"moody": {"effect": kind, "parameters": [], "cost": {"money": 1}}}, budget={"money": 5, "steps": 3},
    )  # fmt: skip
    inputs = {"given": {"xs": ["a", "b", "c"]}}
    journal = MemoryJournal()
    assert run(made, tools(moody=moody), inputs=inputs, journal=journal).status == "stopped"
    failed = [
        record for record in journal.records if record.kind == "outcome" and "failed" in record.body
    ]
    assert len(failed) == 2
    journal.append(
        [Record("retry", record.address, record.turn, "", "", 0.0, {}) for record in failed]
    )
    broken[0] = False
    works = tools(moody=moody)
    assert run(made, works, inputs=inputs, journal=journal).result == ["a", "b", "c"]
    assert sorted(effect.args["of"] for effect in works.calls) == ["a", "c"]
    assert sorted(record.turn for record in journal.records if record.kind == "outcome") == [
        1,
        1,
        1,
        2,
        2,
    ]
    state = fold(made, inputs, journal.records)
    assert (state.spent["money"], state.reserved["money"]) == (5, 0)
    assert run(made, tools(), inputs=inputs, journal=journal).result == ["a", "b", "c"]
