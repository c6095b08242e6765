"""Handles Ctrl-C and termination signals so that a run is left in a clean state."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_left_ignored: set[int] = set()
"""Signals that are ignored since an interrupt: a program that goes on can interrupt its next run, too."""


@contextmanager
def interruptible() -> Iterator[bool]:
    """Context in which Ctrl-C, SIGTERM and SIGHUP leave a run cleanly; yields whether the handlers are installed.

    The first signal starts the clean-up, which takes at most a few seconds. Signals that follow
    closely are ignored, so that repeated Ctrl-C does not interrupt it. A signal that was ignored when
    the process started (`nohup`) stays ignored.
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
            if which in _left_ignored or signal.getsignal(which) is not signal.SIG_IGN:
                before[which] = signal.signal(which, leave)
    except ValueError:
        pass  # not the main thread: the embedding program handles signals
    try:
        yield bool(before)
    finally:
        for number, handler in before.items():
            # After an interrupt the process is about to end; another signal must not make that look like a crash.
            signal.signal(number, (handler or signal.SIG_DFL) if heard < 0 else signal.SIG_IGN)
            if heard >= 0:
                _left_ignored.add(number)
