"""The colours and the width of the terminal, and what is printed there."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..report.terminal.style import Style


def width(*, to_file: bool = False) -> int:
    """The columns of the terminal, or 0 where nothing is wrapped (a pipe, a file)."""
    if not _is_terminal(to_file):
        return 0
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns
    except OSError:
        return 80


def _is_terminal(to_file: bool) -> bool:
    return (
        not to_file
        and sys.stdout is not None
        and sys.stdout.isatty()
        and os.environ.get("TERM") != "dumb"
    )


def style(color: object = None, *, to_file: bool = False) -> Style:
    """Colours for a terminal unless NO_COLOR is set; `color` is `always`, `never` or `auto` (FORCE_COLOR counts)."""
    from ..report.terminal.style import Style

    if color == "always":
        colour = True
    elif color == "never" or os.environ.get("NO_COLOR"):
        colour = False
    else:
        colour = bool(os.environ.get("FORCE_COLOR")) or _is_terminal(to_file)
    return Style(colour, width(to_file=to_file))


def say(text: str, *, err: bool = False) -> None:
    """Prints a text; on a terminal, lines that are too long are broken between words."""
    import click

    from ..report.terminal.terminal_text import folded

    click.echo(folded(text, style().width), err=err)


def say_json(value: object) -> None:
    """Prints a value as JSON, for a program that reads it."""
    import json

    import click

    click.echo(json.dumps(value, indent=2))
