"""The live display of a run in a terminal: permanent lines, and below them a tree of running steps and the budget.

The tree is redrawn five times a second and removed at the end. It always fits into the terminal.
"""

from __future__ import annotations

import re
import shutil
import threading
import time
from collections.abc import Iterable
from typing import TYPE_CHECKING

from ...console.progress import Json, Lines, Quiet, arguments, step_line
from ...engine.events import Outcome, Perform
from ...named_tuples import NamedTuple
from ...report.amounts import duration, number
from ...report.exit_codes import exit_code
from ...report.terminal.style import PLAIN, Style
from ...report.terminal.terminal_text import columns, cut, visible
from ...runs.observer import Observer

if TYPE_CHECKING:
    from ...engine.events import Mark
    from ...engine.state import RunState

_WHEEL = "|/-\\"
_TICK = 0.2
_ROWS = 16
_NARROW = 30
_FRAME = re.compile(r"#\d+|\[\d+\]|>.+?(?=/\d|$)")
_SPENT = 0.8
_ROUND = re.compile(r"[\[#]")
_KEPT = 24
"""Maximum number of permanent lines for a loop or fork of the main plan."""


class Doing(NamedTuple):
    """A running effect, and its duration in seconds."""

    effect: Perform
    seconds: float


class Budget(NamedTuple):
    """A budget limit: the spent amount, and the amount reserved for running steps."""

    measure: str
    spent: float
    reserved: float
    most: float


class Live(Lines):
    """The live display. Steps stay above it; of a loop or fork only the first, the failed ones, and the number of the others."""

    def __init__(self, style: Style) -> None:
        super().__init__(style)
        self._started = time.monotonic()
        self._since: dict[str, float] = {}
        self._state: RunState | None = None
        self._drawn: list[int] = []
        self._over = threading.Event()
        self._turn = 0
        self._loop, self._inside = "", 0
        self._ticker = threading.Thread(target=self._tick, name="fdc-progress", daemon=True)
        self._ticker.start()

    def watch(self, state: RunState) -> None:
        """Reads budgets, and only those, from the driver's state."""
        self._state = state
        super().watch(state)

    def begun(self, effect: Perform) -> None:
        """Port `Progress`."""
        with self.lock:
            super().begun(effect)
            self._since[effect.address] = time.monotonic()

    def done(self, effect: Perform, outcome: Outcome, took: float) -> None:
        """Port `Progress`."""
        with self.lock:
            self._since.pop(effect.address, None)
            super().done(effect, outcome, took)

    def step(self, effect: Perform, outcome: Outcome, took: float) -> None:
        failed = outcome.failure is not None or bool(exit_code(outcome.value))
        if self._stays(effect.address, failed):
            width = shutil.get_terminal_size().columns
            self.line(step_line(effect, outcome, took, self.style, width))

    def passed(self, mark: Mark) -> None:
        if self._stays(mark.address):
            super().passed(mark)

    def _stays(self, address: str, failed: bool = False) -> bool:
        """Whether a line is permanent. Of a loop or fork, only the first lines are; the others are counted at its end."""
        where, *inside = _ROUND.split(address, maxsplit=1)
        if not inside:
            self._loop_ended()
            return True
        if where != self._loop:
            self._loop_ended()
            self._loop = where
        self._inside += not failed
        return failed or self._inside <= _KEPT

    def _loop_ended(self) -> None:
        more = self._inside - _KEPT
        if more > 0:
            text = f"       {more} more lines of {visible(self._loop)}, without failures: `fdc show` lists them"
            self.line(self.style.paint("faint", text))
        self._loop, self._inside = "", 0

    def close(self) -> None:
        """Removes the display."""
        self._over.set()
        with self.lock:
            super().close()
            self._loop_ended()
            self._erase()

    def _tick(self) -> None:
        while not self._over.wait(_TICK):
            with self.lock:
                if not self._over.is_set() and self._held is None:
                    self._draw()

    def _draw(self) -> None:
        self._turn += 1
        now = time.monotonic()
        size = shutil.get_terminal_size()
        doing = [
            Doing(effect, now - self._since.get(address, now))
            for address, effect in self.running.items()
        ]
        head = f"{_WHEEL[self._turn % 4]} {number(self.steps)} steps, {clock(now - self._started)}"
        rows = picture(
            head, doing, self._budgets(), size.columns - 1, min(size.lines - 2, _ROWS), self.style
        )
        self._erase()
        self._put("\n".join(text for text, _ in rows))
        self._drawn = [width for _, width in rows]

    def _budgets(self) -> list[Budget]:
        state = self._state
        if state is None:
            return []
        taken = time.monotonic() - self._started
        return [
            Budget(
                name, round(max(state.elapsed, taken)) if name == "seconds" else state.spent.get(name, 0),
                state.reserved.get(name, 0), most,
            )
            for name, most in list(state.budget.items())
        ]  # fmt: skip

    def _erase(self) -> None:
        if self._drawn:
            wide = max(
                1, shutil.get_terminal_size().columns
            )  # a terminal that became narrower has wrapped lines
            up = sum(max(1, -(-width // wide)) for width in self._drawn) - 1
            self._put("\r" + (f"\x1b[{up}A" if up else "") + "\x1b[J")
            self._drawn = []


def picture(
    head: str,
    doing: Iterable[Doing],
    budgets: Iterable[Budget],
    width: int,
    height: int,
    style: Style = PLAIN,
) -> list[tuple[str, int]]:
    """The lines of the display, each with its width: the head with the budgets, and the tree of frames.

    A frame (a called plan, a round, a branch) has its own line only if several steps run in it.
    """
    room = max(8, width)
    bars = [
        (f"{budget.measure} {number(budget.spent)}/{number(budget.most)}", budget)
        for budget in budgets
    ]
    first: list[tuple[str, str]] = [(head, "")]
    rest: list[tuple[str, str]] = []
    used = columns(head)
    for text, bar in bars:
        role = (
            "error"
            if bar.spent + bar.reserved >= bar.most
            else "warning"
            if bar.spent >= _SPENT * bar.most
            else "faint"
        )
        if used + 2 + columns(text) <= room and not rest:
            first.append(("  " + text, role))
            used += 2 + columns(text)
        else:
            rest.append((text, role))
    lines = [_line(first, room, style)]
    if rest and room >= _NARROW:
        lines.append(_line([("  " + ", ".join(text for text, _ in rest), "faint")], room, style))
    tree = _tree(sorted(doing, key=lambda active: _natural(active.effect.address)))
    free = max(1, height - len(lines))
    more = len(tree) - free
    if more > 0:
        tree = tree[: free - 1]
    for indent, text, seconds in tree:
        late = f"  {duration(seconds)}" if seconds >= 1 else ""
        keep = room - len(indent) - len(late)
        lines.append(
            _line(
                [(indent, "faint"), (cut(visible(text), max(4, keep)), ""), (late, "faint")],
                room,
                style,
            )
        )
    if more > 0:
        lines.append(_line([(f"  and {more + 1} lines more", "faint")], room, style))
    return lines


def _line(parts: list[tuple[str, str]], room: int, style: Style) -> tuple[str, int]:
    whole = "".join(text for text, _ in parts)
    size = columns(whole)
    if size > room:
        whole = cut(whole, room)
        return whole, columns(whole)
    return "".join(style.paint(role, text) if role else text for text, role in parts), size


def _tree(doing: list[Doing]) -> list[tuple[str, str, float]]:
    """Indent, text and seconds of each line. A frame with one running step shares its line."""
    root = _Node("")
    for active in doing:
        at = root
        end = 0
        for found in _FRAME.finditer(active.effect.address):
            at = at.below.setdefault(active.effect.address[: found.end()], _Node(_name(found[0])))
            end = found.end()
        at.doing.append((active.effect.address[end:].lstrip("/"), active))
    out: list[tuple[str, str, float]] = []
    _lay(root, "  ", out)
    return out


def _natural(address: str) -> list[tuple[int, str]]:
    """A sort key that puts branch 9 before branch 10, so that lines keep their order."""
    return [
        (int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d+)", address)
    ]


class _Node:
    def __init__(self, name: str) -> None:
        self.name = name
        self.below: dict[str, _Node] = {}
        self.doing: list[tuple[str, Doing]] = []


def _lay(node: _Node, indent: str, out: list[tuple[str, str, float]]) -> None:
    for _, active in node.doing:
        out.append(
            (
                indent,
                f"{active.effect.tool} {arguments(active.effect.args)}".rstrip(),
                active.seconds,
            )
        )
    for below in node.below.values():
        names = [below.name]
        while not below.doing and len(below.below) == 1:
            below = next(iter(below.below.values()))
            names.append(below.name)
        said = " ".join(names)
        if len(below.doing) == 1 and not below.below:
            active = below.doing[0][1]
            out.append(
                (
                    indent,
                    f"{said}: {active.effect.tool} {arguments(active.effect.args)}".rstrip(),
                    active.seconds,
                )
            )
        else:
            out.append((indent, said, 0.0))
            _lay(below, indent + "  ", out)


def _name(frame: str) -> str:
    if frame[0] == ">":
        return frame[1:]
    return f"branch {frame[1:]}" if frame[0] == "#" else f"round {frame[1:-1]}"


def clock(seconds: float) -> str:
    """`0:07`, `61:05`."""
    return f"{int(seconds) // 60}:{int(seconds) % 60:02}"


def progress(form: str, quiet: bool, style: Style, terminal: bool) -> Observer:
    """The progress display for the output: live in a terminal, else lines."""
    if form == "json":
        return Json()
    if quiet:
        return Quiet()
    if not terminal:
        return Lines(style)
    return Live(style)
