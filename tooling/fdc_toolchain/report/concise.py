"""One finding a line: `path:line:col: severity[CODE] message (rule)`, for editors, grep and agents."""

from __future__ import annotations

from ..text.diagnostic import Diagnostic
from .cells import visible
from .style import PLAIN, Style


def render(diagnostics: list[Diagnostic], style: Style = PLAIN) -> str:
    """A line for each finding, in order; nothing where there are none."""
    return "".join(one(item, style) + "\n" for item in diagnostics)


def one(item: Diagnostic, style: Style = PLAIN) -> str:
    """The finding in one line, without the line end."""
    place = visible(str(item.span))
    if place.startswith("::"):  # a CI runner would read a command here
        place = "./" + place
    code = style.paint(item.severity, f"{item.severity}[{item.code}]")
    return f"{place}: {code} {visible(item.message)} {style.paint('faint', f'({item.rule})')}"
