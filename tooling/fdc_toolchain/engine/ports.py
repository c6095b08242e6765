"""The interfaces that the engine needs, as five small protocols, and their errors.

Adapters are in `tools` and `runs`, doubles in `testing`. `runs.run_driver` connects them.
"""

from __future__ import annotations

from typing import Literal, Protocol

from ..exits import WorldError
from ..text.whole import whole
from .events import Outcome, Perform, Record

Verdict = Outcome | Literal["not-done", "repeat", "unknown"]
"""What a probe found: the outcome of the effect, that it did not happen, that it may happen again, or nothing certain."""


class Waiting(Exception):
    """The effect needs an answer of a person; the message is the question. The effect has not happened.

    `shows`, of an approval: what it is about.
    """

    def __init__(self, question: str, shows: dict[str, object] | None = None) -> None:
        super().__init__(whole(question))
        self.shows = shows


class WorldFailed(WorldError):
    """The environment failed (no disk space, no process): nothing is recorded, and a resume tries again.

    A command that meets it ends with its sentence.
    """

    def __init__(self, message: str = "") -> None:
        super().__init__(whole(message))


class Cancelled(Exception):
    """The effect was broken off because the controller is leaving; its outcome is not known."""


class Interrupted(Cancelled):
    """Like Cancelled, where this process knows that the effect is not running: it ended the command, or had not begun it."""

    def __init__(self, message: str, *, begun: bool = True) -> None:
        super().__init__(message)
        self.begun = begun


class InterruptedHere(KeyboardInterrupt):
    """Ctrl-C on the driving thread, while it waited for a command that it then ended."""

    begun = True


class Fenced(Exception):
    """Another controller has taken the run over: this one must stop at once."""


class Gone(Fenced, WorldFailed):
    """The run is not in the journal any more: it was merged into another run, or pruned."""


class NameTaken(WorldFailed):
    """Another run has the name that a new one was to get."""


class Journal(Protocol):
    """The append-only record of one run."""

    def append(self, records: list[Record]) -> None:
        """Makes all of them durable, or none.

        Raises Fenced when the run belongs to another controller by now, WorldFailed when the
        records cannot be written.
        """


class Tools(Protocol):
    """The effects. `perform` is called from several threads at once."""

    def perform(self, effect: Perform) -> Outcome:
        """Does it. A failure of the tool is an outcome. Raises Waiting, WorldFailed or Cancelled."""

    def probe(self, effect: Perform) -> Verdict:
        """Finds out about a `once` effect that was announced and has no outcome."""

    def cancel(self) -> None:
        """Makes every `perform` under way raise Cancelled soon; called again, at once."""


class Clock(Protocol):
    """Time that only grows, in seconds."""

    def seconds(self) -> float:
        """Now, counted from any fixed moment."""


class Progress(Protocol):
    """The observer. Called by the driving thread only, except `say`."""

    def begun(self, effect: Perform) -> None:
        """The effect has been started."""

    def done(self, effect: Perform, outcome: Outcome, took: float) -> None:
        """The effect came back and is in the journal."""

    def say(self, text: str) -> None:
        """A message of the plan to its user."""
