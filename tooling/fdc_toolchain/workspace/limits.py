"""What a catalogue says about how a tool is used: `"limits": {"seconds", "retries", "at_once", "per_minute"}`.

They hold for all branches of one run. A trouble that passes is tried again after a pause that doubles
and is spread by chance; only what may happen twice and costs nothing is, and the catalogue's schema
refuses `retries` and `seconds` for anything else.
"""

from __future__ import annotations

import random
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

from ..engine.events import Outcome
from ..engine.ports import Cancelled, Interrupted, WorldFailed
from ..program.model import ToolRow
from .failure import ToolFailure

PASSES = frozenset(("timeout", "net", "busy"))
"""Kinds of failure that may be gone a moment later."""

LONGEST = 30.0
"""Seconds of the longest pause between two attempts."""

_SLICE = 0.05
"""Seconds between two looks at whether the controller leaves."""


class Limits:
    """The limits of a run's tools. `leaving` ends every wait with Cancelled."""

    def __init__(
        self,
        leaving: Callable[[], bool],
        clock: Callable[[], float] = time.monotonic,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self._leaving = leaving
        self._clock = clock
        self._pause = pause
        self._changed = threading.Condition()
        self._busy: dict[str, int] = {}
        self._began: dict[str, deque[float]] = {}

    def perform(self, tool: str, declared: ToolRow, attempt: Callable[[], Outcome]) -> Outcome:
        """The outcome of the first attempt that does not fail in passing, with a note of those that did.

        Raises what the last one raises: ToolFailure, WorldFailed, Cancelled and the like.
        """
        limits = declared.get("limits")
        if not limits:
            return attempt()
        again = (
            0
            if declared.get("cost") or declared.get("effect") == "once"
            else limits.get("retries", 0)
        )
        troubles: list[str] = []
        while True:
            try:
                outcome = self._once(tool, limits, attempt)
                if (
                    outcome.failure is None
                    or outcome.failure.kind not in PASSES
                    or len(troubles) == again
                ):
                    return _noted(outcome, troubles)
                trouble = f"{outcome.failure.kind}: {outcome.failure.message}"
            except ToolFailure as failed:
                if failed.kind not in PASSES or len(troubles) == again:
                    if troubles:
                        failed.notes = {**(failed.notes or {}), **_notes(troubles)}
                    raise
                trouble = f"{failed.kind}: {failed}"
            except WorldFailed as failed:
                if len(troubles) == again:
                    raise
                trouble = f"world: {failed}"
            troubles.append(trouble[:200])
            self._wait(random.uniform(0.5, 1.0) * min(0.5 * 2.0 ** len(troubles), LONGEST))

    def _once(
        self, tool: str, limits: Mapping[str, Any], attempt: Callable[[], Outcome]
    ) -> Outcome:
        self._enter(tool, limits)
        seconds = limits.get("seconds")
        if seconds is None:
            try:
                return attempt()
            finally:
                self._leave(tool)
        found: list[Any] = []

        def work() -> None:
            try:
                found.append(attempt())
            except BaseException as raised:
                found.append(raised)
            finally:
                self._leave(tool)  # one that was given up counts as long as it goes on

        thread = threading.Thread(target=work, name=f"fdc {tool}", daemon=True)
        thread.start()
        deadline = self._clock() + seconds
        while thread.is_alive() and not found:
            left = deadline - self._clock()
            if left <= 0:
                raise ToolFailure(
                    "timeout", f"`{tool}` took longer than {seconds:g} s and was stopped"
                )
            if self._leaving():
                raise Cancelled("the controller leaves")
            thread.join(min(left, _SLICE))
        if isinstance(found[0], BaseException):
            raise found[0]
        outcome: Outcome = found[0]
        return outcome

    def _enter(self, tool: str, limits: Mapping[str, Any]) -> None:
        """Returns when the tool may be used, and counts the use."""
        at_once, per_minute = limits.get("at_once"), limits.get("per_minute")
        while True:
            with self._changed:
                now = self._clock()
                began = self._began.setdefault(tool, deque())
                while began and began[0] <= now - 60:
                    began.popleft()
                full = at_once is not None and self._busy.get(tool, 0) >= at_once
                often = per_minute is not None and len(began) >= per_minute
                if not full and not often:
                    self._busy[tool] = self._busy.get(tool, 0) + 1
                    if per_minute is not None:
                        began.append(now)
                    return
                if full:
                    self._changed.wait(_SLICE)
                    until = now
                else:
                    until = began[0] + 60
            self._wait(until - now)

    def _leave(self, tool: str) -> None:
        with self._changed:
            self._busy[tool] -= 1
            self._changed.notify_all()

    def _wait(self, seconds: float) -> None:
        deadline = self._clock() + seconds
        while True:
            if self._leaving():
                raise Interrupted("the controller leaves", begun=False)
            left = deadline - self._clock()
            if left <= 0:
                return
            self._pause(min(left, _SLICE))


def _notes(troubles: list[str]) -> dict[str, Any]:
    return {"tries": len(troubles) + 1, "troubles": troubles}


def _noted(outcome: Outcome, troubles: list[str]) -> Outcome:
    return (
        outcome._replace(notes={**(outcome.notes or {}), **_notes(troubles)})
        if troubles
        else outcome
    )
