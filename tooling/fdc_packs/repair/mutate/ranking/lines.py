"""The lines of a source that edits change: what they say before and after, and how often the file says that elsewhere."""

from __future__ import annotations

import bisect
import functools
import re
from collections import Counter

from ..source import Piece, edited, same

COPIED = 8
"""Words and signs of a line that is taken for a copy of another one."""
_WORD = re.compile(r"[^\W\d_]+")
_SIGN = re.compile(r"\w+|[^\w\s]")
_TOKEN = re.compile(r"\w+|[-+*/%<>=!&|^]+|[^\w\s]")


class _Line:
    """A line as it is, or several that an edit changes together. `ends`: where each token ends; `shares`: what is known of
    its parts, by the first token of each and the one behind its last."""

    def __init__(self, text: str, first: int) -> None:
        self.first, self.text, self.stripped = first, text, text.strip()
        self.begins = first + len(text) - len(text.lstrip())
        tokens = list(_TOKEN.finditer(text))
        self.tokens = [one[0] for one in tokens]
        self.ends = [one.end() for one in tokens]
        self.runs = Counter(_neighbours(self.tokens))
        self.shares: dict[tuple[int, int], float] = {}
        self.rivals: dict[int, bool] = {}


class Lines:
    """The lines of a text, each read once."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._read: dict[tuple[int, int], _Line] = {}

    def _line(self, first: int, last: int) -> _Line:
        """What an edit changes from one place to another one, as whole lines."""
        first = self._text.rfind("\n", 0, first) + 1
        last = self._text.find("\n", last) % (len(self._text) + 1)
        found = self._read.get((first, last))
        if found is None:
            found = self._read[first, last] = _Line(self._text[first:last], first)
        return found

    @functools.cached_property
    def _runs(self) -> dict[tuple[str, ...], int]:
        """The twos and threes of tokens that stand beside each other in a line, and how often."""
        lines = (_TOKEN.findall(line) for line in self._text.split("\n"))
        return Counter(run for line in lines for run in _neighbours(line))

    @functools.cached_property
    def _numbers(self) -> dict[str, list[int]]:
        """By what a line says: the numbers of the lines that say so."""
        found: dict[str, list[int]] = {}
        for number, line in enumerate(self._text.split("\n"), 1):
            found.setdefault(line.strip(), []).append(number)
        return found

    @functools.cached_property
    def _sorted(self) -> list[str]:
        return sorted(self._numbers)

    def stands(self, text: str) -> bool:
        """Whether a line of the file says nothing but this."""
        return text.strip() in self._numbers

    def likelier(self, pieces: tuple[Piece, ...]) -> float:
        """How much more often the file says elsewhere what an edit puts there than what stands there: -1 to 1."""
        begin, end = _span(pieces)
        line = self._line(begin, end)
        now = _after(line, pieces)
        kept = bisect.bisect_left(line.ends, begin - line.first)  # these end before what is changed
        base = max(0, kept - 2)  # what stands further in front is no neighbour of it
        old = line.tokens[base:]
        new = line.tokens[base:kept] + _TOKEN.findall(now, line.ends[kept - 1] if kept else 0)
        head = same(old, new)
        tail = min(same(old[::-1], new[::-1]), len(old) - head, len(new) - head)
        first = max(0, head - 2)
        part = (base + first, base + len(old) - tail + 2)
        if part not in line.shares:
            line.shares[part] = self._share(line, old[first : len(old) - tail + 2])
        return self._share(line, new[first : len(new) - tail + 2]) - line.shares[part]

    def _share(self, line: _Line, tokens: list[str]) -> float:
        """How many of the neighbours in a part of a line stand beside each other elsewhere in the file, too: 0 to 1."""
        everywhere, here = self._runs, line.runs
        part = _neighbours(tokens)
        often = [run for run in part if run in everywhere and everywhere[run] > here.get(run, 0)]
        return len(often) / max(1, len(part))

    @functools.cached_property
    def _words(self) -> Counter[str]:
        return Counter(_WORD.findall(self._text))

    def spelled(self, old: str, new: str) -> int:
        """For a text with another one in its place: 1 where the file says more words of the new one, elsewhere too, -1 where
        it says more of the old one, 0 for neither."""
        was, is_ = Counter(_WORD.findall(old)), Counter(_WORD.findall(new))
        counts = [
            sum(self._words[one] - was[one] for one in words - other)
            for words, other in ((was, is_), (is_, was))
        ]
        return (counts[1] > counts[0]) - (counts[1] < counts[0])

    def twins(self, pieces: tuple[Piece, ...]) -> tuple[str, list[int]]:
        """What a line says that is like no other, and the numbers of those that are as it becomes, where that is long;
        no numbers where there are none."""
        begin, end = _span(pieces)
        line = self._line(begin, end)
        if len(self._numbers.get(line.stripped, ())) != 1 or not self._rival(line, begin):
            return line.stripped, []
        now = _after(line, pieces).strip()
        numbers = self._numbers.get(now, [])
        return line.stripped, numbers if numbers and len(_SIGN.findall(now)) >= COPIED else []

    def _rival(self, line: _Line, place: int) -> bool:
        """True where another line of the file begins as this one does up to a place: else no edit there makes it a copy."""
        if place not in line.rivals:
            begin = line.stripped[: max(0, place - line.begins)]
            at = bisect.bisect_left(self._sorted, begin)
            near = self._sorted[at : at + 2]  # the line itself is one of them
            line.rivals[place] = sum(one.startswith(begin) for one in near) > 1
        return line.rivals[place]


def _span(pieces: tuple[Piece, ...]) -> tuple[int, int]:
    """From where to where an edit reaches."""
    if len(pieces) == 1:
        return pieces[0][:2]
    return min(one[0] for one in pieces), max(one[1] for one in pieces)


def _after(line: _Line, pieces: tuple[Piece, ...]) -> str:
    """The line with an edit."""
    if len(pieces) == 1:
        start, end, text = pieces[0]
        return line.text[: start - line.first] + text + line.text[end - line.first :]
    return edited(
        line.text, tuple((one[0] - line.first, one[1] - line.first, one[2]) for one in pieces)
    )


def _neighbours(tokens: list[str]) -> list[tuple[str, ...]]:
    pairs: list[tuple[str, ...]] = list(zip(tokens, tokens[1:], strict=False))
    return pairs + list(zip(tokens, tokens[1:], tokens[2:], strict=False))
