"""Ctrl-C, and requests to end, that leave a run cleanly."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def interruptible() -> Iterator[bool]:
    """While it lasts, Ctrl-C and requests to end (SIGTERM, SIGHUP) leave a run cleanly; yields whether that is so.

    The first one begins that, which takes a few seconds at most; those that follow it closely are
    not heard, or an impatient finger would leave half of the work undone.
    """
    from ..engine.drive import GRACE

    heard = -1e9

    def leave(number: int, frame: object) -> None:
        nonlocal heard
        before_last, heard = heard, time.monotonic()
        if heard - before_last > GRACE + 1:
            raise KeyboardInterrupt

    before: dict[int, Any] = {}
    try:
        for which in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            before[which] = signal.signal(which, leave)
    except ValueError:
        pass  # not the main thread: the embedding program handles signals
    try:
        yield bool(before)
    finally:
        for number, handler in before.items():
            # Interrupted, the process is about to end; one more signal must not make that look like a crash.
            signal.signal(number, (handler or signal.SIG_DFL) if heard < 0 else signal.SIG_IGN)
