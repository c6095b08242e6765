"""Citations: one chosen sentence each with its place, and the sentences and code that it needs beside it to be understood."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from fdc_toolchain.api.files import Document

from ..outline.blocks import Block, Outline
from ..outline.sentences import HIDDEN, MAX_SENTENCE, Sentence, is_prose, sentences

EXAMPLE_LINES = 8
MAX_CODE = 600
LEANS = re.compile(
    r"[\"'(*_]*(?:it|its|this|that|these|those|they|their|them|he|she|such|however|therefore|thus|hence|so|otherwise|"
    r"then|but|and|or|also|instead|in (?:this|that) case|for (?:example|instance)|e\.g\.|i\.e\.|both|see|note that this|"
    r"the (?:former|latter|same|above))\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Citation:
    """A quotation: `text` stands at exactly this span of `path` (columns from 1, end exclusive).

    `role` is `answer` for a sentence that was chosen, `context` for one that it needs to be understood, `example`
    for an item and `code` for code that it announces. `group` ties these together; `has` are the concepts it speaks of.
    """

    path: str
    line: int
    column: int
    end_line: int
    end_column: int
    text: str
    section: tuple[str, ...] = ()
    label: str = ""
    score: float = 0.0
    role: str = "answer"
    group: int = 0
    has: tuple[str, ...] = ()


Place = tuple[str, int, int]


@dataclass(slots=True)
class Candidate:
    """A sentence that may be quoted, and what it is worth."""

    document: Document
    shape: Outline
    block: int
    at: int
    sentence: Sentence
    siblings: list[Sentence]
    passage_score: float
    score: float = 0.0
    own: float = 0.0
    has: tuple[str, ...] = ()
    stems: set[str] = field(default_factory=set)


def with_context(one: Candidate, group: int, taken: set[Place]) -> list[Citation]:
    """The citation of a sentence, and of what it needs beside it; `taken` are places that were cited already."""
    out = []
    block = one.shape.blocks[one.block]
    if LEANS.match(one.sentence.folded) and one.at and is_prose(one.siblings[one.at - 1].text):
        out.append(_context(one, one.siblings[one.at - 1], one.block, group, taken))
    elif block.kind == "item" and one.at == 0:
        lead = _lead(one)
        if lead is not None:
            out.append(_context(one, lead[1], lead[0], group, taken))
    out.append(_citation(one, one.sentence, one.block, "answer", group))
    if one.sentence.text.endswith(":") and one.at == len(one.siblings) - 1:
        out += _announced(one, group, taken)
    return [found for found in out if found is not None]


def _lead(one: Candidate) -> tuple[int, Sentence] | None:
    """The sentence that announces the list which the item is in."""
    for number in range(one.block - 1, max(-1, one.block - 12), -1):
        block = one.shape.blocks[number]
        if block.section != one.shape.blocks[one.block].section:
            return None
        if block.kind == "text":
            last = list(sentences(block, one.document.lines))[-1:]
            return (
                (number, last[0])
                if last and last[0].text.endswith(":") and len(last[0].text) <= MAX_SENTENCE // 2
                else None
            )
        if block.kind != "item":
            return None
    return None


def _announced(one: Candidate, group: int, taken: set[Place]) -> list[Citation]:
    """The code or the items right below a sentence that ends in a colon."""
    out: list[Citation] = []
    for number in range(one.block + 1, min(len(one.shape.blocks), one.block + 6)):
        block = one.shape.blocks[number]
        if block.section != one.shape.blocks[one.block].section or block.kind not in (
            "code",
            "item",
        ):
            break
        if block.kind == "code":
            found = _code(one, block, group)
            out += [found] if found and not out else []
            break
        for sentence in list(sentences(block, one.document.lines))[:1]:
            place = (one.document.path, sentence.line, sentence.column)
            if place not in taken and len(sentence.text) <= MAX_SENTENCE // 2:
                taken.add(place)
                out.append(_citation(one, sentence, number, "example", group))
    return out


def _code(one: Candidate, block: Block, group: int) -> Citation | None:
    pieces = [
        piece
        for at, piece in enumerate(block.pieces[:EXAMPLE_LINES])
        if piece.line == block.line + at
    ]
    lines = one.document.lines
    text = "\n".join(lines[piece.line - 1][piece.start : piece.end] for piece in pieces)
    if not text.strip() or len(text) > MAX_CODE or HIDDEN.search(text):
        return None
    sentence = Sentence(
        pieces[0].line, pieces[0].start + 1, pieces[-1].line, pieces[-1].end + 1, text
    )
    return _citation(one, sentence, one.block, "code", group)


def _context(
    one: Candidate, sentence: Sentence, block: int, group: int, taken: set[Place]
) -> Citation | None:
    place = (one.document.path, sentence.line, sentence.column)
    if place in taken or not is_prose(sentence.text):
        return None
    taken.add(place)
    return _citation(one, sentence, block, "context", group)


def _citation(one: Candidate, sentence: Sentence, block: int, role: str, group: int) -> Citation:
    found = one.shape.blocks[block]
    score, has = (round(one.score, 4), one.has) if role == "answer" else (0.0, ())
    return Citation(
        one.document.path, sentence.line, sentence.column, sentence.end_line, sentence.end_column, sentence.text,
        section_of(one), found.label, score, role, group, has,
    )  # fmt: skip


def section_of(one: Candidate) -> tuple[str, ...]:
    """The headings above a sentence."""
    return one.shape.sections[one.shape.blocks[one.block].section].path


def place_of(one: Candidate) -> tuple[str, int, int]:
    """Where a sentence stands."""
    return one.document.path, one.sentence.line, one.sentence.column
