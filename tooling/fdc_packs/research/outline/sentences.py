"""Cuts blocks of prose into sentences, each with its exact place and text in the file.

Cutting is done on a masked copy in which code spans, link targets and addresses are blotted
out, so that a full stop inside of `a.b` ends nothing. (Measured against pysbd 0.3.4, which cuts `a. b` and
addresses apart, ends a sentence at every line break, and is some twenty times slower.)
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from .blocks import Block, Piece

MAX_SENTENCE = 700
"""Longer stretches without an end are data, not sentences."""
_LONG = 360
"""A sentence longer than this is cut at its semicolons too."""

WIDE = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff"
"""Scripts whose words are not separated by spaces (as a character class of `re`)."""

_MASK = re.compile(
    r"``[^`]+(?:`[^`]+)*``|`[^`\n]+`|\]\([^)\s]{0,500}(?:\s+\"[^\"]{0,200}\")?\)|<[^<>\s][^<>]{0,300}>"
    r"|(?:https?|ftp)://[^\s<>\"')\]]*[^\s<>\"')\].,;:!?]|\b[\w-]{1,64}@[\w.-]+"
)
CODE_SPAN = re.compile(r"``[^`]+(?:`[^`]+)*``|`[^`]*`")
_END = re.compile(
    "[.!?…]+[\"'”’)\\]*_]*\\s+(?=[\"'“‘(\\[*_]*[A-Z0-9À-ÖØ-ÞΑ-ΩА-Я`$<{"
    + WIDE
    + "])|[。！？]+[」』”]?\\s*"
)
_ABBREVIATION = re.compile(
    r"(?:^|[\s(\[\"'])(?:e\.g|i\.e|cf|vs|mr|mrs|ms|dr|prof|st|fig|figs|sec|no|pp|p|vol|ch|eq|approx|incl|al|ca|resp|inc|ltd|"
    r"viz|[A-Za-z]|[a-z]\.[a-z])\.$",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r";\s+")
HIDDEN = re.compile("[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\ufffd]")
_WORD = re.compile(r"[^\W\d_]{2,}")
_WIDE_LETTER = re.compile("[" + WIDE + "]")
_LINKS = re.compile(r"!?\[[^\]]*\]\([^)]*\)|!?\[[^\]]*\]\[[^\]]*\]|(?:https?|ftp)://\S+|<[^>]*>")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence as it stands in its file: `text` keeps the file's line breaks, without what precedes
    the prose on continued lines (indentation, quote and comment marks). Columns count from 1, the end
    is exclusive: the house's span."""

    line: int
    column: int
    end_line: int
    end_column: int
    text: str

    @property
    def folded(self) -> str:
        """The text on one line."""
        return " ".join(self.text.split())


def sentences(block: Block, lines: tuple[str, ...]) -> Iterator[Sentence]:
    """The sentences of one block, in order. Nothing is judged here: `is_prose` does that."""
    pieces = block.pieces
    text = "\n".join(lines[piece.line - 1][piece.start : piece.end] for piece in pieces)
    for start, end in _cuts(text):
        yield _placed(text, start, end, pieces)


def is_prose(text: str) -> bool:
    """True for what reads as a statement: enough words, mostly letters, not a list of links, nothing hidden."""
    if len(text) > MAX_SENTENCE or HIDDEN.search(text):
        return False
    bare = _LINKS.sub(" ", text)
    wide = len(_WIDE_LETTER.findall(bare))
    if wide >= 6:
        return True
    words = _WORD.findall(bare)
    if len(words) < 4 or not any(word[1:].islower() for word in words):
        return False
    dense = "".join(bare.split())
    if sum(map(CODE_SPAN.sub("", bare).count, "={;")) > 2 + len(words) // 8:
        return False
    letters = sum(map(str.isalpha, dense))
    return letters >= 0.66 * len(dense) and ". . ." not in text and "....." not in text


def _cuts(text: str) -> list[tuple[int, int]]:
    masked = _MASK.sub(lambda found: _blot(found.group()), text)
    bounds = []
    start = 0
    for found in _END.finditer(masked):
        stop = found.end()
        if found.group()[0] == "." and _ABBREVIATION.search(
            masked[max(start, found.start() - 12) : found.start() + 1]
        ):
            continue
        bounds.append((start, stop))
        start = stop
    bounds.append((start, len(text)))
    out = []
    for start, stop in bounds:
        out.extend(_clauses(masked, start, stop) if stop - start > _LONG else [(start, stop)])
    trimmed = []
    for start, stop in out:
        raw = text[start:stop]
        start += len(raw) - len(raw.lstrip())
        stop -= len(raw) - len(raw.rstrip())
        if stop > start:
            trimmed.append((start, stop))
    return trimmed


def _blot(text: str) -> str:
    # the first mark stays: a sentence may begin with it
    return text[0] + "".join("\n" if char == "\n" else "x" for char in text[1:])


def _clauses(masked: str, start: int, stop: int) -> list[tuple[int, int]]:
    out = []
    at = start
    for found in _CLAUSE.finditer(masked, start, stop):
        if found.end() - at >= 80 and stop - found.end() >= 60:
            out.append((at, found.end()))
            at = found.end()
    return out + [(at, stop)]


def _placed(text: str, start: int, end: int, pieces: list[Piece]) -> Sentence:
    first = text.count("\n", 0, start)
    last = first + text.count("\n", start, end)
    into = start - (text.rfind("\n", 0, start) + 1)
    until = end - (text.rfind("\n", 0, end) + 1)
    head, tail = pieces[first], pieces[last]
    return Sentence(
        head.line, head.start + into + 1, tail.line, tail.start + until + 1, text[start:end]
    )
