"""A plugin of pytest for `benchmarks.mutants`: notes what each test executes, or runs chosen tests in a chosen order.

What it does stands in the file that FDC_MUTANTS names: `{"notes": FOLDER}`, `{"tests": {TEST: SECONDS}}`, or
`{"socket": NUMBER, "code": FOLDER}`. With the last, all tests are collected once, and each line that comes out of the socket
names a mutant and its tests: a fork runs them, so that a mutant costs no start of Python, no import and no collection.
"""

from __future__ import annotations

import gc
import json
import os
import shutil
import signal
import socket
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FunctionType
from typing import TypedDict

import pytest

_ORDER = (
    json.loads(Path(os.environ["FDC_MUTANTS"]).read_text("utf-8"))
    if "FDC_MUTANTS" in os.environ
    else {}
)
HITS: set[int] = set()
"""The numbers of the statements that are executed, where these say so."""
_OPTIMIZED = 1
"""A flag of the code of functions, which neither modules nor classes have."""


class Asked(TypedDict):
    """What to run: a file (absolute), its text without the mutant and with it, tests with their seconds, a folder."""

    path: str
    plain: str
    text: str
    tests: dict[str, float]
    scratch: str


def _seconds() -> float:
    return sum(os.times()[:4])  # with those of children


class Notes:
    """The statements that each test executes, of those that note it (`mutants.probed`), and what it costs.

    Tests that fail are left out. The test "" stands for what is executed while tests are imported and collected.
    """

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.hits: dict[str, list[int]] = {}
        self.left_out: set[str] = set()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self.hits.setdefault("", sorted(HITS))
        HITS.clear()
        began = _seconds()
        try:
            return (yield)
        finally:
            self.seconds[item.nodeid] = _seconds() - began
            self.hits[item.nodeid] = sorted(HITS)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if not report.passed:
            self.left_out.add(report.nodeid)

    def pytest_sessionfinish(self) -> None:
        for test in self.left_out:
            self.seconds.pop(test, None)
            self.hits.pop(test, None)
        notes = {"seconds": self.seconds, "hits": self.hits}
        Path(_ORDER["notes"], f"{os.getpid()}.json").write_text(json.dumps(notes), "utf-8")


class Chosen:
    """The tests that were chosen, in the order in which they are listed. One that takes ten times its seconds of CPU ends the
    run; one that waits is given ten times more, since a loaded machine is slower."""

    def __init__(self) -> None:
        self.tests: dict[str, float] = _ORDER.get("tests", {})

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        most = 5 + 10 * self.tests[item.nodeid]
        signal.setitimer(signal.ITIMER_PROF, most)
        signal.setitimer(signal.ITIMER_REAL, 10 * most)
        try:
            return (yield)
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.setitimer(signal.ITIMER_REAL, 0)

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        if self.tests:
            items[:] = self.chosen(items)

    def chosen(self, items: list[pytest.Item]) -> list[pytest.Item]:
        """Those of the items that are listed, in their order."""
        place = {test: at for at, test in enumerate(self.tests)}
        return sorted(
            (item for item in items if item.nodeid in place), key=lambda item: place[item.nodeid]
        )


class Server(Chosen):
    """Runs the tests of one mutant after the other, each in a fork of the process that collected them."""

    def __init__(self) -> None:
        super().__init__()
        self.failed = ""
        self.functions: dict[tuple[str, str, int], list[FunctionType]] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed and not self.failed:
            self.failed = report.nodeid

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        gc.unfreeze()  # what is frozen is not among the objects that can be listed
        for one in gc.get_objects():
            if type(one) is FunctionType and one.__code__.co_filename.startswith(_ORDER["code"]):
                self.functions.setdefault(_key(one.__code__), []).append(one)
        gc.freeze()
        with socket.socket(fileno=_ORDER["socket"]) as line, line.makefile("rw") as stream:
            while said := stream.readline():
                stream.write(json.dumps(self.answer(session, json.loads(said))) + "\n")
                stream.flush()
        return True

    def answer(self, session: pytest.Session, asked: Asked) -> str | None:
        """The first test that fails, `timeout` or "", as `mutants_run.Checkout.run` says it; None where a fork cannot say."""
        changed = self.changed(asked)
        if changed is None:
            return None
        scratch = Path(asked["scratch"])
        shutil.rmtree(scratch, ignore_errors=True)
        scratch.mkdir()
        said = scratch / "failed"
        child = os.fork()
        if child == 0:
            try:
                os.setsid()
                for function, code in changed:
                    function.__code__ = code
                os.environ["TMPDIR"], tempfile.tempdir = str(scratch), None
                self.tests = asked["tests"]
                items = self.chosen(session.items)
                for item, after in zip(items, [*items[1:], None], strict=True):
                    item.config.hook.pytest_runtest_protocol(item=item, nextitem=after)
                    if self.failed:
                        said.write_text(self.failed, "utf-8")
                        os._exit(1)
                os._exit(0)
            finally:
                os._exit(2)
        _, status = os.waitpid(child, 0)
        try:
            os.killpg(child, signal.SIGKILL)  # what the tests have left running
        except ProcessLookupError:
            pass
        end = os.waitstatus_to_exitcode(status)
        found = said.read_text("utf-8") if said.is_file() else f"exit {end}" if end else ""
        shutil.rmtree(scratch, ignore_errors=True)
        return "timeout" if end in (-signal.SIGALRM, -signal.SIGPROF) else found

    def changed(self, asked: Asked) -> list[tuple[FunctionType, CodeType]] | None:
        """The functions that are other with the mutant, with their new code; None where that is not all that is other."""
        path = asked["path"]
        if all(getattr(module, "__file__", None) != path for module in [*sys.modules.values()]):
            return []  # whoever imports it reads the text with the mutant
        pairs = differing(
            compile(asked["plain"], path, "exec", dont_inherit=True),
            compile(asked["text"], path, "exec", dont_inherit=True),
        )
        made = []
        for old, new in pairs or ():
            functions = self.functions.get(_key(old))
            if functions is None or old.co_freevars != new.co_freevars:
                return None
            made += [(one, new) for one in functions]
        return None if pairs is None else made


def _key(code: CodeType) -> tuple[str, str, int]:
    return code.co_filename, code.co_qualname, code.co_firstlineno


def differing(old: CodeType, new: CodeType) -> list[tuple[CodeType, CodeType]] | None:
    """The outermost functions of two texts of a file that differ; None where the module or a class does."""
    if old.co_flags & _OPTIMIZED:
        return [] if old == new else [(old, new)]
    bare = [
        one.replace(
            co_consts=tuple(None if isinstance(it, CodeType) else it for it in one.co_consts),
            co_linetable=b"",  # where a function ends
        )
        for one in (old, new)
    ]
    inner = [[it for it in one.co_consts if isinstance(it, CodeType)] for one in (old, new)]
    if bare[0] != bare[1] or len(inner[0]) != len(inner[1]):
        return None
    found = []
    for one, other in zip(*inner, strict=True):
        some = differing(one, other)
        if some is None:
            return None
        found += some
    return found


def pytest_configure(config: pytest.Config) -> None:
    kind = Notes if "notes" in _ORDER else Server if "socket" in _ORDER else Chosen
    config.pluginmanager.register(kind())
