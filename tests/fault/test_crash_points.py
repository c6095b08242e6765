"""The controller dies at every moment of a run that has every construct; the run goes on as if nothing had been.

The moments are those before and after each journal append and each effect. The witness is outside
of the engine: it knows what really happened.
"""

from __future__ import annotations

from typing import Any

import pytest
from fdc_toolchain.engine.drive import Ending
from fdc_toolchain.engine.events import Outcome
from fdc_toolchain.testing import Crash, CrashPoint, MemoryJournal, run

from tests.support.programs import everything, iterate, program, step
from tests.support.witness import Witness


def reference(made: dict[str, Any], room: int) -> tuple[Ending, dict[str, Any], int]:
    """What an undisturbed run ends with, all its outcomes, and how many moments it has."""
    point = CrashPoint()
    journal = MemoryJournal()
    ending = run(made, Witness(), journal=journal, point=point, room=room)
    assert ending.status == "finished"
    return ending, outcomes(journal), len(point.moments)


def outcomes(journal: MemoryJournal) -> dict[str, Any]:
    return {
        record.address: record.body.get("value")
        for record in journal.records
        if record.kind == "outcome"
    }


def crash(
    made: dict[str, Any], number: int, room: int, witness: Witness, journal: MemoryJournal
) -> bool:
    """One controller that dies at a moment. Returns False where it reached the end before."""
    try:
        run(made, witness, journal=journal, point=CrashPoint(number), room=room)
    except Crash:
        return True
    return False


def finish(made: dict[str, Any], room: int, witness: Witness, journal: MemoryJournal) -> Ending:
    """Resumes; where a person is asked what happened, they look at the witness."""
    assume: dict[str, Any] = {}
    while True:
        ending = run(made, witness, journal=journal, room=room, assume=assume)
        if ending.status != "waiting":
            return ending
        assert all(question.how == "assume" for question in ending.questions)
        assume = {
            q.effect.address: Outcome(witness.answer(q.effect))
            if witness.times(q.effect.address)
            else "not-done"
            for q in ending.questions
        }


def check(
    made: dict[str, Any], room: int, probing: bool, expected: tuple[Ending, dict[str, Any], int]
) -> int:
    ending, all_outcomes, moments = expected
    crashes = 0
    for number in range(1, moments + 1):
        witness, journal = Witness(probing), MemoryJournal()
        crashed = crash(made, number, room, witness, journal)
        assert crashed or room > 1, (
            number
        )  # branches share commits: another timing has fewer moments
        crashes += crashed
        recorded = set(outcomes(journal))
        before = {at: witness.times(at) for at in recorded}
        found = finish(made, room, witness, journal)
        assert found.status == "finished", (number, found)
        assert {at: witness.times(at) for at in recorded} == before, (
            f"a recorded effect was repeated ({number})"
        )
        assert witness.repeated("once") == [], number
        assert set(outcomes(journal)) == set(all_outcomes), number
        assert (found, outcomes(journal)) == (ending, all_outcomes), number
    return crashes


@pytest.mark.parametrize("room", [1, 4])
@pytest.mark.parametrize("probing", [True, False], ids=["probes", "people"])
def test_every_crash_point_resumes_to_the_same_end_and_repeats_nothing_recorded(
    room: int, probing: bool
) -> None:
    made = everything()
    crashes = check(made, room, probing, reference(made, room))
    assert crashes > 100


def test_two_crashes_at_any_two_moments_are_no_worse_than_one() -> None:
    made = program(
        step("fire", bind="a"),
        iterate(2, step("put"), step("fire")),
        step("read"),
        step("fire", text="{a}"),
    )
    ending, all_outcomes, moments = reference(made, 1)
    for first in range(1, moments + 1):
        for second in range(1, moments + 1):
            witness, journal = Witness(probing=True), MemoryJournal()
            crash(made, first, 1, witness, journal)
            crash(made, second, 1, witness, journal)
            assert finish(made, 1, witness, journal) == ending
            assert outcomes(journal) == all_outcomes
            assert witness.repeated("once") == []
