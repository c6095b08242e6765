"""What the web page needs of the runs of a workspace. `cli.run.web_page` provides it."""

from __future__ import annotations

from typing import Any, Protocol

from ..named_tuples import NamedTuple
from ..packs.model import Page
from ..report.changes import Line
from ..report.run_page import Run


class Trouble(Exception):
    """What was asked for cannot be done; the sentence is for the person at the page."""


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
    answer that waits to be taken up. `changes`, of an approval: what will change.
    """

    address: str
    where: str
    text: str
    approval: bool
    seen: str
    about: tuple[tuple[str, int, str, tuple[str, ...]], ...]
    given: str | None
    changes: tuple[Line, ...] = ()


class Runs(Protocol):
    """The runs of one workspace, or of one database. Called from several threads; every method may raise Trouble."""

    title: str
    """Where the runs are: the workspace's folder, or the database."""
    goes_on: bool
    """Whether an answer makes a run go on by itself."""

    def rows(self, most: int) -> tuple[list[Row], int]:
        """The newest runs, the newest first, and how many older ones there are."""

    def page(self, run: str) -> Run | None:
        """All there is to say of a run; None where there is none of exactly this name."""

    def asks(self, run: str) -> list[Ask]:
        """The questions that a run waits with."""

    def answer(self, run: str, address: str, seen: str, text: str) -> str:
        """Keeps an answer for the run, or hands it to who drives it; returns what to tell."""

    def resume(self, run: str) -> str:
        """Has a process of its own go on with the run; returns what to tell."""

    def records(self, page: Page) -> list[dict[str, Any]]:
        """The runs that a pack's page is about, the newest first: id, plan, status, when they began, what the pack adds."""

    def record(self, page: Page, run: str) -> dict[str, Any] | None:
        """All that a pack says of a run; None where its page is about no run of this name."""

    def again(self, page: Page, run: str) -> str:
        """Has a process of its own do the same again, from the workspace as it is now; returns what to tell."""

    def stamp(self) -> str:
        """Changes whenever a page may look different. Cheap."""
