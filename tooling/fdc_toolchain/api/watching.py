"""What happens in a run, as values: while it is driven, and out of its record."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .values import JSON, Step, StepStatus

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..engine.events import Outcome, Perform, Record
    from ..runs.observer import Silent
    from ..runs.records.followed import Rows


class Watcher:
    """Is told what happens while a run is driven. Derive from it, and override what you need.

    Its methods are called from threads of fdc, several at a time. An exception that one raises does not stop the run: it is
    logged (the logger `fdc`), and counts as None.
    """

    def began(self, step: Step) -> None:
        """A step was started."""

    def ended(self, step: Step) -> None:
        """A step came back."""

    def say(self, text: str) -> None:
        """The plan's own words to its user."""

    def ask(self, question: str, screen: tuple[str, ...]) -> str | None:
        """The answer of a person, or None where nobody answers now. `screen` are the lines that they have to see first."""
        return None


def bridge(watcher: Watcher | None) -> Silent:
    """The observer of the run service that tells a watcher."""
    from ..runs.observer import Silent

    if watcher is None:
        return Silent()
    told = watcher

    class Bridge(Silent):
        """Tells the watcher."""

        def begun(self, effect: Perform) -> None:
            super().begun(effect)
            _told(lambda: told.began(_step(effect, "begun")))

        def done(self, effect: Perform, outcome: Outcome, took: float) -> None:
            super().done(effect, outcome, took)
            failure = None if outcome.failure is None else outcome.failure.message
            status: StepStatus = "done" if failure is None else "failed"
            _told(lambda: told.ended(_step(effect, status, outcome.value, failure, took)))

        def say(self, text: str) -> None:
            super().say(text)
            _told(lambda: told.say(text))

        def ask(self, question: str, above: Sequence[str] = ()) -> str | None:
            given = _told(lambda: told.ask(question, tuple(above)))
            return given if isinstance(given, str) else None

    return Bridge()


def steps_of(rows: Rows) -> tuple[Step, ...]:
    """The steps on a record, in the order in which they came back. Of the others, the last attempt."""
    last: dict[str, tuple[int, bool]] = {}
    for record, effect in rows:
        if effect is not None:
            settles = record.kind in ("outcome", "interrupted")
            last[record.address] = max(last.get(record.address, (0, False)), (record.turn, settles))
    found = (
        _recorded(record, effect, last[record.address] == (record.turn, False))
        for record, effect in rows
        if effect is not None
    )
    return tuple(step for step in found if step is not None)


def _recorded(record: Record, effect: Perform, unsettled: bool) -> Step | None:
    turn = record.turn
    if record.kind == "outcome":
        failed = record.body.get("failed")
        failure = None if failed is None else str(failed["message"])
        status: StepStatus = "done" if failure is None else "failed"
        took = float(record.body.get("took", 0.0))
        return _step(effect, status, record.body.get("value"), failure, took, turn)
    if record.kind == "interrupted":
        return _step(effect, "interrupted", attempt=turn)
    if record.kind == "intent" and unsettled:
        return _step(effect, "begun", attempt=turn)
    return None


def _step(
    effect: Perform,
    status: StepStatus,
    value: JSON = None,
    failure: str | None = None,
    took: float = 0.0,
    attempt: int | None = None,
) -> Step:
    from ..report.exit_codes import exit_code

    return Step(
        address=effect.address,
        tool=effect.tool,
        status=status,
        args=effect.args,
        path=effect.path,
        line=effect.line,
        value=value,
        failure=failure,
        exit_code=exit_code(value),
        attempt=effect.turn if attempt is None else attempt,
        seconds=took,
    )


def _told(call: Callable[[], str | None]) -> str | None:
    """What a method of a watcher returns; an exception of it is logged."""
    try:
        return call()
    except Exception:
        import logging

        from ..runs.notices import logger

        logger().log(logging.ERROR, "a watcher of a run raised", exc_info=True)
        return None
