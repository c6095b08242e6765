"""The runs of a workspace, for the web page."""

from __future__ import annotations

import os
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ....exits import Exit
from ....packs.pages import module_of

if TYPE_CHECKING:
    from ....journal.sqlite import RunRow, Store
    from ....packs.model import Page
    from ....report.run_page import Run
    from ....runs.records.answers import Open
    from ....server.port import Ask, Row

WATCHED = 50
"""Number of newest runs that the page watches for changes."""
_FRESH = 0.4
_QUICK = 1.0


class Workspace:
    """The runs of a workspace for the web page (port `server.port.Runs`). A journal's connection belongs to a thread:
    each call opens its own."""

    goes_on = False
    """Port `Runs`."""

    def __init__(self, root: str) -> None:
        self.workspace = self.title = root
        self._lock = threading.Lock()
        self._stamp = (0.0, "")
        self._children: list[subprocess.Popen[bytes]] = []

    def rows(self, most: int) -> tuple[list[Row], int]:
        """Port `Runs`."""
        from ....runs.workers import remote
        from ....server.port import Row

        with self._reading() as store:
            found = [] if store is None else store.runs()
            out = [
                Row(
                    row.name, row.plan, remote.status_of(store, self.workspace, row),
                    time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(row.started)),
                    0 if store is None else store.count(row), (row.ending or {}).get("seconds"),
                )
                for row in reversed(found[-most:])
            ]  # fmt: skip
        return out, max(0, len(found) - most)

    def page(self, run: str) -> Run | None:
        """Port `Runs`."""
        from ..report import seen

        with self._reading() as store:
            row = None if store is None else store.run(run)
            return None if store is None or row is None else seen(self.workspace, store, row)

    def asks(self, run: str) -> list[Ask]:
        """Port `Runs`."""
        from ....report import changes
        from ....runs.records import questions
        from ....server.port import Ask

        with self._reading() as store:
            row = None if store is None else store.run(run)
            if store is None or row is None or self._damaged(store, row):
                return []
            return [
                Ask(
                    one.effect.address, f"{one.effect.path}:{one.effect.line}", one.text, one.approval,
                    _shown(row, one),
                    tuple((name, size, digest, tuple(lines)) for name, size, digest, lines in questions.about(one)), one.given,
                    () if questions.in_doubt(one.shows) else tuple(changes.lines(one.shows)),
                    questions.in_doubt(one.shows),
                )
                for one in questions.questions(self.workspace, store, row)
            ]  # fmt: skip

    def answer(self, run: str, address: str, seen: str, text: str) -> str:
        """Port `Runs`."""
        from ....runs.records import questions
        from ....server.port import Trouble

        with self._reading() as store:
            row = None if store is None else store.run(run)
            found = (
                []
                if store is None or row is None
                else questions.questions(self.workspace, store, row)
            )
            for one in found:
                if row is not None and one.effect.address == address and _shown(row, one) == seen:
                    wrong = questions.unfit(one, text)
                    if wrong:
                        raise Trouble(f"Not stored: {wrong}.")
                    return self._given(row, one, text)
        raise Trouble(
            "Not stored: the run does not ask this question (any more), or was answered meanwhile."
        )

    def _given(self, row: RunRow, question: Open, text: str) -> str:
        from ....runs.records import questions

        over = questions.seen(question)
        said = questions.give(self.workspace, row, question, text, "fdc ui", time.time(), over=over)
        return f"{said[0].upper()}{said[1:]}."

    def resume(self, run: str) -> str:
        """Port `Runs`. Starts `fdc resume` in a separate process; returns its message if it refuses at once."""
        from ....server.port import Trouble
        from ....workspace import run_folders

        if run_folders.is_driven(self.workspace, run):
            raise Trouble("The run is already being driven.")
        return self._started(
            ["resume", run, "--quiet", "--workspace", self.workspace],
            "The run continued.",
            "The run continues.",
        )

    def _started(self, arguments: list[str], over: str, under_way: str) -> str:
        """Starts `fdc ARGUMENTS` in a separate process; returns its message if it refuses at once."""
        from ....sandbox import python_process
        from ....server.port import Trouble

        with tempfile.TemporaryFile() as file:
            child = subprocess.Popen(
                python_process.fdc(*arguments),
                cwd=self.workspace, env=python_process.environment(), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                stderr=file, start_new_session=True,
            )  # fmt: skip
            with self._lock:
                self._children = [*(one for one in self._children if one.poll() is None), child]
            try:
                child.wait(timeout=_QUICK)
            except subprocess.TimeoutExpired:
                return under_way
            file.seek(0)
            lines = file.read(65536).decode("utf-8", "replace").strip().splitlines()
        if lines and child.returncode:
            begun = max(
                (at for at, line in enumerate(lines) if line.startswith("fdc: ")),
                default=len(lines) - 1,
            )
            raise Trouble(" ".join(line.strip() for line in lines[begun:]).removeprefix("fdc: "))
        return over

    def records(self, page: Page) -> list[dict[str, object]]:
        """Port `Runs`."""
        from ....runs.workers import remote

        more = module_of(page).row
        with self._reading() as store:
            rows = [] if store is None else [row for row in store.runs() if row.plan in page.plans]
            return [
                {"id": row.name, "plan": row.plan, "started": row.started, **more(row),
                 "status": remote.status_of(store, self.workspace, row), "seconds": (row.ending or {}).get("seconds")}
                for row in reversed(rows)
            ]  # fmt: skip

    def record(self, page: Page, run: str) -> dict[str, object] | None:
        """Port `Runs`."""
        with self._reading() as store:
            row = None if store is None else store.run(run)
            if store is None or row is None or row.plan not in page.plans:
                return None
            found: dict[str, object] = module_of(page).told(store, row)
            return found

    def again(self, page: Page, run: str) -> str:
        """Port `Runs`."""
        from ....server.port import Trouble

        with self._reading() as store:
            row = None if store is None else store.run(run)
            if row is None or row.plan not in page.plans:
                raise Trouble("The run does not exist.")
            arguments = module_of(page).again(row)
        return self._started(arguments, f"{page.title} was run again.", f"{page.title} runs again.")

    def stamp(self) -> str:
        """Port `Runs`: the state of the journal's files and of the newest runs' folders, and which runs are driven."""
        with self._lock:
            now = time.monotonic()
            if now - self._stamp[0] < _FRESH:
                return self._stamp[1]
            self._stamp = (now, self._look())
            return self._stamp[1]

    def _look(self) -> str:
        from hashlib import blake2b

        from ....workspace import run_folders

        path = run_folders.journal_path(self.workspace)
        parts = [_stat(path), _stat(path + "-wal")]
        below = os.path.join(self.workspace, run_folders.FOLDER, "runs")
        try:
            names = sorted(os.listdir(below))[-WATCHED:]
        except OSError:
            names = []
        for name in names:
            parts.append(
                f"{_stat(os.path.join(below, name))} {run_folders.is_driven(self.workspace, name)}"
            )
        return blake2b("\n".join(parts).encode(), digest_size=8).hexdigest()

    def _damaged(self, store: Store, row: RunRow) -> bool:
        if row.status != "waiting":
            return False
        checked = store.check(row.id)
        return bool(checked.faults or checked.older)

    @contextmanager
    def _reading(self) -> Iterator[Store | None]:
        from ....runs import run_driver
        from ....server.port import Trouble

        try:
            with run_driver.reading(self.workspace) as store:
                yield store
        except Exit as failed:
            raise Trouble(str(failed)) from failed


def _shown(row: RunRow, question: Open) -> str:
    """Names what the page shows of a question: the question itself, and the answer that was not used yet."""
    from hashlib import blake2b

    from ....runs.records import questions

    shown = "\0".join((questions.name_of(row, question), *questions.seen(question)))
    return blake2b(shown.encode(), digest_size=16).hexdigest()


def _stat(path: str) -> str:
    try:
        found = os.stat(path)
    except OSError:
        return "-"
    return f"{found.st_mtime_ns} {found.st_size}"
