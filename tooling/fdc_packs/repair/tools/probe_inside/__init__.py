"""Runs inside the tests' own process and tries edits there, one in each fork. A program of its own.

`fdc_packs.repair.tools.repair_probe` copies this folder, as the package `fdc_probe`, beside the tests and makes Python
begin with it; it imports nothing of fdc. A fork shows the edited text wherever the file is imported, and ends as the
command would. Under pytest most edits need less: once the tests are collected, a fork puts the edited code into the
functions that are there, unless one of them ran before. The tests that fail without an edit come first, the quickest of
them before the others, and a fork ends where three of these still fail, or another one fails.

PYTEST_DONT_REWRITE: it is imported before pytest is, which pytest would warn of, and where warnings are errors that ends it.
"""

from __future__ import annotations

import atexit
import json
import math
import os
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from . import behaviour, kept_files, time_limit, unittest_results, what_runs
from .bounds import cpu_used, further, limit
from .edited_files import (
    COLLECTED,
    COMPARE,
    CONTROL,
    EARLY,
    FOLDER,
    ONE,
    UNFIT,
    beside,
    given,
    keep,
    kept,
    note_use,
    result_of,
    show,
    tell,
)
from .function_code import changed, find, swap, watch
from .module_run import rerun
from .time_limit import CALL

if TYPE_CHECKING:
    from .pytest_shapes import Collected, Part, Session

FIRST, FIRST_OF_ALL = 3, 40
"""Failing tests that are asked before an edit is given up, and where edits are compared by what fails with each."""
RIVALS = 12
"""Edits of the same characters that are tried next after the first one there that passes, beside the `more` others."""
UNKNOWN = 0.05
"""Seconds of the slowest test that passes, where none does."""
LOOPS, LEAST = 3, 0.99
"""Edits that take all their time, behind which each other one gets less: seconds of a processor, at least."""
COMPARING = 100.0
"""Seconds in which the edits that pass are compared, beyond those in which edits are tried."""

_outcomes: dict[str, bool] = {}
_took: dict[str, float] = {}
_mine: int | None = None
_first: list[str] = []
_session: Session | None = None
_passed = 0
_good: list[int] = []
"""Edits with which everything passes; `_passed` counts the places of those that are not bare negation or removal."""
_wanted: set[str] | None = None
_collected = False
_until = 0.0
_used_before = 0.0
"""CPU seconds of forks that are not of the edits that are tried now."""


def begin() -> None:
    """In a process that a fork has begun: shows it the edited text. In another one: forks, unless pytest comes."""
    folder = os.environ.get(FOLDER)
    if not folder:
        return
    with open(os.path.join(folder, "given.json"), encoding="utf-8") as text:
        given.update(json.loads(text.read()))
    time_limit.begin(given["each"])
    early = os.environ.pop(EARLY, "")
    if os.environ.get(ONE):
        what_runs.note_outside()
        show(int(os.environ[ONE]))
    elif early:
        _collect()
    elif not any(os.path.basename(word) in ("pytest", "py.test") for word in sys.orig_argv):
        _start()
        unittest_results.watch(_outcomes)
        atexit.register(lambda: _tell_result(False, bool(_outcomes)) if _mine is not None else None)
        if (
            _control()
            and _try(range(min(len(given["edits"]), 2 * given["slow"])), show) is not None
        ):
            os._exit(1)


def _start() -> None:
    global _until
    _until = time.monotonic() + given["seconds"]
    kept_files.remember()


def _control() -> bool:
    """True in the process that goes on to try edits: the command imports what is edited, and fails here as it is or need not."""
    status = _fork(CONTROL, lambda number: show(number), 0, _until - time.monotonic())
    if _mine is not None:
        return False
    if status is None:
        os._exit(1)  # all the time is used up, and nobody reads how the tests end here
    base = result_of(CONTROL)
    tell({"edit": CONTROL, "status": status, **base})
    _first[:] = base["failed"]
    return bool(base["used"]) and (status != 0 or given["green"])


def _try(numbers: Any, prepare: Callable[[int], None]) -> list[int] | None:
    """Forks for each edit until enough pass or the time is over. None in a fork; else the edits that were unfit."""
    global _passed
    unfit: list[tuple[int, int]] = []
    here, cost, took = _mine, given.get("cpu", 1.0), given.get("took", 2.0)
    since = hoped = endless = 0
    queue, rivals, hurried = list(numbers), set[int](), list[int]()
    while queue:
        number = queue.pop(0)
        # a few more are tried: the first that passes should not hide the others
        since += _passed + hoped > 0 and number not in rivals
        if (
            time.monotonic() > _until
            or cpu_used() - _used_before > given["cpu_seconds"]
            or _passed + hoped >= given["enough"]
            or since > given["more"]
        ):
            break
        cpu = 2 + math.ceil(3 * cost) if endless < LOOPS else max(LEAST, 3 * cost)
        status = _fork(number, prepare, cpu, 10 + 10 * took)
        if _mine != here:
            return None
        if status is None or status < 0:
            endless += 1
            hurried += [number] * (endless > LOOPS or bool(given.get("asked")))
        if status == UNFIT:
            status = _fork(number, rerun, 2 + math.ceil(3 * cost), 10 + 10 * took)
            if _mine != here:
                return None
            useless = status not in (0, UNFIT) and not result_of(number).get("won")
            unfit.append((useless + (status != 0), number))
            hoped += status == 0 and number not in given["risky"] and _fresh(number)
        else:
            tell({"edit": number, "status": status, **result_of(number)})
            _passed += status == 0 and number not in given["risky"] and _fresh(number)
        if status == 0:
            near = [one for one in queue if beside(one, number)][: RIVALS * _fresh(number)]
            rivals.update(near)
            queue = near + [one for one in queue if one not in near]
            _good.append(number)
        if not queue and hurried and not _good:  # the right one may be slower than all others
            queue, hurried, endless = hurried, [], -len(hurried)
            given["asked"] = 0.0
    return [number for _, number in sorted(unfit)]


def _fresh(number: int) -> bool:
    """True for an edit of a place where none passes yet: rivals of the same characters are one answer, right or wrong."""
    return not any(beside(one, number) for one in _good)


def _fork(number: int, prepare: Callable[[int], None], cpu: float, patience: float) -> int | None:
    """In the parent: how the fork ended, None where it had to be killed. In the fork, 0, with `_mine` set."""
    global _mine
    sys.stdout.flush()
    sys.stderr.flush()
    began, used = time.monotonic(), cpu_used()
    child = os.fork()
    if child == 0:
        _mine = number
        nowhere = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(nowhere, stream)
        limit(cpu, given.get("asked", 0.0) if number >= 0 else 0.0)
        if number >= 0 and given["each"]:
            time_limit.begin(given["each"], max(CALL, 10 * given.get("slowest", UNKNOWN)))
        if number not in (COLLECTED, COMPARE):
            os.environ[ONE] = str(number)
        prepare(number)
        return 0
    late = False
    while not (ended := os.waitpid(child, os.WNOHANG))[0]:
        if not late and time.monotonic() > began + patience:
            os.kill(child, 9)
            late = True
        time.sleep(0.001)
    kept_files.restore()
    if number == CONTROL:
        given.update(cpu=cpu_used() - used, took=time.monotonic() - began)
        given["slowest"] = result_of(CONTROL).get("slowest", UNKNOWN)
    return None if late else os.waitstatus_to_exitcode(ended[1])


# --- what a fork takes down


def _tell_result(stopped: bool, tests: bool = True) -> None:
    failed = sorted(
        (name for name, good in _outcomes.items() if not good),
        key=lambda name: _took.get(name, 0.0),
    )
    won = any(_outcomes.get(name) for name in _first)
    said = {"failed": failed, "tests": tests, "stopped": stopped, "won": won}
    said["slowest"] = max(
        (_took.get(name, 0.0) for name in _outcomes if _outcomes[name]), default=UNKNOWN
    )
    said["ran"] = what_runs.result()
    said["asked"] = 2 + 3 * sum(_took.get(name, 0.0) for name in failed[:FIRST])
    keep(f"result.{_mine}", said)


# --- pytest, which loads this file as a plugin


def pytest_load_initial_conftests(early_config: object) -> Iterator[None]:
    """Before anything of the workspace is imported. One fork collects the tests and tries what can be tried there."""
    if given and _mine is None and not _collected and not os.environ.get(ONE):
        loaded = {
            os.path.realpath(str(getattr(one, "__file__", None) or ""))
            for one in list(sys.modules.values())
        }
        if not loaded.isdisjoint(given["files"]):  # pytest, or a plugin, uses what is edited
            os.environ[EARLY] = "1"
            os.execvp(sys.orig_argv[0], sys.orig_argv)
        _collect()
    yield


pytest_load_initial_conftests.pytest_impl = {"hookwrapper": True, "tryfirst": True}  # type: ignore[attr-defined]


def _collect() -> None:
    """In a process that has imported nothing of the workspace: one fork collects the tests and tries what can be tried there."""
    global _collected
    _collected = True
    _start()
    _fork(COLLECTED, lambda _: sys.setprofile(watch), 0, given["seconds"] + COMPARING)
    if _mine is None:
        _rest()


def _rest() -> None:
    """What could not be tried after the tests were collected, that which passed with the module run once more first."""
    global _passed, _until, _used_before
    left: Any = None
    _until = max(_until, time.monotonic() + given["seconds"] / 4)
    _used_before = cpu_used()
    try:
        said: Any = kept("left")
        left, _passed = said["unfit"][: given["slow"]], said["passed"]
        _first[:] = said["first"]
        given.update(cpu=said["cpu"], took=said["took"], slowest=said["slowest"])
    except (OSError, ValueError):
        if not _control():
            return
        left = range(min(len(given["edits"]), 2 * given["slow"]))
    if _try(left, show) is not None:
        os._exit(1)


def pytest_runtestloop(session: Session) -> Iterator[None]:
    """The tests are collected: edits of functions are tried, each in a fork of here."""
    global _session, _used_before
    _session = session
    if _mine == COLLECTED:
        sys.setprofile(None)
        if session.testsfailed:  # a file could not be imported: the edit must be there before
            os._exit(1)
        find()
        status = _fork(CONTROL, _watched, 0, _until - time.monotonic())
        if _mine == COLLECTED:
            base = result_of(CONTROL)
            counts = base["used"] and (status != 0 or given["green"])
            if status in (None, UNFIT) or not counts:
                os._exit(1)
            given["ran"] = base.get("ran") or {}
            _used_before = cpu_used()
            given["asked"] = 0.0 if given["green"] else base.get("asked", 0.0)
            tell({"edit": CONTROL, "status": status, **base, "ran": {}})
            _first[:] = base["failed"]
            unfit = _try(range(len(given["edits"])), _put)
            if unfit is not None and _good and not given["green"]:
                _fork(COMPARE, _watch_calls, 60, COMPARING - 10)
                for number in _good if _mine == COLLECTED else ():
                    if not os.path.exists(os.path.join(os.environ[FOLDER], f"behaviour.{number}")):
                        tell({"edit": number, "behaviour": [0, 0, "not measured", False]})
            if unfit is not None and _mine == COLLECTED:
                said = {"unfit": unfit, "passed": _passed, "first": _first, "cpu": given["cpu"] + 1,
                        "took": given["took"] + 2, "slowest": given["slowest"]}  # fmt: skip
                keep("left", said)
                os._exit(1)
    if _mine is not None and _mine not in (CONTROL, COMPARE):
        for item in session.items:  # nobody reads why it fails
            item.repr_failure = lambda *_, **__: ""
        wanted = _wanted
        if wanted is not None:
            session.items[:] = [one for one in session.items if one.nodeid in wanted]
        order = {name: number for number, name in enumerate(_first)}
        session.items.sort(key=lambda item: order.get(item.nodeid, len(order)))
    yield


pytest_runtestloop.pytest_impl = {"hookwrapper": True, "tryfirst": True}  # type: ignore[attr-defined]


def _watched(number: int) -> None:
    """The tests run without an edit, and what each of them runs is taken down."""
    swap(number)
    what_runs.begin()


def _put(number: int) -> None:
    """Puts an edit in; then only tests run that it can change, so that it is known which."""
    global _wanted
    swap(number)
    _wanted = what_runs.needed(given["ran"], changed(number), _first)


def pytest_runtest_call(item: Collected) -> Iterator[None]:
    """What runs now is run by this test."""
    what_runs.enter(item.nodeid)
    yield
    what_runs.enter("")


pytest_runtest_call.pytest_impl = {"hookwrapper": True, "tryfirst": True}  # type: ignore[attr-defined]


def _watch_calls(_: int) -> None:
    """The tests run once more, and what they call the functions with is taken down that the good edits change."""
    note_use(COMPARE)
    behaviour.watch({place for number in _good for place in behaviour.places_of(number)})
    sys.setprofile(behaviour.record)


def _compare() -> None:
    """Of the edits that pass: how many results of generated inputs each changes."""
    sys.setprofile(None)
    for number in _good:
        if _fork(number, partial(behaviour.compare, _good), 10, 10.0) == 0:
            tell({"edit": number, "behaviour": kept(f"behaviour.{number}")})


def pytest_collectreport(report: Collected) -> None:
    """A file of tests that cannot be imported has failed."""
    if report.failed:
        _outcomes[report.nodeid] = False


def pytest_runtest_logreport(report: Part) -> None:
    """How a part of a test ended."""
    _took[report.nodeid] = _took.get(report.nodeid, 0.0) + report.duration
    if report.failed:
        _outcomes[report.nodeid] = False
    elif report.when == "call":
        _outcomes.setdefault(report.nodeid, True)


def pytest_runtest_logfinish(nodeid: str, location: object) -> None:
    """Ends the fork where as many tests as count still fail, and where one fails that did not.

    pytest's own way to stop shows where it was stopped, which takes ten times as long as most tests.
    """
    if _mine is None or _mine < 0 or _session is None:
        return
    asked = [_outcomes[name] for name in _first if name in _outcomes]
    most = 1 if time_limit.late else FIRST_OF_ALL if given["green"] else FIRST
    still = asked and not any(asked) and len(asked) >= min(most, len(_first))
    if any(asked):  # hardly any edit that never ends gets here
        further()
    if still or (nodeid not in _first and _outcomes.get(nodeid) is False):
        try:
            _session._setupstate.teardown_exact(None)
        except BaseException:
            _outcomes[nodeid] = False
        _tell_result(True)
        os._exit(1)


def pytest_sessionfinish(session: Session, exitstatus: int) -> None:
    """Takes down what failed, and ends the fork once pytest is done."""
    if _mine == COMPARE:
        _compare()
        os._exit(0)
    if _mine is not None:
        _tell_result(False)
        session.config.add_cleanup(lambda: os._exit(int(exitstatus)))
