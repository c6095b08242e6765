"""The colours and the width of the terminal."""

from __future__ import annotations

import os
import sys

from ..report.terminal.style import Style


def style(color: object = None, *, to_file: bool = False) -> Style:
    """Colours for a terminal unless NO_COLOR is set; `color` is `always`, `never` or `auto` (FORCE_COLOR counts)."""
    terminal = (
        not to_file
        and sys.stdout is not None
        and sys.stdout.isatty()
        and os.environ.get("TERM") != "dumb"
    )
    if color == "always":
        colour = True
    elif color == "never" or os.environ.get("NO_COLOR"):
        colour = False
    else:
        colour = bool(os.environ.get("FORCE_COLOR")) or terminal
    width = 0
    if terminal:
        try:
            width = os.get_terminal_size(sys.stdout.fileno()).columns
        except OSError:
            width = 80
    return Style(colour, width)


def say(text: str, *, err: bool = False) -> None:
    """Prints a text; on a terminal, lines that are too long are broken between words."""
    import click

    from ..report.terminal.terminal_text import folded

    click.echo(folded(text, style().width), err=err)
