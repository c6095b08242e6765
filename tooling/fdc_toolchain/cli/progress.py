"""What a user sees of a run while it goes: one live line in a terminal, a line a step in a pipe.

Everything that tools or plans say is shown with its hidden characters escaped.
"""

from __future__ import annotations

import shutil
import threading
import time
from typing import Any

import click

from ..engine.events import Outcome, Perform
from ..engine.values import text as written
from ..report.amounts import duration
from ..report.cells import cut, visible
from ..report.style import PLAIN, Style

_WHEEL = "|/-\\"
_TICK = 0.2
_SLOW = 0.05


class Quiet:
    """Shows what the plan tells its user, and nothing else. The base of the others: keeps count."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.steps = 0
        self.running: dict[str, Perform] = {}
        self.wrote: dict[str, None] = {}
        self._held: list[str] | None = None

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
            if outcome.failure is None and isinstance(value, dict) and "bytes" in value and "path" in value:
                self.wrote[str(value["path"])] = None

    def say(self, text: str) -> None:
        """Port `Progress`: the plan's own words, each line of them made safe to show."""
        for line in text.rstrip("\n").split("\n"):
            self.line(visible(line.rstrip("\r")))

    def ask(self, question: str) -> str | None:
        """The answer of whoever sits at the terminal; None where nobody does.

        Meanwhile the run goes on elsewhere; what it has to show waits for the answer.
        """
        import sys

        if not sys.stdin.isatty() or not sys.stdout.isatty():
            return None
        with self.lock:
            self.line(visible(question))
            self._held = []
        try:
            return input("> ")
        except EOFError:
            return None
        finally:
            with self.lock:
                held, self._held = self._held or [], None
                for line in held:
                    self.line(line)

    def line(self, text: str) -> None:
        """Shows a line that stays. A reader who has left (`| head`) does not stop the run."""
        with self.lock:
            if self._held is not None:
                self._held.append(text)
                return
            self._erase()
            self._put(text + "\n")

    def _put(self, text: str) -> None:
        try:
            click.echo(text, nl=False)
        except BrokenPipeError:
            import os
            import sys

            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

    def _erase(self) -> None:
        """Makes room for a line that stays."""

    def close(self) -> None:
        """Takes away what is not meant to stay."""


class Silent(Quiet):
    """Shows nothing at all; for output that a program reads. `said` keeps the plan's words."""

    def __init__(self) -> None:
        super().__init__()
        self.said: list[str] = []

    def say(self, text: str) -> None:
        self.said.append(text)

    def ask(self, question: str) -> str | None:
        return None


class Lines(Quiet):
    """A plain line for each effect that came back."""

    def __init__(self, style: Style = PLAIN) -> None:
        super().__init__()
        self.style = style

    def done(self, effect: Perform, outcome: Outcome, took: float) -> None:
        with self.lock:
            super().done(effect, outcome, took)
            if effect.kind == "tool" or outcome.failure is not None:
                self.line(step_line(effect, outcome, took, self.style))


class Live(Lines):
    """One line at the bottom that says what is going on; steps outside of loops stay above it."""

    def __init__(self, style: Style) -> None:
        super().__init__(style)
        self._started = time.monotonic()
        self._drawn = False
        self._over = threading.Event()
        self._turn = 0
        self._ticker = threading.Thread(target=self._tick, name="fdc-progress", daemon=True)
        self._ticker.start()

    def done(self, effect: Perform, outcome: Outcome, took: float) -> None:
        with self.lock:
            Quiet.done(self, effect, outcome, took)
            inside = "[" in effect.address or "#" in effect.address
            if outcome.failure is not None or (effect.kind == "tool" and not inside):
                self.line(step_line(effect, outcome, took, self.style, shutil.get_terminal_size().columns))

    def close(self) -> None:
        self._over.set()
        with self.lock:
            self._erase()

    def _tick(self) -> None:
        while not self._over.wait(_TICK):
            with self.lock:
                if not self._over.is_set() and self._held is None:
                    self._draw()

    def _draw(self) -> None:
        self._turn += 1
        seconds = int(time.monotonic() - self._started)
        running = list(self.running.values())
        now = f"  {running[-1].tool} {arguments(running[-1].args)} ({running[-1].address})" if running else ""
        several = f", {len(running)} at once" if len(running) > 1 else ""
        text = f"{_WHEEL[self._turn % 4]} {self.steps} steps{several}, {seconds // 60}:{seconds % 60:02}{now}"
        width = max(20, shutil.get_terminal_size().columns - 1)
        self._put("\r\x1b[2K" + cut(visible(text), width))
        self._drawn = True

    def _erase(self) -> None:
        if self._drawn:
            self._put("\r\x1b[2K")
            self._drawn = False


def step_line(effect: Perform, outcome: Outcome, took: float, style: Style = PLAIN, width: int = 0) -> str:
    """One effect in one line: how it went, where it stands, what it was."""
    mark = style.paint("added", "ok    ") if outcome.failure is None else style.paint("error", "failed")
    what = f"{effect.tool} {arguments(effect.args)}".rstrip()
    late = f"  {duration(took)}" if took >= _SLOW else ""
    why = f": {outcome.failure.message}" if outcome.failure is not None else ""
    place = f"{effect.address:<10}"
    text = visible(f"{place} {what}{late}{why}")
    return f"{mark} {cut(text, width - 7) if width > 40 else text}"


def arguments(args: dict[str, Any], most: int = 72) -> str:
    """A step's arguments in a few words: the first line of each, shortened."""
    shown = []
    texts = [written(value) for value in args.values() if value is not None]
    for whole in sorted(texts, key=lambda one: "\n" in one):  # what fits on a line says more than the head of a block
        line = whole.strip().split("\n", 1)[0]
        shown.append(line if len(line) <= 60 else line[:57] + "...")
    return cut(visible(" ".join(shown)), most)


def progress(form: str, quiet: bool, style: Style, terminal: bool) -> Quiet:
    """The one that fits the output."""
    if form == "json":
        return Silent()
    if quiet:
        return Quiet()
    return Live(style) if terminal else Lines(style)
