"""The colours and the width of the terminal, and what is printed there."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..report.terminal.style import Style


def width(*, to_file: bool = False, err: bool = False) -> int:
    """The columns of the terminal, or 0 where nothing is wrapped (a pipe, a file). `err`: of that which stderr is."""
    if not _is_terminal(to_file, err):
        return 0
    try:
        return os.get_terminal_size((sys.stderr if err else sys.stdout).fileno()).columns
    except OSError:
        return 80


def _is_terminal(to_file: bool, err: bool = False) -> bool:
    stream = sys.stderr if err else sys.stdout
    return (
        not to_file and stream is not None and stream.isatty() and os.environ.get("TERM") != "dumb"
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

    click.echo(folded(text, width(err=err)), err=err)


def say_json(value: Mapping[str, object]) -> None:
    """Prints an object as JSON, for a program that reads it. `format` is the version of its form, 1 unless it says another."""
    import json

    import click

    click.echo(json.dumps({"format": 1, **value}, indent=2))
