"""What the web page needs of the runs of a workspace. `cli.run.web_page` provides it."""

from __future__ import annotations

from typing import Protocol

from ..named_tuples import NamedTuple
from ..packs.model import Page
from ..report.changes import Line
from ..report.run_page import Run


class Trouble(Exception):
    """The request cannot be carried out; the message is for the person at the page."""


class Row(NamedTuple):
    """A run in the list."""

    name: str
    plan: str
    status: str
    started: str
    records: int
    seconds: float | None


class Ask(NamedTuple):
    """An open question. `seen` names exactly what is shown: an answer to anything else is refused.

    `about`: for each argument its name, size in bytes, sha256, and its lines with nothing hidden. `given` is the
    answer that waits to be taken up. `changes`, of an approval: what will change. `nested`: it is unknown whether a step of a
    nested run happened; no answer settles that.
    """

    address: str
    where: str
    text: str
    approval: bool
    seen: str
    about: tuple[tuple[str, int, str, tuple[str, ...]], ...]
    given: str | None
    changes: tuple[Line, ...] = ()
    nested: bool = False


class Runs(Protocol):
    """The runs of one workspace, or of one database. Called from several threads; every method may raise Trouble."""

    title: str
    """Where the runs are: the workspace's folder, or the database."""
    goes_on: bool
    """Whether a run continues by itself after an answer."""

    def rows(self, most: int) -> tuple[list[Row], int]:
        """The newest runs, the newest first, and how many older ones there are."""

    def page(self, run: str) -> Run | None:
        """The data of a run's page; None if no run has exactly this name."""

    def asks(self, run: str) -> list[Ask]:
        """The open questions of a run."""

    def answer(self, run: str, address: str, seen: str, text: str) -> str:
        """Stores an answer for the run, or passes it to its worker; returns a message."""

    def resume(self, run: str) -> str:
        """Continues the run in a separate process; returns a message."""

    def records(self, page: Page) -> list[dict[str, object]]:
        """The runs that a pack's page is about, the newest first: id, plan, status, when they began, what the pack adds."""

    def record(self, page: Page, run: str) -> dict[str, object] | None:
        """A pack's data about a run; None if its page does not include a run of this name."""

    def again(self, page: Page, run: str) -> str:
        """Starts the same run again in a separate process, with the current workspace; returns a message."""

    def stamp(self) -> str:
        """A value that changes when a page may change. Fast."""
