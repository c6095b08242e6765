"""`--workers N`: collects the tests once, and runs them in N forks of this process, file by file.

pytest-xdist starts each worker from nothing: with four of them, imports and collection of ten thousand tests took a tenth of the
CPU time of all tests. A fork has them. The workers share one process that forks commands (`forks`), too.
"""

from __future__ import annotations

import atexit
import fcntl
import mmap
import os
import signal
import struct
import threading
import warnings
from collections.abc import Iterator
from multiprocessing.connection import Connection, Pipe, wait
from typing import Any

import pytest

from . import forks
from .process import clean_environment

_NUMBER = struct.Struct("<I")
_MANY = 50
"""With so many files, some start commands."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--workers", type=int, default=0, metavar="N", help="run the tests in N processes"
    )


def pytest_configure(config: pytest.Config) -> None:
    if config.option.workers and hasattr(os, "fork") and not config.option.usepdb:
        config.pluginmanager.register(_Spread(config), "spread")


class _Worker:
    """A process that runs tests, and how to hear of them."""

    def __init__(self, process: int, heard: Connection) -> None:
        self.process = process
        self.heard = heard
        self.test: tuple[str, Any] | None = None

    def status(self) -> int:
        """How it ended: waits for that."""
        return os.waitstatus_to_exitcode(os.waitpid(self.process, 0)[1])


class _Spread:
    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._stop = mmap.mmap(-1, 1)
        self._workers: list[_Worker] = []
        self._queue: tuple[int, int] = (-1, -1)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> object:
        if session.testsfailed or session.config.option.collectonly or not session.items:
            return None
        files: dict[object, list[pytest.Item]] = {}
        for item in session.items:
            files.setdefault(item.path, []).append(item)
        groups = list(files.values())
        self._queue = os.pipe()
        if hasattr(fcntl, "F_SETPIPE_SZ") and _NUMBER.size * len(groups) > 4096:
            fcntl.fcntl(self._queue[1], fcntl.F_SETPIPE_SZ, 2 * _NUMBER.size * len(groups))
        os.write(self._queue[1], b"".join(map(_NUMBER.pack, range(len(groups)))))
        if len(groups) > _MANY:
            forks.ready(clean_environment())
        base = self._config._tmp_path_factory.getbasetemp()  # type: ignore[attr-defined]
        for number in range(min(self._config.option.workers, len(groups))):
            self._start(session, groups, base / f"worker{number}")
        for handle in self._queue:
            os.close(handle)
        try:
            self._hear(session)
        finally:
            self._stop[0] = 1
            for worker in self._workers:
                os.kill(worker.process, signal.SIGINT)
                worker.status()
        return True

    # ---- in this process ------------------------------------------------------------------------

    def _hear(self, session: pytest.Session) -> None:
        """Passes on what the workers say, until they have ended."""
        hook = self._config.hook
        reporter = self._config.pluginmanager.get_plugin("terminalreporter")
        if reporter is not None:
            reporter.showfspath = False  # tests of several files come by turns
        left = {item.nodeid for item in session.items}
        while self._workers:
            heard = wait([worker.heard for worker in self._workers])
            for worker in [worker for worker in self._workers if worker.heard in heard]:
                try:
                    what, data = worker.heard.recv()
                except EOFError:
                    self._workers.remove(worker)
                    self._ended(worker)
                    continue
                if what == "start":
                    worker.test = data
                elif what == "finish":
                    worker.test = None
                    left.discard(data[0])
                    hook.pytest_runtest_logfinish(nodeid=data[0], location=data[1])
                elif what == "warning":
                    warnings.warn_explicit(data[0], pytest.PytestWarning, *data[1:])
                else:
                    hook.pytest_runtest_logreport(
                        report=hook.pytest_report_from_serializable(config=self._config, data=data)
                    )
            if session.shouldfail or session.shouldstop:
                self._stop[0] = 1
        if session.shouldstop:
            raise session.Interrupted(session.shouldstop)
        if left and not session.shouldfail:
            some = ", ".join(sorted(left)[:3])
            session.shouldfail = f"{len(left)} tests were not run to their end: {some} ..."
        if session.shouldfail:
            raise session.Failed(session.shouldfail)

    def _ended(self, worker: _Worker) -> None:
        """A worker that ended amid a test: that test has failed."""
        status = worker.status()
        if worker.test is None and status == 0:
            return
        name, location = worker.test or ("between two tests", ("", 0, ""))
        said = f"The process that ran this test ended with {status}, and the rest of its file was not run."
        self._config.hook.pytest_runtest_logreport(
            report=pytest.TestReport(name, location, {}, "failed", said, "call")
        )

    # ---- in a worker -----------------------------------------------------------------------------

    def _start(self, session: pytest.Session, groups: list[list[pytest.Item]], folder: Any) -> None:
        heard, told = Pipe(duplex=False)
        assert threading.active_count() == 1, "a process with threads cannot be forked"
        process = os.fork()
        if process:
            told.close()
            self._workers.append(_Worker(process, heard))
            return
        status = 70
        try:
            heard.close()
            os.close(self._queue[1])
            for other in self._workers:
                other.heard.close()
            status = self._work(session, groups, folder, told)
        except KeyboardInterrupt:
            pass
        except BaseException:
            import traceback

            traceback.print_exc()
        finally:
            os._exit(status)

    def _work(
        self,
        session: pytest.Session,
        groups: list[list[pytest.Item]],
        folder: Any,
        told: Connection,
    ) -> int:
        """Runs the files whose numbers it takes from the queue."""
        atexit._clear()
        manager = self._config.pluginmanager
        manager.unregister(name="terminalreporter")
        manager.unregister(self)
        manager.register(_Teller(self._config, told))
        capture: Any = manager.get_plugin("capturemanager")
        if capture is not None:  # its files are those of the process that was forked
            capture.stop_global_capturing()
            capture.start_global_capturing()
            capture.suspend_global_capture()
        folder.mkdir()
        self._config._tmp_path_factory._basetemp = folder  # type: ignore[attr-defined]
        for item, following in self._items(session, groups):
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if self._stop[0] or session.shouldfail or session.shouldstop:
                break
        session._setupstate.teardown_exact(None)
        threading._shutdown()  # type: ignore[attr-defined]
        atexit._run_exitfuncs()
        return 0

    def _items(
        self, session: pytest.Session, groups: list[list[pytest.Item]]
    ) -> Iterator[tuple[pytest.Item, Any]]:
        """Each test, and the next: after the last one of a file the session, whose fixtures stay."""
        while data := os.read(self._queue[0], _NUMBER.size):
            items = groups[_NUMBER.unpack(data)[0]]
            yield from zip(items, [*items[1:], session])


class _Teller:
    """Tells the process that was forked what happens in a worker."""

    def __init__(self, config: pytest.Config, told: Connection) -> None:
        self._config = config
        self._told = told

    def pytest_runtest_logstart(self, nodeid: str, location: object) -> None:
        self._told.send(("start", (nodeid, location)))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        data = self._config.hook.pytest_report_to_serializable(config=self._config, report=report)
        self._told.send(("report", data))

    def pytest_runtest_logfinish(self, nodeid: str, location: object) -> None:
        self._told.send(("finish", (nodeid, location)))

    def pytest_warning_recorded(self, warning_message: warnings.WarningMessage) -> None:
        self._told.send(
            (
                "warning",
                (str(warning_message.message), warning_message.filename, warning_message.lineno),
            )
        )
