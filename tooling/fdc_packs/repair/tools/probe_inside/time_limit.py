"""Stops a test that takes too long, with an error at the place where it is. A program of its own.

It is copied beside the tests, as the pytest plugin `fdc_time_limit` and as a part of `fdc_probe`, and imports nothing of fdc.
A test that waits, or loops, in its main thread is stopped; where that goes on, because the error was caught, again
each second.

PYTEST_DONT_REWRITE: it is imported before pytest is, which pytest would warn of, and where warnings are errors that ends it.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

EACH, WHOLE = "FDC_TEST_SECONDS", "FDC_WHOLE_SECONDS"
"""The variables that say how many seconds a test may take, and what comes before the first; without them nothing is limited."""
AGAIN, LEAST, CALL = 1.0, 0.5, 0.25
"""Seconds after which a test is stopped again; what each test may take at least, however many were stopped before; what a
single call may take."""

_each, _cpu, _call = 0.0, 0.0, CALL
_now = ""
late: list[str] = []
"""Tests that were stopped."""


class TookTooLong(BaseException):
    """A test was stopped."""


def begin(seconds: float = 0.0, cpu: float = 0.0) -> None:
    """From here on a test may take so many seconds (by default, what the environment says), and so many of the processor."""
    global _each, _cpu
    _each, _cpu = seconds or float(os.environ.get(EACH) or 0), cpu


def start(test: str, seconds: float = 0.0) -> None:
    """A test, or a part of it, begins."""
    global _now
    if _each and threading.current_thread() is threading.main_thread():
        _now = test
        signal.signal(signal.SIGALRM, _stop)
        signal.setitimer(signal.ITIMER_REAL, seconds or _each, AGAIN)
        if _cpu:
            signal.signal(signal.SIGPROF, _stop)
            signal.setitimer(signal.ITIMER_PROF, _cpu, AGAIN)


def end() -> None:
    """It has ended."""
    if _each and threading.current_thread() is threading.main_thread():
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.setitimer(signal.ITIMER_PROF, 0)


@contextmanager
def soon(slower: int = 1) -> Iterator[None]:
    """What runs within may take CALL seconds of the processor; less, where some before it took them all. `slower`: how many
    times as long, for what is traced."""
    old = signal.signal(signal.SIGPROF, _leave)
    signal.setitimer(signal.ITIMER_PROF, slower * _call, AGAIN)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, old)


def _leave(*_: object) -> None:
    global _call
    _call = max(CALL / 16, _call / 2)
    raise TookTooLong


def _stop(*_: object) -> None:
    global _each
    __tracebackhide__ = True  # pytest's word
    if _now not in late:
        late.append(_now)
        _each = max(min(LEAST, _each), _each / 2)  # many tests may run into one loop
    raise TookTooLong("this took too long, and was stopped here")


# --- pytest, which loads this file as a plugin


def _limited(item: object) -> Iterator[None]:
    start(str(getattr(item, "nodeid", "")))
    try:
        yield
    finally:
        end()


def pytest_runtest_setup(item: object) -> Iterator[None]:
    """What a test needs is made."""
    yield from _limited(item)


def pytest_runtest_call(item: object) -> Iterator[None]:
    """The test runs."""
    yield from _limited(item)


def pytest_runtest_teardown(item: object) -> Iterator[None]:
    """What it needed is taken away."""
    yield from _limited(item)


for _part in (pytest_runtest_setup, pytest_runtest_call, pytest_runtest_teardown):
    _part.pytest_impl = {"hookwrapper": True, "tryfirst": True}  # type: ignore[attr-defined]
