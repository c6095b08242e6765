"""Configuration of a worker: where it drives runs, its key, connections and limits."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ...named_tuples import NamedTuple
from ...upgraded import Installed

if TYPE_CHECKING:
    from ...journal.postgres import PgStore
    from ...workspace.operator import Operator
    from ..nested_run import Driver
    from .dispatch import Sender
    from .liveness import Session


class Place(NamedTuple):
    """Where a worker drives runs: the identities that it serves, and what distinguishes its folder."""

    serves: tuple[str, ...]
    folder: str
    any_commit: bool


@dataclass(slots=True)
class Fleet:
    """One worker. `fatal` ends the process: it is called when the database is gone, so that others take over."""

    url: str
    root: str
    key: bytes | None
    session: Session
    sender: Sender
    fatal: Callable[[str], None]
    jobs: int
    shell_seconds: float | None
    operator: Operator
    trust: bool
    pieces: int
    place: Place
    end: Callable[[], None]
    """Asks the worker to end, and to leave its runs to others: called when fdc was upgraded under it."""
    driver: Driver = field(init=False)
    """What drives runs within steps (`runs.workers.within`)."""
    installed: Installed = field(default_factory=Installed)
    leaving: threading.Event = field(default_factory=threading.Event)
    under_way: set[str] = field(default_factory=set)

    def journal(self) -> PgStore:
        """The database's journal on a connection of its own. Raises WorldFailed."""
        from ...journal.postgres import PgStore

        return PgStore(self.url, self.key)
