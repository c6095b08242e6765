"""Picks the sentences that answer a question out of passages, each quoted exactly, with its place.

A sentence is worth what it says of the question itself, half of what its headings say, and how
good its passage is; fragments that need another sentence to be understood bring that one with them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from fdc_toolchain.tools.files.documents import CODE, Document

from ..outline.blocks import Block, Outline
from ..outline.comments import comment_outline
from ..outline.outline import outline
from ..outline.sentences import CODE_SPAN, HIDDEN, MAX_SENTENCE, Sentence, is_prose, sentences
from .answer_cues import asks_what, cue_of, defined_term
from .kinds import WEIGHT, asks_about, kind_of, section_kind
from .question import Concept
from .stems import Stemmer

HEADING_SHARE = 0.4
BESIDE_SHARE = 0.2
PASSAGE_SHARE = 0.4
FIRST_BONUS = 0.05
DEFINES = 1.3
OWN_FLOOR = 0.4
"""A sentence says at least this part of what the best one says in its own words; headings do not make up for it."""
IN_CODE = 0.7
"""A word of the question that a sentence has only inside of code counts this much."""
IN_LABEL = 0.8
"""So much counts one that the row or column of a table says, or the term that is explained."""
PER_DOCUMENT = 6
FLOOR = 0.55
"""A sentence below this part of the best one's score is not evidence."""
ALIKE = 0.75
EXAMPLE_LINES = 8
MAX_CODE = 600

_LEANS = re.compile(
    r"[\"'(*_]*(?:it|its|this|that|these|those|they|their|them|he|she|such|however|therefore|thus|hence|so|otherwise|"
    r"then|but|and|or|also|instead|in (?:this|that) case|for (?:example|instance)|e\.g\.|i\.e\.|both|see|note that this|"
    r"the (?:former|latter|same|above))\b",
    re.IGNORECASE,
)
_LINK = re.compile(r"\]\(|https?://")


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


_Place = tuple[str, int, int]


@dataclass(slots=True)
class _Candidate:
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


def extract(
    documents: Sequence[Document],
    passages: Sequence[tuple[str, int, int, float]],
    concepts: Sequence[Concept],
    rarity: Sequence[float],
    question: str,
    limit: int,
) -> list[Citation]:
    """At most `limit` chosen sentences, best first, each followed by what it needs.

    `passages` are (path, first line, last line, score), best first; `rarity` is how much each
    concept tells (0: nobody wrote of it). Ties go to the better passage, then the earlier place.
    """
    shapes = {document.path: (document, _outline(document)) for document in documents}
    candidates = [
        one
        for passage in passages
        if passage[0] in shapes
        for one in _candidates(*shapes[passage[0]], passage)
    ]
    _score(
        candidates,
        concepts,
        rarity,
        question,
        max((passage[3] for passage in passages), default=1.0),
    )
    chosen = _choose(candidates, limit)
    taken: set[_Place] = {_place(one) for one in chosen}
    out: list[Citation] = []
    for group, one in enumerate(chosen, 1):
        out += _with_context(one, group, taken)
    return out


def _outline(document: Document) -> Outline:
    extension = "." + document.path.rsplit(".", 1)[-1].lower()
    return (comment_outline if extension in CODE else outline)(document.path, document.lines)


def _candidates(
    document: Document, shape: Outline, passage: tuple[str, int, int, float]
) -> Iterable[_Candidate]:
    _, first, last, score = passage
    for number, block in enumerate(shape.blocks):
        if block.kind == "code" or block.end_line < first or block.line > last:
            continue
        siblings = list(sentences(block, document.lines))
        for at, sentence in enumerate(siblings):
            if is_prose(sentence.text):
                yield _Candidate(document, shape, number, at, sentence, siblings, score)


def _score(
    candidates: list[_Candidate],
    concepts: Sequence[Concept],
    rarity: Sequence[float],
    question: str,
    best: float,
) -> None:
    cue = cue_of(question)
    stemmer = Stemmer()
    names = [
        [tuple(stems) for stems in stemmer([text for text, _ in concept.variants])]
        for concept in concepts
    ]
    total = sum(rarity) or 1.0
    asked = {concept.word for concept in concepts}
    own = stemmer([one.sentence.text for one in candidates])
    bare = stemmer([CODE_SPAN.sub(" ", one.sentence.text) for one in candidates])
    beside = stemmer([one.shape.blocks[one.block].context for one in candidates])
    around = stemmer(
        [
            f"{one.shape.blocks[one.block].context} {' '.join(_section(one))} {one.shape.title}"
            for one in candidates
        ]
    )
    said_by = []
    for one, stems, prose, label in zip(candidates, own, bare, beside):
        one.stems = set(stems)
        said, _ = _said(stems, concepts, names, rarity)
        spoken, _ = _said(prose, concepts, names, rarity)
        labelled, _ = _said(label, concepts, names, rarity)
        _, one.has = _said(stems + label, concepts, names, rarity)
        parts = zip(spoken, said, labelled)
        said_by.append([max(low, IN_CODE * high, IN_LABEL * named) for low, high, named in parts])
    for number, (one, stems, above) in enumerate(zip(candidates, own, around)):
        said = said_by[number]
        inherited = [HEADING_SHARE * part for part in _said(above, concepts, names, rarity)[0]]
        for near in (number - 1, number + 1):
            if 0 <= near < len(candidates) and candidates[near].siblings is one.siblings:
                inherited = [
                    max(known, BESIDE_SHARE * part) for known, part in zip(inherited, said_by[near])
                ]
        worth = sum(max(low, high) for low, high in zip(said, inherited))
        together = _neighbours(stems, concepts, names)
        value = (
            (worth / total)
            * (1 + 0.15 * min(3, together))
            / (1 + 0.2 * max(0.0, (len(stems) - 30) / 30))
        )
        value += PASSAGE_SHARE * one.passage_score / best
        value *= (1 + FIRST_BONUS * (one.at == 0)) * cue(one.sentence.folded)
        one.own = sum(said)
        one.score = (value * _quality(one, asked)) if one.has else 0.0
    if asks_what(question):
        _prefer_definitions(candidates, names, rarity, stemmer)


def _prefer_definitions(
    candidates: list[_Candidate],
    names: list[list[tuple[str, ...]]],
    rarity: Sequence[float],
    stemmer: Stemmer,
) -> None:
    """A sentence that begins by saying what the thing asked is, is what was asked for."""
    wanted = {known[0]: weight for known, weight in zip(names, rarity) if known and known[0]}
    rarest = max(rarity, default=0.0)
    defined = [defined_term(one.sentence.folded) or "" for one in candidates]
    for one, stems in zip(candidates, stemmer(defined)):
        if stems and wanted.get(tuple(stems), 0.0) >= 0.6 * rarest > 0:
            one.score *= DEFINES


def _said(
    stems: list[str],
    concepts: Sequence[Concept],
    names: list[list[tuple[str, ...]]],
    rarity: Sequence[float],
) -> tuple[list[float], tuple[str, ...]]:
    """What a text says of each concept, and the words of those it has."""
    present = set(stems)
    said = []
    has = []
    for concept, known, weight in zip(concepts, names, rarity):
        share = max(
            (
                w
                for (_, w), name in zip(concept.variants, known)
                if name and present.issuperset(name)
            ),
            default=0.0,
        )
        said.append(weight * share)
        if share and weight:
            has.append(concept.word)
    return said, tuple(has)


def _neighbours(
    stems: list[str], concepts: Sequence[Concept], names: list[list[tuple[str, ...]]]
) -> int:
    """How many pairs of words that follow each other in the question follow each other in the text."""
    pairs = set(zip(stems, stems[1:]))
    firsts = [known[0] for known in names if known and known[0]]
    return sum(1 for left, right in zip(firsts, firsts[1:]) if (left[-1], right[0]) in pairs) + sum(
        1
        for known in firsts
        if len(known) > 1 and all(pair in pairs for pair in zip(known, known[1:]))
    )


def _quality(one: _Candidate, asked: set[str]) -> float:
    """How well a sentence stands alone, 0 to 1."""
    text = one.sentence.folded
    block = one.shape.blocks[one.block]
    words = text.split()
    value = 1.0
    kind = section_kind(kind_of(one.document), _section(one))
    if kind != "text" and not asks_about(kind, asked):
        value *= WEIGHT[kind]
    if len(words) < 6 and text.isascii():
        value *= 0.85
    if len(CODE_SPAN.sub("", text)) < 0.5 * len(text):
        value *= 0.75
    if text.count(", ") > 6:  # an enumeration mentions, it does not say
        value *= 0.93
    if _LEANS.match(text):
        value *= 0.8
    if text.endswith("?"):
        value *= 0.6
    elif text[-1] not in ".!:;。！)`\"'*_":
        value *= 0.96 if block.kind in ("item", "cell") else 0.8
    if len(_LINK.findall(text)) > 2:
        value *= 0.7
    if text[0].islower() and block.kind == "text":
        value *= 0.85
    return value


def _choose(candidates: list[_Candidate], limit: int) -> list[_Candidate]:
    ranked = sorted(
        candidates,
        key=lambda one: (-round(one.score, 9), -one.passage_score, one.document.path, _place(one)),
    )
    chosen: list[_Candidate] = []
    counts: dict[str, int] = {}
    for one in ranked:
        if len(chosen) >= limit or one.score <= 0 or one.score < FLOOR * ranked[0].score:
            break
        if counts.get(one.document.path, 0) >= PER_DOCUMENT or one.own < OWN_FLOOR * ranked[0].own:
            continue
        if any(
            _overlap(one.stems, other.stems) >= ALIKE or _place(one) == _place(other)
            for other in chosen
        ):
            continue
        counts[one.document.path] = counts.get(one.document.path, 0) + 1
        chosen.append(one)
    return chosen


def _overlap(left: set[str], right: set[str]) -> float:
    return len(left & right) / max(1, min(len(left), len(right)))


def _with_context(one: _Candidate, group: int, taken: set[_Place]) -> list[Citation]:
    out = []
    block = one.shape.blocks[one.block]
    if _LEANS.match(one.sentence.folded) and one.at and is_prose(one.siblings[one.at - 1].text):
        out.append(_context(one, one.siblings[one.at - 1], one.block, group, taken))
    elif block.kind == "item" and one.at == 0:
        lead = _lead(one)
        if lead is not None:
            out.append(_context(one, lead[1], lead[0], group, taken))
    out.append(_citation(one, one.sentence, one.block, "answer", group))
    if one.sentence.text.endswith(":") and one.at == len(one.siblings) - 1:
        out += _announced(one, group, taken)
    return [found for found in out if found is not None]


def _lead(one: _Candidate) -> tuple[int, Sentence] | None:
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


def _announced(one: _Candidate, group: int, taken: set[_Place]) -> list[Citation]:
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


def _code(one: _Candidate, block: Block, group: int) -> Citation | None:
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
    one: _Candidate, sentence: Sentence, block: int, group: int, taken: set[_Place]
) -> Citation | None:
    place = (one.document.path, sentence.line, sentence.column)
    if place in taken or not is_prose(sentence.text):
        return None
    taken.add(place)
    return _citation(one, sentence, block, "context", group)


def _citation(one: _Candidate, sentence: Sentence, block: int, role: str, group: int) -> Citation:
    found = one.shape.blocks[block]
    score, has = (round(one.score, 4), one.has) if role == "answer" else (0.0, ())
    return Citation(
        one.document.path, sentence.line, sentence.column, sentence.end_line, sentence.end_column, sentence.text,
        _section(one), found.label, score, role, group, has,
    )  # fmt: skip


def _section(one: _Candidate) -> tuple[str, ...]:
    return one.shape.sections[one.shape.blocks[one.block].section].path


def _place(one: _Candidate) -> tuple[str, int, int]:
    return one.document.path, one.sentence.line, one.sentence.column
