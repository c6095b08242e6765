"""Reports the events of a run to an observer while it is driven."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..values import Step, StepStatus
from .recorded import step_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ...engine.events import Outcome, Perform
    from ...runs.observer import Silent


class Watcher:
    """Receives the events of a run while it is driven. Derive from it, and override what you need.

    Its methods are called from threads of fdc, several at a time. An exception that one raises does not stop the run: it is
    logged (the logger `fdc`), and counts as None.
    """

    def began(self, step: Step) -> None:
        """A step was started."""

    def ended(self, step: Step) -> None:
        """A step returned."""

    def say(self, text: str) -> None:
        """A message of the plan to its user."""

    def ask(self, question: str, screen: tuple[str, ...]) -> str | None:
        """The answer of a person, or None where no person answers now. `screen` are the lines that they have to see first."""
        return None


def bridge(watcher: Watcher | None) -> Silent:
    """An observer of the run service that calls a watcher."""
    from ...runs.observer import Silent

    if watcher is None:
        return Silent()
    observer = watcher

    class Bridge(Silent):
        """Calls the watcher."""

        def begun(self, effect: Perform) -> None:
            super().begun(effect)
            _call_watcher(lambda: observer.began(step_of(effect, "begun")))

        def done(self, effect: Perform, outcome: Outcome, took: float) -> None:
            super().done(effect, outcome, took)
            failure = None if outcome.failure is None else outcome.failure.message
            status: StepStatus = "done" if failure is None else "failed"
            _call_watcher(
                lambda: observer.ended(step_of(effect, status, outcome.value, failure, took))
            )

        def say(self, text: str) -> None:
            super().say(text)
            _call_watcher(lambda: observer.say(text))

        def ask(self, question: str, above: Sequence[str] = ()) -> str | None:
            reply = _call_watcher(lambda: observer.ask(question, tuple(above)))
            return reply if isinstance(reply, str) else None

    return Bridge()


def _call_watcher(call: Callable[[], str | None]) -> str | None:
    """The result of a watcher's method; an exception is logged, and gives None."""
    try:
        return call()
    except Exception:
        import logging

        from ...runs.notices import logger

        logger().log(logging.ERROR, "a watcher of a run raised", exc_info=True)
        return None
