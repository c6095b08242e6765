"""Histories: what clients asked and heard, and whether some order of their operations, one after the other, explains it.

An operation has taken effect, whole, at one moment between its invocation and its return (linearizability). One that
was killed took effect before its death or never. The search is Wing and Gong's, with Lowe's memory of dead ends:
an operation may come next when no other one returned before it was invoked.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeVar

State = TypeVar("State", bound=Hashable)


class Operation(NamedTuple):
    """`begun` and `ended`: ticks of one counter. `asked`: what a client asked for. `heard`: None for one that was killed."""

    begun: float
    ended: float
    client: str
    asked: tuple[Any, ...]
    heard: Any


class History:
    """Written by many threads."""

    def __init__(self) -> None:
        self.operations: list[Operation] = []
        self._ticks = itertools.count(1)
        self._lock = threading.Lock()
        self.started = time.monotonic()

    @contextmanager
    def operation(self, client: str, *asked: Any) -> Iterator[Callable[[Any], None]]:
        """Around one operation; what is yielded takes what the client heard."""
        begun = next(self._ticks)
        heard: list[Any] = []
        yield heard.append
        with self._lock:
            self.operations.append(
                Operation(begun, next(self._ticks), client, asked, heard[0] if heard else None)
            )


def explains(
    operations: Iterable[Operation],
    start: State,
    after: Callable[[State, Operation], Iterable[State]],
) -> list[Operation] | None:
    """An order of the operations in which each one's answer is right, or None where that order does not exist.

    `after` gives the states that an operation with this answer can lead to: none where it could not be answered so.
    """
    every = sorted(operations)
    everything = (1 << len(every)) - 1
    dead: set[tuple[int, Hashable]] = set()
    order: list[Operation] = []

    def search(done: int, state: State) -> bool:
        if done == everything:
            return True
        if (done, state) in dead:
            return False
        left = [number for number in range(len(every)) if not done >> number & 1]
        first_end = min(every[number].ended for number in left)
        for number in left:
            one = every[number]
            if one.begun > first_end:
                break
            for then in after(state, one):
                order.append(one)
                if search(done | 1 << number, then):
                    return True
                order.pop()
        dead.add((done, state))
        return False

    return order if search(0, start) else None


def told(operations: Iterable[Operation]) -> str:
    """A history to be read."""
    return "\n".join(
        f"{one.begun:4}-{one.ended:<4} {one.client:10} {one.asked} -> {one.heard}"
        for one in sorted(operations)
    )
