"""Repairs applied to a text: in order, never overlapping, all of a fix or none of it.

Positions are those of spans: lines end with LF or CRLF, columns count code points from 1, a
byte order mark at the start counts for nothing. Everything outside of the edits stays as it
is, byte for byte; line ends inside a replacement become those of the line they go into.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Collection, Iterable, Mapping
from itertools import pairwise

from ..named_tuples import NamedTuple
from .diagnostic import Diagnostic, Edit, Fix

MOST_ROUNDS = 10
"""Maximum rounds of repairs: one repair may make another one possible."""

_Piece = tuple[int, int, str]
"""A stretch of the text by offsets, and what replaces it."""


def safe(diagnostics: Iterable[Diagnostic], path: str | None = None) -> list[Fix]:
    """The fixes that `--fix` applies, in the order of the findings; with `path` only those that stay in that file."""
    fixes = [item.fix for item in diagnostics if item.fix is not None and item.fix.safe]
    return [
        fix for fix in fixes if path is None or all(edit.span.path == path for edit in fix.edits)
    ]


class Mended(NamedTuple):
    """Files that repairs changed, by key, and the fixes that were applied."""

    texts: dict[str, bytes]
    applied: list[Fix]


def mended(
    diagnostics: Iterable[Diagnostic],
    keys: Collection[str],
    seen: Mapping[str, bytes | None],
    *,
    unsafe: bool = False,
) -> Mended:
    """One round of repairs: of the findings' fixes those that change one file of `keys` only; `unsafe`: those that may change
    what a plan does, too. Bytes that are not UTF-8 stay as they are."""
    fixes: dict[str, list[Fix]] = {}
    for item in diagnostics:
        if item.fix is None or not (item.fix.safe or unsafe):
            continue
        paths = {edit.span.path for edit in item.fix.edits}
        if len(paths) == 1 and paths <= set(keys):
            fixes.setdefault(paths.pop(), []).append(item.fix)
    out = Mended({}, [])
    for key, repairs in sorted(fixes.items()):
        text, applied = apply((seen.get(key) or b"").decode("utf-8", "surrogateescape"), repairs)
        if applied:
            out.texts[key] = text.encode("utf-8", "surrogateescape")
            out.applied.extend(applied)
    return out


def apply(text: str, fixes: list[Fix]) -> tuple[str, list[Fix]]:
    """The text after as many of the fixes as fit together, and the fixes that were applied.

    Fixes are taken by the place of their first edit, then as given. One is left out whole
    where an edit of it overlaps one taken before, inserts where another inserts, or lies
    outside of the text; lint the result again and the rest may fit. Two fixes may share equal edits.
    """
    table = _Table(text)
    placed = []
    for number, fix in enumerate(fixes):
        pieces = table.pieces(fix.edits)
        if pieces:
            placed.append((pieces[0][:2], number, pieces, fix))
    taken: list[_Piece] = []
    applied: list[Fix] = []
    for _, _, pieces, fix in sorted(placed, key=lambda row: row[:2]):
        new = [piece for piece in pieces if not _holds(taken, piece)]
        if not any(_clashes(taken, piece) for piece in new):
            for piece in new:
                insort(taken, piece)
            applied.append(fix)
    out, at = [], 0
    for start, end, replacement in taken:
        out += [text[at:start], replacement]
        at = end
    return "".join(out) + text[at:], applied


def _holds(taken: list[_Piece], piece: _Piece) -> bool:
    at = bisect_left(taken, piece)
    return at < len(taken) and taken[at] == piece


def _clashes(taken: list[_Piece], piece: _Piece) -> bool:
    """True where the piece clashes with one taken; as those do not clash, only neighbours are compared."""
    at = max(0, bisect_left(taken, (piece[0], piece[0], "")) - 1)
    while at < len(taken) and taken[at][0] <= piece[1]:
        if _clash(taken[at], piece):
            return True
        at += 1
    return False


def _clash(left: _Piece, right: _Piece) -> bool:
    """True where the two stretches share a character, or insert at one place."""
    if left[0] == left[1] == right[0] == right[1]:
        return True
    return left[0] < right[1] and right[0] < left[1]


class _Table:
    """Where the lines of a text begin."""

    def __init__(self, text: str) -> None:
        self.text = text
        starts = [1 if text.startswith("\ufeff") else 0]
        at = text.find("\n")
        while at >= 0:
            starts.append(at + 1)
            at = text.find("\n", at + 1)
        self.starts = starts

    def pieces(self, edits: tuple[Edit, ...]) -> list[_Piece]:
        """The edits by offsets, in order, or nothing where one is outside of the text or two of them clash."""
        offsets: set[_Piece] = set()
        for edit in edits:
            span = edit.span
            start, end = (
                self.offset(span.line, span.column),
                self.offset(span.end_line, span.end_column),
            )
            if start is None or end is None or end < start:
                return []
            offsets.add((start, end, self.ended(span.line, edit.replacement)))
        out = sorted(offsets)
        clash = any(_clash(left, right) for left, right in pairwise(out))
        return [] if clash else out

    def offset(self, line: int, column: int) -> int | None:
        """The offset of a place, or None where the text has no such place."""
        if line == len(self.starts) + 1 and column == 1:
            return len(self.text)  # just behind a last line that has no line end
        if not 1 <= line <= len(self.starts) or column < 1:
            return None
        at = self.starts[line - 1] + column - 1
        return at if at <= self._stop(line) else None

    def _stop(self, line: int) -> int:
        """Where the line's text ends and its line end begins."""
        if line == len(self.starts):
            return len(self.text)
        stop = self.starts[line] - 1
        return stop - 1 if stop > self.starts[line - 1] and self.text[stop - 1] == "\r" else stop

    def ended(self, line: int, replacement: str) -> str:
        """The replacement with the line ends that the text has there (or, on a last line, above it)."""
        if "\n" not in replacement:
            return replacement
        line = min(line, len(self.starts) - 1)
        crlf = line >= 1 and self.text[self.starts[line] - 2 : self.starts[line]] == "\r\n"
        plain = replacement.replace("\r\n", "\n")
        return plain.replace("\n", "\r\n") if crlf else plain
