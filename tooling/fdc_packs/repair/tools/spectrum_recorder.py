"""Runs inside the tests' own processes and takes down which test ran which lines, which failed, and where. A program of its own.

`fdc_packs.repair.tools.spectrum` copies this file beside the tests and makes Python begin with it; it imports nothing of
fdc, so that it works
under whatever Python the tests have. A test process must behave as without it: what goes wrong here is kept to itself.

PYTEST_DONT_REWRITE: it is imported before pytest is, which pytest would warn of, and where warnings are errors that ends it.
"""

from __future__ import annotations

import atexit
import importlib
import json
import os
import sys
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing import Protocol

    from .probe_inside import time_limit

    class Config(Protocol):
        """What is used of pytest's settings."""

        known_args_namespace: Any
        option: Any

    class Node(Protocol):
        """What is used of a test, or of a file of tests."""

        nodeid: str

    class Collected(Node, Protocol):
        """What is used of the report of a file of tests."""

        failed: bool

    class Part(Collected, Protocol):
        """What is used of the report of a part of a test."""

        passed: bool
        when: str
        duration: float

    class Call(Protocol):
        """What is used of a call that failed."""

        excinfo: Any


FOLDER, TEST, ROOT, ONLY = (
    "FDC_SPECTRUM",
    "FDC_SPECTRUM_TEST",
    "FDC_SPECTRUM_ROOT",
    "FDC_SPECTRUM_ONLY",
)

REPORT = "fdc:report"
"""The context of what runs only to describe a failure."""

_run: Any = None
_pytest = False
_outcomes: dict[str, bool] = {}
_frames: list[tuple[str, int]] = []
_slowest = 0.0
"""Seconds of the slowest part of a test that passed."""


def begin() -> None:
    """Starts to measure this process, if it was asked for."""
    global _run, time_limit
    folder, root = os.environ.get(FOLDER), os.environ.get(ROOT)
    if not folder or not root or _run is not None:
        return
    import coverage

    time_limit = importlib.import_module("fdc_time_limit")
    time_limit.begin()
    time_limit.start("", float(os.environ.get(time_limit.WHOLE) or 0))
    _run = coverage.Coverage(
        data_file=os.path.join(folder, f"lines.{os.getpid()}"), config_file=False, messages=False,
        include=[f"{root}/*"], omit=[f"{folder}/*", "*/site-packages/*"],
    )  # fmt: skip
    _run.set_option(
        "run:disable_warnings",
        ["no-data-collected", "module-not-measured", "no-ctracer", "already-imported"],
    )
    try:
        import coverage.tracer

        _run.set_option("run:core", "ctrace")
    except ImportError:
        _run.set_option("run:core", "pytrace")  # the only other one that tells tests apart
    _run.start()
    if os.environ.get(TEST):
        _run.switch_context(os.environ[TEST])  # a process that a test has begun
    atexit.register(_end_of, os.getpid())
    _watch_unittest()
    hook = sys.excepthook

    def noted(kind: type[BaseException], raised: BaseException, trace: Any) -> None:
        _note(trace)
        hook(kind, raised, trace)

    sys.excepthook = noted


def _end_of(owner: int) -> None:
    if os.getpid() != owner:
        return  # a fork: what it knows, its parent knows
    _run.stop()
    _run.save()
    with open(
        os.path.join(os.environ[FOLDER], f"tests.{os.getpid()}"), "w", encoding="utf-8"
    ) as out:
        said = {
            "outcomes": _outcomes,
            "frames": _frames,
            "late": time_limit.late,
            "slowest": _slowest,
        }
        json.dump(said, out)


def _switch(test: str) -> None:
    _run.switch_context(test)
    os.environ[TEST] = test


def _apart(module: Any, *names: str) -> None:
    """Counts for no test what these functions run: they describe values after a test has failed, and call its `__repr__`."""

    def watched(inner: Any) -> Any:
        def run(*rest: Any, **named: Any) -> Any:
            test = os.environ.get(TEST, "")
            _run.switch_context(REPORT)
            try:
                return inner(*rest, **named)
            finally:
                _run.switch_context(test)

        return run

    for name in names:
        if hasattr(module, name):
            setattr(module, name, watched(getattr(module, name)))


def _note(trace: Any) -> None:
    """The places of an error, the innermost first."""
    found = []
    while trace is not None:
        found.append((trace.tb_frame.f_code.co_filename, trace.tb_lineno))
        trace = trace.tb_next
    _frames.extend(found[::-1][:50])


# --- unittest


def _watch_unittest() -> None:
    from unittest import case, result

    tests: Any = case.TestCase
    results: Any = result.TestResult
    run = tests.run

    def watched(self: Any, *rest: Any, **named: Any) -> Any:
        if _pytest:
            return run(self, *rest, **named)
        _switch(self.id())
        _outcomes.setdefault(self.id(), False)
        time_limit.start(self.id())
        began = time.monotonic()
        try:
            return run(self, *rest, **named)
        finally:
            time_limit.end()
            _took(not _outcomes.get(self.id()), time.monotonic() - began)
            _switch("")

    tests.run = watched
    for name in ("addError", "addFailure", "addSubTest"):
        _watch_result(results, name)
    _apart(case, "safe_repr", "_common_shorten_repr")
    skip = results.addSkip

    def skipped(self: Any, test: Any, reason: str) -> None:
        _outcomes.pop(test.id(), None)
        skip(self, test, reason)

    results.addSkip = skipped


def _took(passed: bool, seconds: float) -> None:
    global _slowest
    _slowest = max(_slowest, seconds) if passed else _slowest


def _watch_result(owner: Any, name: str) -> None:
    inner = getattr(owner, name)

    def failed(self: Any, test: Any, *rest: Any) -> Any:
        if not _pytest and rest[-1] is not None:
            _outcomes[test.id()] = True
            _note(rest[-1][2])
        return inner(self, test, *rest)

    setattr(owner, name, failed)


# --- pytest, which loads this file as a plugin


def pytest_load_initial_conftests(early_config: Config) -> None:
    """Puts another measurement out of action: Python has room for one."""
    global _pytest
    _pytest = _run is not None
    for options in (early_config.known_args_namespace, early_config.option):
        if getattr(options, "cov_source", None):
            options.cov_source = None


def pytest_configure(config: Config) -> None:
    """The same, for what was read since."""
    if getattr(config.option, "cov_source", None):
        config.option.cov_source = None
    if _run is not None:
        loaded = sys.modules  # the tests' own pytest
        _apart(loaded.get("_pytest.assertion.rewrite"), "_saferepr", "_call_reprcompare")
        _apart(getattr(loaded.get("_pytest.nodes"), "Node", None), "_repr_failure_py")


def pytest_collection_modifyitems(items: list[Node]) -> None:
    """Leaves only the tests that are asked for."""
    if _run is not None and os.environ.get(ONLY):
        with open(os.environ[ONLY], encoding="utf-8") as text:
            wanted = set(json.load(text))
        items[:] = [one for one in items if one.nodeid in wanted]


pytest_collection_modifyitems.pytest_impl = {"trylast": True}  # type: ignore[attr-defined]


def pytest_runtest_protocol(item: Node, nextitem: object) -> None:
    """A test begins."""
    if _run is not None:
        _switch(item.nodeid)


def pytest_runtest_logfinish(nodeid: str, location: object) -> None:
    """A test has ended."""
    if _run is not None:
        _switch("")


def pytest_collectstart(collector: Node) -> None:
    """A file of tests is imported."""
    if _run is not None:
        _switch(collector.nodeid)


def pytest_collectreport(report: Collected) -> None:
    """It was, or could not be."""
    if _run is not None:
        _switch("")
        if report.failed:
            _outcomes[report.nodeid] = True


def pytest_exception_interact(node: object, call: Call, report: object) -> None:
    """Where a test, or the import of its file, failed."""
    if call.excinfo is not None:
        _note(call.excinfo.tb)


def pytest_runtest_logreport(report: Part) -> None:
    """How a part of a test ended."""
    _took(report.passed, report.duration)
    if report.failed:
        _outcomes[report.nodeid] = True
    elif report.when == "call" and report.passed:
        _outcomes.setdefault(report.nodeid, False)
