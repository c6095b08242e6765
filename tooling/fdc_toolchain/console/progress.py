"""The progress of a run that a user sees: one line a step in a pipe; `cli.shared.live` is for terminals.

Everything that tools or plans say is shown with its hidden characters escaped.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from ..engine.events import Outcome, Perform
from ..engine.values import text as written
from ..program.causes import FINAL
from ..report.amounts import duration
from ..report.exit_codes import exit_code
from ..report.terminal.style import PLAIN, Style
from ..report.terminal.terminal_text import cut, visible
from ..runs.observer import Observer, Silent
from .terminal import say

if TYPE_CHECKING:
    from ..engine.events import Mark
    from ..engine.state import RunState

_SLOW = 0.05


class Quiet(Observer):
    """Shows only the messages of the plan to its user."""

    def __init__(self) -> None:
        super().__init__()
        self._held: list[str] | None = None

    def say(self, text: str) -> None:
        """Port `Progress`: the plan's own words, each line of them made safe to show."""
        for line in text.rstrip("\n").split("\n"):
            self.line(visible(line.rstrip("\r")))

    def ask(self, question: str, above: Sequence[str] = ()) -> str | None:
        """The answer of the person at the terminal; None without a terminal. `above`: lines that are shown first.

        The run continues meanwhile; its output waits for the answer.
        """
        import sys

        if not sys.stdin.isatty() or not sys.stdout.isatty():
            return None
        with self.lock:
            for line in above:
                self.line(f"  {visible(line)}")
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
        """Shows a permanent line. A closed pipe (`| head`) does not stop the run."""
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
        """Makes room for a permanent line."""

    def close(self) -> None:
        """Removes lines that are not permanent."""


class Aside(Quiet):
    """The plan's messages on stderr, because stdout is for the result. Asks no questions."""

    def say(self, text: str) -> None:
        """Port `Progress`: the plan's own words."""
        for line in text.rstrip("\n").split("\n"):
            say(visible(line.rstrip("\r")), err=True)

    def ask(self, question: str, above: Sequence[str] = ()) -> str | None:
        return None


class Json(Silent, Quiet):
    """For output that a program reads: shows only what commands print as a line. Asks no questions."""

    def ask(self, question: str, above: Sequence[str] = ()) -> str | None:
        return None


class Lines(Quiet):
    """A plain line for each effect that returned, and for each gate, branch and call that was passed."""

    marks = True

    def __init__(self, style: Style = PLAIN) -> None:
        super().__init__()
        self.style = style
        self._passed: list[Mark] = []

    def watch(self, state: RunState) -> None:
        with self.lock:
            self._passed = state.marks if state.marks is not None else []
            self._show_passed()

    def begun(self, effect: Perform) -> None:
        """Port `Progress`. Every effect that came back is shown by now: places that were passed after them come next."""
        with self.lock:
            self._show_passed()
            super().begun(effect)

    def done(self, effect: Perform, outcome: Outcome, took: float) -> None:
        with self.lock:
            super().done(effect, outcome, took)
            hint = (outcome.notes or {}).get("hint")
            if effect.kind == "tool" or outcome.failure is not None or hint:
                self.step(effect, outcome, took)
                if hint:
                    self.line(f"       {visible(hint)}")

    def close(self) -> None:
        with self.lock:
            self._show_passed()

    def step(self, effect: Perform, outcome: Outcome, took: float) -> None:
        """Shows an effect that returned."""
        self.line(step_line(effect, outcome, took, self.style))

    def passed(self, mark: Mark) -> None:
        """Shows a gate, branch or call that was passed without an effect."""
        self.line(mark_line(mark, self.style))

    def _show_passed(self) -> None:
        while self._passed:
            self.passed(self._passed.pop(0))


_MARKS = {
    "require": ("pass", "require"),
    "then": ("then", "if"),
    "else": ("else", "if"),
    "call": ("call", "call_plan"),
}
"""For each mark without an effect: the word in front, and the statement."""


def mark_line(mark: Mark, style: Style = PLAIN) -> str:
    """One gate, branch or call in one line."""
    word, statement = _MARKS[mark.what]
    text = visible(f"{mark.address:<10} {statement} ({mark.path}:{mark.line})")
    return f"{style.paint('faint', f'{word:<6}')} {text}"


def step_line(
    effect: Perform, outcome: Outcome, took: float, style: Style = PLAIN, width: int = 0
) -> str:
    """One effect in one line: its result, its address, its tool and arguments. A failed command counts as an error, and so
    does a failure that the plan gets as a value."""
    code, valued = exit_code(outcome.value), _valued(outcome.value)
    if outcome.failure is not None or valued:
        word, role = "failed", "error"
    else:
        word, role = (f"exit {code}", "error") if code else ("ok", "added")
    word = f"{word:<6}"
    mark = style.paint(role, word)
    call = f"{effect.tool} {arguments(effect.args)}".rstrip()
    if code == 0:
        call += "  exit 0"
    late = f"  {duration(took)}" if took >= _SLOW else ""
    reason = ""
    if outcome.failure is not None:
        reason = f": {outcome.failure.message}" + (
            "  (kept: only its branch ends)"
            if effect.alone and outcome.failure.kind not in FINAL
            else ""
        )
    elif valued:
        reason = f": {valued}  (a value: the plan goes on)"
    place = f"{effect.address:<10}"
    text = visible(f"{place} {call}{late}{reason}")
    return f"{mark} {cut(text, width - 1 - len(word)) if width > 40 else text}"


def _valued(value: Any) -> str:
    """Why a step failed whose tool gives its failures to the plan as values; empty where it did not."""
    return (
        str(value["why"]) if isinstance(value, dict) and value.keys() == {"failed", "why"} else ""
    )


def arguments(args: Mapping[str, object], most: int = 72) -> str:
    """A step's arguments in a few words: the first line of each, shortened."""
    shown = []
    texts = [written(value) for value in args.values() if value is not None]
    for text in sorted(
        texts, key=lambda text: "\n" in text
    ):  # texts of one line first: they say more than the first line of a block
        line = text.strip().split("\n", 1)[0]
        shown.append(line if len(line) <= 60 else line[:57] + "...")
    return cut(visible(" ".join(shown)), most)
