"""Finds deliveries whose worker died and runs that no process drives, and has them delivered again."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from ...engine.ports import WorldFailed
from ...journal.sqlite import ENGINE
from ..records.identity import of_run
from . import liveness

if TYPE_CHECKING:
    from ...journal.postgres import PgStore
    from ...journal.sqlite import RunRow
    from .dispatch import Sender

GRACE = 3.0
"""Seconds that a run may be without a controller between two workers, before the watchdog acts."""
LONG = 30.0
"""Seconds after which a delivery that a living worker took but does not drive is delivered again."""


class Janitor:
    """Finds lost work. Every worker has a janitor; one of them is active at a time."""

    def __init__(
        self, session: liveness.Session, store: PgStore, sender: Sender, say: Callable[[str], None]
    ) -> None:
        self._session, self._store, self._sender, self._say = session, store, sender, say
        self._over = threading.Event()
        self._strange: set[str] = set()

    def start(self, lost: Callable[[str], None]) -> None:
        """Checks once a second; calls `lost` if the database is unreachable."""

        def look() -> None:
            while not self._over.wait(1.0):
                try:
                    self.look()
                except WorldFailed as failed:
                    if not self._over.is_set():
                        lost(str(failed))
                    return

        threading.Thread(target=look, name="fdc-janitor", daemon=True).start()

    def stop(self) -> None:
        """Stops."""
        self._over.set()

    def look(self) -> None:
        """Checks once. Raises WorldFailed."""
        if not self._session.lead():
            return
        try:
            self._dead()
            for row in self._store.stalled(GRACE):
                self._watch(row)
        finally:
            self._session.follow()

    def _dead(self) -> None:
        taken = self._sender.pending()
        if not taken:
            return
        alive = self._session.alive()
        lost: dict[str, list[str]] = {}
        for one in taken:
            if liveness.number(one.executor_id or "") not in alive and one.queue_name:
                lost.setdefault(one.queue_name, []).append(one.workflow_id)
        for queue, deliveries in lost.items():
            self._sender.give_back(deliveries, queue)
            self._say(
                f"returned to the queue, because their worker is not connected: {', '.join(deliveries)}"
            )

    def _watch(self, row: RunRow) -> None:
        run = row.name
        if row.engine != ENGINE and run not in self._strange:
            self._strange.add(run)
            self._say(
                f"the run {run} waits for a worker of another fdc (engine {row.engine}, this is {ENGINE})"
            )
        if run not in self._strange and not self._session.serving(of_run(row.inputs)):
            self._strange.add(run)
            self._say(f"no worker serves the workspace {of_run(row.inputs)} of the run {run}: `fdc worker --serve "
                      f"{of_run(row.inputs)}` in a folder that stands for it")  # fmt: skip
        known = self._sender.deliveries(run)
        if any(one.status in ("ENQUEUED", "DELAYED") for one in known):
            return
        last = max(known, key=lambda one: one.created_at or 0, default=None)
        if last is not None and isinstance(last.output, dict) and "refused" in last.output:
            # The next worker would say the same, unless it is about keys and there is a new one; `fdc runs --stalled` shows it.
            if "by" not in last.output or self._session.serving(of_run(row.inputs)) <= set(
                last.output["by"]
            ):
                return
        waits = any(one.status == "PENDING" for one in known)
        if waits and not any(one.name == run for one in self._store.stalled(LONG)):
            return
        self._sender.send(
            run, {}, piece=bool(row.origin and "branches" in row.origin), engine=row.engine
        )
        self._say(f"delivered again, because no process drove it: {run}")
