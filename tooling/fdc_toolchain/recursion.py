"""What a check needs of Python: a high limit of recursion (bodies nest 200 deep, calls ten deep), and no garbage collection."""

from __future__ import annotations

import _thread
import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager

DEPTH = 20_000


def deepen() -> None:
    """Raises the limit for as long as the process lives."""
    sys.setrecursionlimit(max(sys.getrecursionlimit(), DEPTH))


class Garbage:
    """Garbage collection, disabled while a check is under way in any thread, and put back behind the last one."""

    def __init__(self) -> None:
        self._lock = _thread.allocate_lock()
        self._checks = 0
        self._before = True

    def leave_alone(self) -> None:
        """A check begins."""
        with self._lock:
            if self._checks == 0:
                self._before = gc.isenabled()
            self._checks += 1
            gc.disable()

    def collect_again(self) -> None:
        """A check ends."""
        with self._lock:
            self._checks -= 1
            if self._checks == 0 and self._before:
                gc.enable()


_GARBAGE = Garbage()


@contextmanager
def uncollected() -> Iterator[None]:
    """Disables garbage collection: a check makes no cycles, and in a large heap a collection takes longer than a rule."""
    _GARBAGE.leave_alone()
    try:
        yield
    finally:
        _GARBAGE.collect_again()


class Depth:
    """The limit, raised while a call is under way in any thread, and put back behind the last one."""

    def __init__(self) -> None:
        self._lock = _thread.allocate_lock()
        self._calls = 0
        self._before = 0

    def enter(self) -> None:
        """A call begins."""
        with self._lock:
            if self._calls == 0:
                self._before = sys.getrecursionlimit()
            self._calls += 1
            deepen()

    def leave(self) -> None:
        """A call ends."""
        with self._lock:
            self._calls -= 1
            if self._calls == 0 and sys.getrecursionlimit() == DEPTH:
                sys.setrecursionlimit(self._before)
