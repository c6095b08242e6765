"""One finding a line: `path:line:col: severity[CODE] message (rule)`, for editors, grep and agents."""

from __future__ import annotations

from ..diagnostics.diagnostic import Diagnostic, parted
from ..diagnostics.verdict_line import verdict_line
from .terminal.style import PLAIN, Style
from .terminal.terminal_text import visible


def render(
    diagnostics: list[Diagnostic],
    style: Style = PLAIN,
    files_checked: int = 0,
    *,
    assumptions: bool = False,
    uncounted: int = 0,
    others: int = 0,
) -> str:
    """A line for each finding and fragment, and with `assumptions` for each assumption; then the verdict, if no errors."""
    parts = parted(diagnostics)
    shown = [item for item in diagnostics if assumptions or item.severity != "assumption"]
    text = "".join(finding_line(item, style) + "\n" for item in shown)
    assumed = len(parts.assumptions) + uncounted
    number, errors = len(parts.fragments), any(item.severity == "error" for item in parts.findings)
    if (assumed or number) if not parts.findings else (files_checked and not errors):
        line = verdict_line(files_checked, assumed, number, listed=assumptions, others=others)
        text += (line.removesuffix(", no findings") if parts.findings else line) + "\n"
    return text


def finding_line(item: Diagnostic, style: Style = PLAIN) -> str:
    """The finding in one line, without the line end."""
    place = visible(str(item.span))
    if place.startswith("::"):  # a CI runner would read a command here
        place = "./" + place
    code = style.paint(item.severity, f"{item.severity}[{item.code}]")
    return f"{place}: {code} {visible(item.message)} {style.paint('faint', f'({item.rule})')}"
