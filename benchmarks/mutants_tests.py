"""A plugin of pytest for `benchmarks.mutants`: notes which lines each test executes, or runs chosen tests in a chosen order.

What it does stands in the file that FDC_MUTANTS names: `{"notes": FOLDER, "files": [...]}` or `{"tests": {TEST: SECONDS}}`.
"""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from coverage import Coverage

_ORDER = json.loads(Path(os.environ["FDC_MUTANTS"]).read_text("utf-8"))


def _seconds() -> float:
    return sum(os.times()[:4])  # with those of children


class Notes:
    """The lines of some files by the tests that execute them, and what each test costs. Only of tests that pass."""

    def __init__(self) -> None:
        self.coverage = Coverage(data_file=None, config_file=False, include=_ORDER["files"])
        self.coverage.set_option(
            "run:disable_warnings", ["no-data-collected", "module-not-measured"]
        )
        self.seconds: dict[str, float] = {}
        self.left_out: set[str] = set()
        self.coverage.start()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self.coverage.switch_context(item.nodeid)
        began = _seconds()
        try:
            return (yield)
        finally:
            self.seconds[item.nodeid] = _seconds() - began
            self.coverage.switch_context("")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if not report.passed:
            self.left_out.add(report.nodeid)

    def pytest_sessionfinish(self) -> None:
        self.coverage.stop()
        data = self.coverage.get_data()
        here = Path.cwd()
        seconds = {test: value for test, value in self.seconds.items() if test not in self.left_out}
        number = {test: at for at, test in enumerate(seconds)}
        lines = {}
        for file in data.measured_files():
            tests = data.contexts_by_lineno(file)
            lines[str(Path(file).relative_to(here))] = {
                line: [number[test] for test in some if test in number]
                for line, some in tests.items()
            }
        notes = {"seconds": seconds, "lines": lines, "left out": sorted(self.left_out)}
        Path(_ORDER["notes"], f"{os.getpid()}.json").write_text(json.dumps(notes), "utf-8")


class Chosen:
    """The tests that were chosen, in the order in which they are listed. One that takes ten times its seconds of CPU ends the
    run; one that waits is given ten times more, since a loaded machine is slower."""

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        most = 15 + 10 * _ORDER["tests"][item.nodeid]
        signal.setitimer(signal.ITIMER_PROF, most)
        signal.setitimer(signal.ITIMER_REAL, 10 * most)
        try:
            return (yield)
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.setitimer(signal.ITIMER_REAL, 0)

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        place = {test: at for at, test in enumerate(_ORDER["tests"])}
        items[:] = sorted(
            (item for item in items if item.nodeid in place), key=lambda item: place[item.nodeid]
        )


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Notes() if "notes" in _ORDER else Chosen())
