"""Turns at asking the same host or provider: each comes only after a pause, over all runs of this process."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable

from ...engine.ports import Cancelled

_SLICE = 0.05
_MOST = 1000
"""Names that are remembered: those that were asked last."""


class Turns:
    """When each name was last asked, and for how long it is left alone after that."""

    def __init__(self, clock: Callable[[], float], pause: Callable[[float], None]) -> None:
        self._clock = clock
        self._pause = pause
        self._lock = threading.Lock()
        self._next: OrderedDict[str, float] = OrderedDict()

    def wait(self, name: str, seconds: float, stop: Callable[[], bool]) -> None:
        """Returns when a name may be asked, and has it left alone for `seconds` from then. Raises Cancelled."""
        with self._lock:
            now = self._clock()
            turn = max(now, self._next.get(name, now))
            self._next[name] = turn + seconds
            self._next.move_to_end(name)
            while len(self._next) > _MOST:
                self._next.popitem(last=False)
        while (left := turn - self._clock()) > 0:
            if stop():
                raise Cancelled("the controller leaves")
            self._pause(min(left, _SLICE))
