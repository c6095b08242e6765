"""Ends a worker on request (Ctrl-C, SIGTERM, SIGHUP), whatever it is doing.

Before it takes runs there is nothing to hand over: the main thread is interrupted wherever it is. Afterwards it is told
(`asked`), and hands over what it drives. A handler in Python runs only when the main thread comes back from what it calls,
and that may be a name server or a server that says nothing; so a thread of its own hears of the signal too (the byte that
the kernel's handler writes), and ends the process where the main thread has not after `grace` seconds. A signal that was
ignored when the worker started (`nohup`) stays ignored.
"""

from __future__ import annotations

import os
import signal
import socket
import threading
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Asked(BaseException):
    """The worker was asked to end before it took any run."""


class Requests:
    """Requests that this process ends. Made by the main thread."""

    def __init__(self, grace: float) -> None:
        self._grace = grace
        self.own = False
        """Whether the worker itself asked, and no signal."""
        self._serving = False
        self._asked = threading.Event()
        self._over = threading.Event()
        hears, tells = socket.socketpair()
        tells.setblocking(False)
        self._sockets = hears, tells
        signal.set_wakeup_fd(tells.fileno(), warn_on_full_buffer=False)
        threading.Thread(target=self._guard, args=(hears,), name="fdc-asked", daemon=True).start()
        for which in SIGNALS:
            if signal.getsignal(which) is not signal.SIG_IGN:
                signal.signal(which, self._hear)

    def serving(self) -> None:
        """From now on, a request only makes `wait` return. Raises Asked if there was a request before."""
        self._serving = True
        if self._asked.is_set():
            raise Asked

    def wait(self) -> None:
        """Returns when the worker is asked to end."""
        self._asked.wait()

    def end(self) -> None:
        """Asks for the end from a thread of the worker itself."""
        self.own = not self._asked.is_set()
        self._asked.set()

    def _hear(self, number: int, frame: FrameType | None) -> None:
        first = not self._asked.is_set()
        self._asked.set()
        if first and not self._serving:
            raise Asked

    def _guard(self, hears: socket.socket) -> None:
        while hears.recv(1)[0] not in SIGNALS:
            pass
        self._over.wait(self._grace)
        os._exit(0)
