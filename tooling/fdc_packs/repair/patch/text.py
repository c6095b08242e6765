"""A text taken apart for patching and put together again: nothing that a patch does not touch changes by a byte.

Lines end at LF or CRLF and at nothing else: a form feed or U+2028 is a character of its line.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

BOM = "\ufeff"


class Edit(NamedTuple):
    """Lines `first` up to, not including, `stop` (from 0) give way to `lines`; equal numbers: a place between two lines.

    `ends`: how the new lines end; empty where no one said.
    """

    first: int
    stop: int
    lines: tuple[str, ...]
    ends: tuple[str, ...] = ()


class Text(NamedTuple):
    """`lines` without their `ends`; `final` is false where the last line is not ended (it has an end here all the same)."""

    bom: str
    lines: tuple[str, ...]
    ends: tuple[str, ...]
    final: bool


def take_apart(text: str, marked: bool = True) -> Text:
    """The lines of a text; `put_together` is its inverse. Without `marked` a byte order mark is a character of its line."""
    bom = BOM if marked and text.startswith(BOM) else ""
    *rows, last = text[len(bom) :].split("\n")
    final = not last
    lines = [row.removesuffix("\r") for row in rows]
    ends = ["\r\n" if row.endswith("\r") else "\n" for row in rows]
    if last:
        lines.append(last)
        ends.append(_usual(ends))
    return Text(bom, tuple(lines), tuple(ends), final)


def put_together(text: Text) -> str:
    """The text again."""
    ends = [*text.ends]
    if ends and not text.final:
        ends[-1] = ""
    return text.bom + "".join(line + end for line, end in zip(text.lines, ends, strict=True))


def edited(text: Text, edits: Sequence[Edit], final: bool | None = None) -> Text:
    """The text with its edits, which are sorted and apart. A new line ends as the one that it replaces, or as its neighbour.

    `final`: whether the last line is ended afterwards; as before where it is None.
    """
    usual = _usual(text.ends)
    lines: list[str] = []
    ends: list[str] = []
    at = 0
    for edit in edits:
        lines += text.lines[at : edit.first]
        ends += text.ends[at : edit.first]
        replaced = text.ends[edit.first : edit.stop]
        beside = replaced[-1] if replaced else text.ends[edit.first - 1] if edit.first else usual
        lines += edit.lines
        ends += edit.ends or [
            replaced[n] if n < len(replaced) else beside for n in range(len(edit.lines))
        ]
        at = edit.stop
    lines += text.lines[at:]
    ends += text.ends[at:]
    ended = text.final if final is None else final
    return Text(text.bom, tuple(lines), tuple(ends), ended or bool(lines and not lines[-1]))


def _usual(ends: Sequence[str]) -> str:
    return Counter(ends).most_common(1)[0][0] if ends else "\n"
