"""What a check needs of Python: a high limit of recursion (bodies nest 200 deep, calls ten deep), and no garbage collection."""

from __future__ import annotations

import _thread
import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager

DEPTH = 20_000

MANY, FULL = 10_000, 64
"""Objects that a check leaves, from which on they are not looked through; such checks until all garbage is collected."""


def deepen() -> None:
    """Raises the limit for as long as the process lives."""
    sys.setrecursionlimit(max(sys.getrecursionlimit(), DEPTH))


class Garbage:
    """Garbage collection, disabled while a check is under way in any thread, and put back behind the last one."""

    def __init__(self) -> None:
        self._lock = _thread.allocate_lock()
        self._checks = 0
        self._before = True
        self._aged = 0

    def leave_alone(self) -> None:
        """A check begins."""
        with self._lock:
            if self._checks == 0:
                self._before = gc.isenabled()
            self._checks += 1
            gc.disable()

    def collect_again(self) -> None:
        """A check ends."""
        full = False
        with self._lock:
            self._checks -= 1
            if self._checks == 0 and self._before:
                full = self._age()
                gc.enable()
        if full:  # without the lock: what is collected may run code, and that may check plans
            gc.collect()

    def _age(self) -> bool:
        """Lets all objects count as old: the next collection would look through everything that the check has made.

        True where all garbage is to be collected: that of others ages, too.
        """
        if gc.get_count()[0] < MANY or gc.get_freeze_count():  # what a process froze stays frozen
            return False
        gc.freeze()
        gc.unfreeze()
        self._aged += 1
        return self._aged % FULL == 0


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
