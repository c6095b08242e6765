"""Observers of a running run. Those of the command line (`console.progress`) show it; these show nothing."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..engine.events import Outcome, Perform
from ..report.exit_codes import exit_code

if TYPE_CHECKING:
    from ..engine.state import RunState


class Observer:
    """The base class: counts steps, and keeps running steps, written files and failed commands. Shows nothing."""

    marks = False
    """Whether it shows gates, branches and calls that have no effect."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.steps = 0
        self.running: dict[str, Perform] = {}
        self.wrote: dict[str, None] = {}
        self.failed_commands: list[dict[str, Any]] = []
        self.last_output: tuple[str, str] | None = None
        """The address and the output of the last command, if it failed."""

    def watch(self, state: RunState) -> None:
        """Sets the run that is about to be driven, from which views read budgets."""

    def begun(self, effect: Perform) -> None:
        """Port `Progress`."""
        with self.lock:
            self.running[effect.address] = effect

    def done(self, effect: Perform, outcome: Outcome, took: float) -> None:
        """Port `Progress`."""
        with self.lock:
            self.running.pop(effect.address, None)
            if effect.kind == "tool":
                self.steps += 1
            value = outcome.value
            code = exit_code(value)
            if code:
                self.failed_commands.append(
                    {"address": effect.address, "tool": effect.tool, "exit_code": code}
                )
            output = value if outcome.failure is None else outcome.notes
            if isinstance(output, dict) and isinstance(output.get("output"), str):
                failed = bool(code) or outcome.failure is not None
                self.last_output = (effect.address, output["output"]) if failed else None
            if (
                outcome.failure is None
                and isinstance(value, dict)
                and "bytes" in value
                and "path" in value
            ):
                self.wrote[str(value["path"])] = None

    def say(self, text: str) -> None:
        """Port `Progress`: the plan's own words."""

    def ask(self, question: str, above: Sequence[str] = ()) -> str | None:
        """The answer of a person; None if a person cannot be asked now. `above`: lines that are shown first."""
        return None

    def line(self, text: str) -> None:
        """Shows a permanent line."""

    def close(self) -> None:
        """Removes what is not permanent."""


class Silent(Observer):
    """For output that a program reads: `said` keeps the plan's words."""

    def __init__(self) -> None:
        super().__init__()
        self.said: list[str] = []

    def say(self, text: str) -> None:
        self.said.append(text)
