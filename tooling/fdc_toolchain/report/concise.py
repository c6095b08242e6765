"""One finding a line: `path:line:col: severity[CODE] message (rule)`, for editors, grep and agents."""

from __future__ import annotations

from ..diagnostics.diagnostic import Diagnostic
from .report import Report
from .terminal.style import PLAIN, Style
from .terminal.terminal_text import visible


def render(report: Report) -> str:
    """A line for each finding and fragment, and where they are listed for each assumption; then the verdict, if no errors."""
    parts = report.parts
    shown = [item for item in report.found if report.listed or item.severity != "assumption"]
    text = "".join(finding_line(item, report.style) + "\n" for item in shown)
    errors = any(item.severity == "error" for item in parts.findings)
    assumed = parts.assumptions or report.uncounted or parts.fragments
    if assumed if not parts.findings else (report.checked and not errors):
        text += f"{report.verdict(parts)}\n"
    return text


def finding_line(item: Diagnostic, style: Style = PLAIN) -> str:
    """The finding in one line, without the line end."""
    place = visible(str(item.span))
    if place.startswith("::"):  # a CI runner would read a command here
        place = "./" + place
    code = style.paint(item.severity, f"{item.severity}[{item.code}]")
    return f"{place}: {code} {visible(item.message)} {style.paint('faint', f'({item.rule})')}"
