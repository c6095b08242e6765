"""What happens in a run while it is driven, told to the observer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..values import Step, StepStatus
from .recorded import step_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ...engine.events import Outcome, Perform
    from ...runs.observer import Silent


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
        """The answer of a person, or None where no person answers now. `screen` are the lines that they have to see first."""
        return None


def bridge(watcher: Watcher | None) -> Silent:
    """The observer of the run service that tells a watcher."""
    from ...runs.observer import Silent

    if watcher is None:
        return Silent()
    told = watcher

    class Bridge(Silent):
        """Tells the watcher."""

        def begun(self, effect: Perform) -> None:
            super().begun(effect)
            _told(lambda: told.began(step_of(effect, "begun")))

        def done(self, effect: Perform, outcome: Outcome, took: float) -> None:
            super().done(effect, outcome, took)
            failure = None if outcome.failure is None else outcome.failure.message
            status: StepStatus = "done" if failure is None else "failed"
            _told(lambda: told.ended(step_of(effect, status, outcome.value, failure, took)))

        def say(self, text: str) -> None:
            super().say(text)
            _told(lambda: told.say(text))

        def ask(self, question: str, above: Sequence[str] = ()) -> str | None:
            given = _told(lambda: told.ask(question, tuple(above)))
            return given if isinstance(given, str) else None

    return Bridge()


def _told(call: Callable[[], str | None]) -> str | None:
    """What a method of a watcher returns; an exception of it is logged."""
    try:
        return call()
    except Exception:
        import logging

        from ...runs.notices import logger

        logger().log(logging.ERROR, "a watcher of a run raised", exc_info=True)
        return None
