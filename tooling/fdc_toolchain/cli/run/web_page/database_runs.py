"""The runs of a database, for the web page."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ....exits import Exit
from .workspace_runs import WATCHED, Workspace

if TYPE_CHECKING:
    from ....journal.postgres import PgStore
    from ....journal.sqlite import RunRow, Store
    from ....runs.records.answers import Open


class Database(Workspace):
    """The runs of a database for the web page (port `server.port.Runs`)."""

    goes_on = True

    def __init__(self, root: str, url: str) -> None:
        """Raises WorldError where the database does not exist."""
        from ....runs.workers import remote

        super().__init__(root)
        self.url, self.title = url, remote.shown(url)
        self._watching: PgStore | None = None
        with remote.reading(url, root):  # report a failure now, not with every page
            pass

    def _given(self, row: RunRow, question: Open, text: str) -> str:
        from ....runs.workers import remote
        from ....server.port import Trouble

        address = question.effect.address
        try:
            taken = remote.answer(self.url, self.workspace, row, address, text, "fdc ui")
        except Exit as refused:
            raise Trouble(str(refused)) from refused
        return (
            f"A worker has the answer for {address}."
            if taken
            else f"The answer for {address} waits for a worker."
        )

    def resume(self, run: str) -> str:
        """Port `Runs`."""
        from ....runs.workers import remote
        from ....server.port import Trouble

        with self._reading() as store:
            row = None if store is None else store.run(run)
            if store is None or row is None:
                raise Trouble("The run does not exist.")
            if remote.status_of(store, self.workspace, row) == "running":
                raise Trouble("The run is already being driven.")
            try:
                return remote.wake(self.url, self.workspace, row)
            except Exit as refused:
                raise Trouble(str(refused)) from refused

    def _look(self) -> str:
        from ....engine.ports import WorldFailed
        from ....journal.postgres import PgStore

        try:
            if self._watching is None:
                self._watching = PgStore(self.url)
            return self._watching.stamp(WATCHED)
        except WorldFailed as failed:
            if self._watching is not None:
                self._watching.close()
            self._watching = None
            return str(failed)

    @contextmanager
    def _reading(self) -> Iterator[Store | None]:
        from ....runs.workers import remote
        from ....server.port import Trouble

        try:
            with remote.reading(self.url, self.workspace) as store:
                yield store
        except Exit as failed:
            raise Trouble(str(failed)) from failed
