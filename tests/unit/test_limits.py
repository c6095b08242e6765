"""Limits of tools: attempts, time, rate and how many at once, across the branches of a run (issue 4, "Bounded and safe")."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from fdc_toolchain.engine.events import Failure, Outcome
from fdc_toolchain.engine.ports import Cancelled, WorldFailed
from fdc_toolchain.testing import FakeClock
from fdc_toolchain.workspace.failure import ToolFailure, from_os
from fdc_toolchain.workspace.limits import LONGEST, Limits

from tests.support.background import PATIENCE
from tests.unit.test_catalogue import TOOL, catalogue, wrong


class Desk:
    """Limits on a clock that moves only where somebody waits."""

    def __init__(self) -> None:
        self.clock = FakeClock()
        self.limits = Limits(lambda: False, self.clock.seconds, self.clock.advance)

    def perform(self, attempt: Any, effect: str = "read", **limits: Any) -> Outcome:
        return self.limits.perform("fetch", {"effect": effect, "limits": limits}, attempt)


def failing(times: int, raised: BaseException) -> Any:
    left = [times]

    def attempt() -> Outcome:
        if left[0]:
            left[0] -= 1
            raise raised
        return Outcome("page")

    attempt.left = left  # type: ignore[attr-defined]
    return attempt


@pytest.mark.parametrize(
    "trouble", [ToolFailure("net", "no line"), ToolFailure("busy", "later"), WorldFailed("full")]
)
def test_a_trouble_that_passes_is_tried_again_and_noted(trouble: Exception) -> None:
    desk = Desk()
    outcome = desk.perform(failing(2, trouble), retries=3)
    assert outcome.value == "page" and outcome.notes is not None and outcome.notes["tries"] == 3
    assert len(outcome.notes["troubles"]) == 2 and 0.5 + 1.0 <= desk.clock.now <= 1.0 + 2.0 + 0.1


def test_pauses_double_and_end_at_the_longest() -> None:
    desk = Desk()
    with pytest.raises(ToolFailure) as raised:
        desk.perform(failing(99, ToolFailure("net", "no line")), retries=10)
    assert raised.value.notes is not None and raised.value.notes["tries"] == 11
    at_most = sum(min(0.5 * 2.0**number, LONGEST) for number in range(1, 11))
    assert at_most / 2 <= desk.clock.now <= at_most + 1


def test_what_does_not_pass_is_not_tried_again() -> None:
    for trouble in (ToolFailure("argument", "no"), ToolFailure("missing", "no"), ValueError("no")):
        attempt = failing(5, trouble)
        with pytest.raises(type(trouble)):
            Desk().perform(attempt, retries=3)
        assert attempt.left == [4]


@pytest.mark.parametrize(
    "declared", [{"effect": "once"}, {"effect": "read", "cost": {"tokens": 5}}]
)
def test_what_happens_once_or_costs_is_not_tried_again_whatever_a_program_says(
    declared: dict[str, Any],
) -> None:
    attempt = failing(5, ToolFailure("net", "no line"))
    with pytest.raises(ToolFailure):
        Desk().limits.perform("pay", {**declared, "limits": {"retries": 3}}, attempt)
    assert attempt.left == [4]


def test_an_outcome_that_is_a_failure_counts_as_one() -> None:
    outcomes = [Outcome(failure=Failure("net", "no line")), Outcome("page")]
    assert Desk().perform(lambda: outcomes.pop(0), retries=1).value == "page"


def test_a_slow_attempt_is_given_up_and_counts_until_it_ends() -> None:
    """`at_once` is a promise to the model or person that answers: what was given up still asks him."""
    go = threading.Event()
    limits = Limits(lambda: False)
    declared = {"effect": "read", "limits": {"seconds": 0.05, "at_once": 1}}

    def slow() -> Outcome:
        assert go.wait(PATIENCE)
        return Outcome("late")

    with pytest.raises(
        ToolFailure, match=r"`fetch` took longer than 0\.05 s and was stopped"
    ) as raised:
        limits.perform("fetch", declared, slow)
    assert raised.value.kind == "timeout" and limits._busy == {"fetch": 1}
    go.set()
    patient = {"effect": "read", "limits": {"seconds": PATIENCE, "at_once": 1}}
    assert limits.perform("fetch", patient, lambda: Outcome("x")).value == "x"
    assert limits._busy == {"fetch": 0}


def test_no_more_begin_within_a_minute_than_may() -> None:
    desk = Desk()
    began = []
    for _ in range(7):
        desk.perform(lambda: began.append(desk.clock.now) or Outcome(), per_minute=3)  # type: ignore[func-returns-value]
    assert [round(moment) for moment in began] == [0, 0, 0, 60, 60, 60, 120]


def test_no_more_branches_use_it_at_once_than_may() -> None:
    limits = Limits(lambda: False)
    lock, busy, most = threading.Lock(), [0], [0]
    two = threading.Barrier(2, timeout=PATIENCE)

    def attempt() -> Outcome:
        with lock:
            busy[0] += 1
            most[0] = max(most[0], busy[0])
        two.wait()
        threading.Event().wait(0.01)
        with lock:
            busy[0] -= 1
        return Outcome()

    work = lambda: limits.perform("fetch", {"effect": "once", "limits": {"at_once": 2}}, attempt)  # noqa: E731
    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    assert most == [2] and limits._busy == {"fetch": 0}


@pytest.mark.parametrize("limits", [{"per_minute": 1}, {"retries": 3}, {"seconds": 60}])
def test_who_waits_wakes_when_the_controller_leaves(limits: dict[str, Any]) -> None:
    leaving = threading.Event()
    desk = Limits(leaving.is_set)
    declared = {"effect": "read", "limits": limits}
    if "per_minute" in limits:
        desk.perform("fetch", declared, Outcome)
    threading.Timer(0.05, leaving.set).start()
    over = threading.Event()
    attempt = (
        (lambda: Outcome(over.wait(PATIENCE)))
        if "seconds" in limits
        else failing(9, WorldFailed("x"))
    )
    try:
        with pytest.raises(Cancelled):
            desk.perform("fetch", declared, attempt)
    finally:
        over.set()


@pytest.mark.parametrize(
    ("raised", "kind"),
    [
        (TimeoutError("x"), "timeout"),
        (ConnectionRefusedError(111, "x"), "net"),
        (OSError(113, "x"), "net"),
    ],
)
def test_a_broken_line_is_a_failure_that_passes(raised: OSError, kind: str) -> None:
    found = from_os(raised, "x")
    assert isinstance(found, ToolFailure) and found.kind == kind


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"limits": {"retries": -1}}, "-1"),
        ({"limits": {"speed": 1}}, "speed"),
        ({"effect": "once", "limits": {"retries": 1}}, "retries"),
        ({"effect": "once", "limits": {"seconds": 1}}, "seconds"),
        ({"cost": {"tokens": 1}, "limits": {"retries": 1}}, "retries"),
    ],
)
def test_limits_that_a_tool_cannot_have_are_faults_of_the_catalogue(
    more: dict[str, Any], says: str
) -> None:
    [(_, _, message)] = wrong(catalogue(own={**TOOL, **more}))
    assert says in message


def test_limits_of_a_tool_are_taken() -> None:
    assert (
        wrong(
            catalogue(
                own={
                    **TOOL,
                    "limits": {"retries": 2, "seconds": 0.5, "at_once": 1, "per_minute": 60},
                }
            )
        )
        == []
    )
    assert (
        wrong(catalogue(own={**TOOL, "effect": "once", "limits": {"at_once": 1, "per_minute": 60}}))
        == []
    )
