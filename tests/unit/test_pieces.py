"""A fork taken apart: its branches driven in shares, each by itself, come to the run that was driven as one."""

from __future__ import annotations

import random
from typing import Any

import pytest
from fdc_toolchain.engine.drive import Ending, Ports, drive
from fdc_toolchain.engine.events import Failure, Outcome, Perform, Record
from fdc_toolchain.engine.fold import fold
from fdc_toolchain.engine.ports import Cancelled
from fdc_toolchain.program.model import Program
from fdc_toolchain.runs.workers import fork_shards
from fdc_toolchain.testing import FakeClock, FunctionTools, MemoryJournal, Silence, run

from tests.support.programs import choose, compare, generated, give, iterate, loop, program, step

ITEMS = [str(number) for number in range(40)]


def answer(effect: Perform) -> Any:
    if effect.tool == "read" and not effect.args:
        return ITEMS
    if effect.args.get("value") in ("13!", "31!"):
        return Outcome(failure=Failure("luck", f"{effect.args['value']} is unlucky"))
    return effect.args.get("value", "x")


def tools() -> FunctionTools:
    return FunctionTools(dict.fromkeys(("read", "put", "fire", "note"), answer))


def made(*body: dict[str, Any], **more: Any) -> Program:
    return program(
        step("read", "all"),
        loop("fork", "n", [{"ref": ["all"]}], *body, most=50, bind="got"),
        step("note", value="{got}"),
        give("{got}"),
        **more,
    )


PROGRAMS = {
    "steps": made(step("put", "one", value="{n}"), step("fire", value="{one}"), give("{one}")),
    "loops": made(iterate(2, step("put", "one", value="{n}")), give("{n}")),
    "branches end without an effect": made(
        choose(compare("{n}", "==", "7"), [], [step("put", value="{n}")]), give("{n}")
    ),
    "branches fail": made(step("put", value="{n}!"), step("put", value="{n}"), give("{n}")),
    "a fork in the fork": made(
        loop("fork", "m", [{"ref": ["all"]}], step("put", value="{m}"), most=50), give("{n}")
    ),
}


Leg = tuple[Ending | None, list[Record], Any]


def driven(made: Program, records: list[Record], fork: tuple[str, list[int]] | None = None) -> Leg:
    """Drives until the end, or until a fork for several machines. Returns how it ended, what it wrote, the fork."""
    state = fold(made, {}, records)
    if fork is not None:
        fork_shards.keep(state, *fork)
    journal, found = MemoryJournal(list(records)), []

    def halted() -> bool:
        at = None if fork is not None else fork_shards.fork_of(state)
        if at is not None:
            found.append(at)
        return bool(found)

    try:
        ending = drive(made, state, Ports(journal, tools(), FakeClock(), Silence(), halted), room=4)
    except Cancelled:
        return None, journal.records, found[0]
    if fork is not None:
        assert fork_shards.is_done(state)
    return ending, journal.records, None


def test_pieces_together_are_the_run() -> None:
    for name, made in PROGRAMS.items():
        whole = MemoryJournal()
        expected = run(made, tools(), journal=whole, room=4)
        assert (expected.status == "finished") == ("fail" not in name), (name, expected)
        for most in (2, 3, 5):
            _, records, fork = driven(made, [])
            assert fork is not None, name
            shares = fork_shards.shares(fork, most)
            assert sorted(fork.branches) == sorted(number for share in shares for number in share)
            rng = random.Random(most)
            brought = [
                driven(made, records, (fork.address, share))[1][len(records) :] for share in shares
            ]
            rng.shuffle(brought)  # whichever comes first is taken in first
            merged = [*records, *(record for piece in brought for record in piece)]
            state = fold(made, {}, merged)
            assert fork_shards.fork_of(state) is None
            journal = MemoryJournal(merged)
            ending = drive(made, state, Ports(journal, tools(), FakeClock(), Silence()), room=4)
            assert (expected.status, expected.result, expected.stop) == (
                ending.status,
                ending.result,
                ending.stop,
            ), name
            assert {record.address: record.body.get("value") for record in whole.records} == {
                record.address: record.body.get("value") for record in journal.records
            }, name
            assert len(whole.records) == len(journal.records)


def test_what_a_piece_left_undone_the_run_does() -> None:
    made = PROGRAMS["loops"]
    _, records, fork = driven(made, [])
    shares = fork_shards.shares(fork, 3)
    for cut in range(0, 20, 3):
        brought = driven(made, records, (fork.address, shares[0]))[1][len(records) :][:cut]
        state = fold(made, {}, [*records, *brought])
        ending = drive(
            made, state, Ports(MemoryJournal([*records, *brought]), tools(), FakeClock(), Silence())
        )
        assert (ending.status, ending.result) == ("finished", ITEMS)


def test_a_run_with_a_budget_or_a_small_fork_stays_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    body = (step("put", value="{n}"), give("{n}"))
    assert driven(made(*body, budget={"steps": 1000}), [])[2] is None
    few = made(*body)
    assert driven(few, [])[2] is not None
    monkeypatch.setattr(f"{__name__}.ITEMS", ITEMS[: 2 * fork_shards.LEAST - 1])
    assert driven(few, [])[2] is None


def test_shares_are_of_about_one_size_and_never_one() -> None:
    fork = fork_shards.Fork("main/2", list(range(1, 201)))
    assert [34, 34, 33, 33, 33, 33] == [len(share) for share in fork_shards.shares(fork, 6)]
    assert [] == fork_shards.shares(fork, 1)
    assert 25 == len(fork_shards.shares(fork, 100))


GIVEN = {"given": {"list": ["1", "2", "3", "4"]}}


def chance_tools() -> FunctionTools:
    def even(effect: Perform) -> bool:
        return len(str(effect.args)) % 2 == 0

    found = dict.fromkeys(
        ("read", "put", "fire", "note"), lambda effect: effect.args.get("of", "x")
    )
    return FunctionTools(
        {**found, "for_each_file": lambda effect: ["a.txt", "b.txt"], "even": even}
    )


@pytest.mark.long
def test_programs_by_chance_taken_apart_end_as_they_do_whole(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Wherever a generated program has a fork, its branches may go elsewhere, two shares of each."""
    monkeypatch.setattr(fork_shards, "LEAST", 1)
    apart = 0

    def leg(made: Program, records: list[Record], tried: set[str], share: Any = None) -> Leg:
        state, found = fold(made, GIVEN, records), []
        if share is not None:
            fork_shards.keep(state, *share)
        journal = MemoryJournal(list(records))

        def halted() -> bool:
            fork = None if share is not None else fork_shards.fork_of(state)
            if fork is not None and fork.address not in tried:
                found.append(fork)
            return bool(found)

        try:
            ports = Ports(journal, chance_tools(), FakeClock(), Silence(), halted)
            return drive(made, state, ports, room=1), journal.records, None
        except Cancelled:
            return None, journal.records, found[0]

    for seed in range(200):
        made = generated(seed)
        whole = MemoryJournal()
        expected = run(made, chance_tools(), inputs=GIVEN, journal=whole, room=1)
        if len(whole.records) > 80:
            continue  # every fork costs a fold of all of it
        tried: set[str] = set()
        ending, records, fork = leg(made, [], tried)
        while fork is not None:
            tried.add(fork.address)
            base = records
            for share in reversed(fork_shards.shares(fork, 2)):
                records = [*records, *leg(made, base, tried, (fork.address, share))[1][len(base) :]]
                apart += 1
            ending, records, fork = leg(made, records, tried)
        assert ending is not None
        assert (expected.status, expected.result, expected.stop) == (
            ending.status,
            ending.result,
            ending.stop,
        ), seed
        assert {(one.kind, one.address) for one in whole.records} == {
            (one.kind, one.address) for one in records
        }, seed
        assert len(whole.records) == len(records)
    assert apart > 60
