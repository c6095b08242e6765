"""Runs that this server drives: each in a thread of its own, so that a call can return before its run ends.

A server that ends interrupts them (`leave`), so that their commands end and the record says so; `fdc resume` continues them.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from typing import Literal

from .. import api

MOST_DRIVES = 8
MOST_LEAVING = 7.0  # seconds until a server ends although a command of it does not

Outcome = Literal["done", "not-done"]
_NOTHING: Mapping[str, Outcome] = {}


class Drive(api.Watcher):
    """One drive of a run, and what is known of it so far."""

    def __init__(self, run: str) -> None:
        self.run = run
        self.done = threading.Event()
        self.result: api.RunResult | None = None
        self.trouble: api.FdcError | None = None
        self.steps = 0
        self.step = ""

    def began(self, step: api.Step) -> None:
        """A step was started."""
        self.step = f"{step.tool} ({step.path}:{step.line})"

    def ended(self, step: api.Step) -> None:
        """A step came back. Called from several threads; a step that is not counted is not harm to what is shown."""
        self.steps += 1


class Drives:
    """The drives of one workspace."""

    def __init__(self, root: str) -> None:
        self.root = root
        self._lock = threading.Lock()
        self._ending = threading.Event()
        self._live: dict[str, Drive] = {}

    def start(self, plan: str, inputs: Mapping[str, str]) -> Drive:
        """Begins a run, and drives it in a thread; a refusal leaves no record of it."""
        drive = Drive("")
        place = f"beginning {id(drive)}"
        with self._lock:
            self._room()
            self._live[place] = (
                drive  # other calls count it, so there is still room when it is begun
            )
        try:
            drive.run = api.begin(plan, workspace=self.root, inputs=inputs, at_once=True)
        finally:
            with self._lock:
                del self._live[place]
                if drive.run:
                    self._live[drive.run] = drive
                else:
                    drive.done.set()
        threading.Thread(target=self._drive, args=(drive, _NOTHING), daemon=True).start()
        return drive

    def go(self, run: str, said: Mapping[str, Outcome] = _NOTHING) -> Drive:
        """Drives a run in a thread, `said` what became of its steps; where this server drives it already, returns that drive."""
        with self._lock:
            live = self._live.get(run)
            if live is not None and not live.done.is_set():
                return live
            self._room()
            drive = self._live[run] = Drive(run)
        threading.Thread(target=self._drive, args=(drive, said), daemon=True).start()
        return drive

    def live(self, run: str) -> Drive | None:
        """The drive of a run that is under way here."""
        with self._lock:
            found = self._live.get(run)
        return None if found is None or found.done.is_set() else found

    def leave(self) -> None:
        """Interrupts all runs, and waits until that is on record, at most `MOST_LEAVING` seconds."""
        self._ending.set()
        late = time.monotonic() + MOST_LEAVING
        for drive in list(self._live.values()):
            drive.done.wait(max(0.0, late - time.monotonic()))

    def _room(self) -> None:
        self._live = {name: one for name, one in self._live.items() if not one.done.is_set()}
        if len(self._live) >= MOST_DRIVES:
            many = f"this server drives {MOST_DRIVES} runs already"
            raise api.RunBusy(f"{many}; ask for their status, and wait")

    def _drive(self, drive: Drive, said: Mapping[str, Outcome]) -> None:
        try:
            drive.result = api.resume(
                drive.run, workspace=self.root, assume=said, watcher=drive, leave=self._ending
            )
        except api.FdcError as trouble:
            drive.trouble = trouble
        finally:
            drive.done.set()
