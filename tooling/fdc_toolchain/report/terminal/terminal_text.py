"""Texts for a terminal: escapes of control and hidden characters, and widths.

Every character that cannot be seen, moves the cursor, changes colours or reorders the line is
written as `\\u{HEX}`, so that a report shows it and the terminal does not execute it (ANSI, bidi and
zero-width characters in plans and tool output). `##[` is broken up too, because a CI runner
reads a command there wherever it stands in a line.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

TAB = 4

_EMOJI = "\ufe0f"
"""The variation selector for the emoji form of the character before it, which is two columns wide."""

_BLANK = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\ufe0e\ufe0f\uffa0"
)
"""Characters that Unicode calls printable, but that show nothing."""

_MARKS = 4
"""Maximum combining marks on one letter that are shown; more would draw over other lines."""


def _escaped(character: str) -> str:
    return f"\\u{{{ord(character):x}}}"


def _hidden(character: str) -> bool:
    if not character.isprintable():
        return character != "\u3000"  # the wide space of East Asian texts is harmless
    return character in _BLANK or "\U000e0100" <= character <= "\U000e01ef"


def plain(text: str) -> bool:
    """Whether the text is shown as it is, each character in a column of its own."""
    return text.isascii() and text.isprintable() and "##[" not in text


def visible(text: str) -> str:
    """The text in one line with every hidden character escaped, tabs and line ends included."""
    if plain(text):
        return text
    return "".join(shown for shown, _ in cells(text, tab=0))


def cells(text: str, *, start: int = 0, tab: int = TAB) -> list[tuple[str, int]]:
    """For each character, what is shown for it and how many columns that takes.

    Tabs are expanded as if the text began in column `start`, or escaped where `tab` is 0. A
    combining mark without a base character gets a dotted circle.
    """
    if plain(text):
        return [(c, 1) for c in text]
    from unicodedata import category, east_asian_width

    out: list[tuple[str, int]] = []
    column, marks, base = start, 0, ""
    for index, c in enumerate(text):
        shown, width = c, 1
        if c >= "\u0300" and (category(c) in ("Mn", "Me") and c not in _BLANK or c == _EMOJI):
            marks += 1
            if c == _EMOJI and marks == 1 and (base > "\u2000" or base in tuple("#*0123456789")):
                width = 1 if out[-1][1] == 1 else 0
            elif c == _EMOJI or marks > _MARKS or _hidden(c):
                shown = _escaped(c)
                width = len(shown)
            elif base:
                width = 0
            else:
                shown, base = "\u25cc" + c, c
            out.append((shown, width))
            column += width
            continue
        if c == "\t" and tab:
            width = tab - column % tab
            shown = " " * width
        elif _hidden(c) or (c == "[" and text[max(0, index - 2) : index] == "##"):
            shown = _escaped(c)
            width = len(shown)
        elif c >= "\u1100" and east_asian_width(c) in "WF":
            width = 2
        marks, base = 0, "" if c == "\t" else c
        out.append((shown, width))
        column += width
    return out


def columns(text: str) -> int:
    """How many columns the text takes when it is shown by `visible`."""
    if text.isascii() and text.isprintable() and "##[" not in text:
        return len(text)
    return sum(width for _, width in cells(text, tab=0))


def wrapped(text: str, width: int, *, first: int = 0) -> list[str]:
    """The text broken between words into lines of at most `width` columns (0: one line). Long words stay whole.

    `first` columns of the first line are taken already.
    """
    if not width or first + columns(text) <= width:
        return [text]
    lines, line, used = [], "", first
    for word in text.split(" "):
        size = columns(word)
        if line and used + 1 + size > width:
            lines.append(line)
            line, used = word, size
        else:
            used += size + (1 if line else 0)
            line = f"{line} {word}" if line else word
    lines.append(line)
    return lines


MOST_FRAGMENTS = 20
"""Fragments that get a line each."""


def fragment_lines(fragments: Iterable[tuple[str, str]], width: int) -> str:
    """A line for each of the first plans that are only fragments: its path and what is said of it, broken at `width` columns
    (0: nowhere); then how many there are besides."""
    said = [f"{path}: {message}" for path, message in fragments]
    more = len(said) - MOST_FRAGMENTS
    if more > 1:
        said[MOST_FRAGMENTS:] = [f"and {more} more fragments (`--format json` lists them)"]
    rows = (wrapped(visible(one), width - 2 if width else 0) for one in said)
    return "".join("\n  ".join(lines) + "\n" for lines in rows)


def cut(text: str, width: int) -> str:
    """Visible text, shortened with `...` where it is wider than `width`."""
    if columns(text) <= width:
        return text
    out, used = [], 3
    for shown, size in cells(text, tab=0):
        used += size
        if used > width:
            break
        out.append(shown)
    return "".join(out) + "..."


def folded(text: str, width: int) -> str:
    """Coloured lines; those wider than `width` (0: no limit) are broken between words, with continuation lines indented."""
    return "\n".join(_folded(line, width) for line in text.split("\n")) if width else text


def _folded(line: str, width: int) -> str:
    import re

    def long(text: str) -> int:
        return columns(re.sub(r"\x1b\[[0-9;]*m", "", text))

    if long(line) <= width:
        return line
    start = len(line) - len(line.lstrip(" "))
    margin = " " * min(start + 2, width // 2)
    rows, row, used = [], line[:start], start
    words: list[str] = []
    for piece in line[start:].split(" "):
        if words and words[-1].count("`") % 2:
            words[-1] += f" {piece}"  # a command stays whole, so that it can be copied
        else:
            words.append(piece)
    for number, word in enumerate(words):
        size = long(word)
        if number and used + 1 + size > width:
            rows.append(row.rstrip(" "))
            row, used = margin + word, len(margin) + size
        else:
            row, used = (f"{row} {word}", used + 1 + size) if number else (row + word, used + size)
    return "\n".join([*rows, row])
