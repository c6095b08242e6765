"""Findings for an agent that repairs the plan: each with its repair in words, in at most `LIMIT` characters.

The most serious findings come first, then the order of the report. The last line counts those left out.
"""

from __future__ import annotations

from collections import Counter

from ..diagnostics.diagnostic import Diagnostic
from ..diagnostics.plural import plural
from .report import Report
from .terminal.terminal_text import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..diagnostics.diagnostic import Severity

LIMIT = 1500
"""Characters of the whole text, line ends counted."""

_PLACE, _MESSAGE, _REPAIR, _FOOT = 160, 360, 240, 120
"""Maximum characters of the parts of a finding, and of the last line."""

_ORDER: tuple[Severity, ...] = ("error", "warning", "info", "fragment", "assumption")


def render(report: Report) -> str:
    """The report; assumptions that are listed come after everything else."""
    parts, commands = report.parts, report.commands
    shown = [*parts.findings, *parts.fragments, *(parts.assumptions if report.listed else ())]
    shown.sort(key=lambda item: _ORDER.index(item.severity))  # stable: places stay in order
    lines = [report.verdict(parts)]
    if parts.findings:
        lines.insert(0, _head(parts.findings, commands))
        if not report.checked or any(item.severity == "error" for item in parts.findings):
            lines.pop()
    room = LIMIT - _FOOT - sum(len(line) + 1 for line in lines)
    for index, item in enumerate(shown):
        piece = _finding(item, commands)
        if len(piece) + 1 > room:
            lines.append(_left_out(shown[index:]))
            break
        lines.append(piece)
        room -= len(piece) + 1
    return "\n".join(lines) + "\n"


def _head(findings: list[Diagnostic], commands: bool) -> str:
    """How many findings there are, and the command that repairs what can be repaired."""
    line = f"{_counted(findings)}."
    safe = sum(item.fix is not None and item.fix.safe for item in findings)
    unsafe = sum(item.fix is not None for item in findings) - safe
    if not commands:
        return line
    if safe:
        line += f" `fdc lint --fix` applies {plural(safe, 'repair')}."
    if unsafe:
        line += (
            f" `fdc lint --fix --unsafe-fixes` applies {unsafe} {'more' if safe else ''}".rstrip()
        )
        line += "; check the result."
    return line


def _finding(item: Diagnostic, commands: bool) -> str:
    """A finding in one line, and in another what to do."""
    place = visible(str(item.span))
    if len(place) > _PLACE:
        place = "..." + place[3 - _PLACE :]
    if place.startswith("::"):  # a CI runner would read a command here
        place = "./" + place
    text = f"{place}: {item.severity} {item.code}: {_short(item.message, _MESSAGE)}"
    repair = _repair(item, commands)
    return f"{text}\n  repair: {repair}" if repair else text


def _repair(item: Diagnostic, commands: bool) -> str:
    if item.fix is not None:
        option = " (--fix)" if item.fix.safe else " (--fix --unsafe-fixes)"
        return _short(item.fix.title, _REPAIR) + (option if commands else "")
    return _short("; ".join((item.help or "").splitlines()), _REPAIR)


def _left_out(left: list[Diagnostic]) -> str:
    return f"left out: {_counted(left)}; repair these first, then lint again."


def _counted(items: list[Diagnostic]) -> str:
    numbers = Counter(item.severity for item in items)
    return ", ".join(plural(numbers[kind], kind) for kind in _ORDER if numbers[kind])


def _short(text: str, most: int) -> str:
    """The visible text, shortened with `...`."""
    line = visible(text)
    return line if len(line) <= most else line[: most - 3] + "..."
