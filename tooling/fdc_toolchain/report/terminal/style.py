"""Colours and width of a report for people.

The caller decides (a terminal or not, NO_COLOR, `--color`) and passes a `Style`; nothing here
reads the environment. Only the eight basic colours are used, so that the terminal's theme decides
how they look on a light or a dark background; yellow and plain blue are not used, because
they are not legible on both.
"""

from __future__ import annotations

from ...named_tuples import NamedTuple

_RESET = "\x1b[0m"

_ROLES = {
    "error": "\x1b[1;31m",
    "warning": "\x1b[1;35m",
    "info": "\x1b[1;36m",
    "assumption": "\x1b[1;36m",
    "fragment": "\x1b[1;36m",
    "label": "\x1b[36m",
    "help": "\x1b[1;32m",
    "strong": "\x1b[1m",
    "faint": "\x1b[2m",
    "added": "\x1b[32m",
    "removed": "\x1b[31m",
    "hunk": "\x1b[36m",
}


class Style(NamedTuple):
    """`colour`: use colours; `width`: the terminal's columns, or 0 where nothing is wrapped (a pipe, a file)."""

    colour: bool = False
    width: int = 0

    def paint(self, role: str, text: str) -> str:
        """The text in the colour of its role, or as it is."""
        return f"{_ROLES[role]}{text}{_RESET}" if self.colour and text else text


PLAIN = Style()
