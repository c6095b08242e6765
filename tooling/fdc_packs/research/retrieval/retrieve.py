"""Finds the passages of a collection of documents that answer a question: SQLite FTS5, BM25, no model.

A passage is a run of blocks of one section, with its lines. Every name of every concept of the
question is a query of its own, in quotes; their scores are added by weight. The best are then
read sentence by sentence and ranked again (`refine`): what says much of it in one sentence is better
than what mentions it all over the place.
"""

from __future__ import annotations

import math
import sqlite3
import threading
import weakref
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from fdc_toolchain.api.files import CODE, Document

from ..outline.blocks import Block, Outline
from ..outline.comments import comment_outline
from ..outline.outline import outline
from ..outline.sentences import is_prose, sentences
from .answer_cues import asks_what, defined_term
from .kinds import WEIGHT, asks_about, kind_of, section_kind
from .question import MAX_CONCEPTS, Concept
from .stems import TOKENIZER, Stemmer, spread

PASSAGE = 900
"""Characters that a passage has at most, where its blocks allow."""

# Chosen on four sets of questions (docs/benchmarks.md); none of them is sharp: halving or doubling one
# moves the mean reciprocal rank by less than 0.01.
WEIGHTS = (0.5, 1.5, 1.0)  # path and title, headings, text
PHRASE_WEIGHT = 0.5
DOCUMENT_WEIGHT = 0.1
SENTENCE_WEIGHT = 0.5
OPENING_WEIGHT = 0.1
DEFINES = 1.4
MARKUP_PENALTY = 0.2
MOST = 60
"""Passages that `refine` returns at most."""
ALIKE_PASSAGES = 0.8
"""Two passages that share this part of their stems are one; the second is left out."""


@dataclass(frozen=True, slots=True)
class Passage:
    """Blocks `first` to `last` (exclusive) of a document, all of one section."""

    document: int
    section: int
    first: int
    last: int
    line: int
    end_line: int


@dataclass(slots=True)
class Found:
    """A passage with its score and the concepts (by index) that it has."""

    passage: int
    score: float
    concepts: frozenset[int] = field(default_factory=frozenset)


class Index:
    """An in-memory index over documents. Building it is the expensive part; ask as often as you like."""

    def __init__(self, documents: Sequence[Document]) -> None:
        self.documents = documents
        self.kinds = [kind_of(document) for document in documents]
        self.outlines: list[Outline] = []
        self.passages: list[Passage] = []
        self.sizes: list[int] = []
        self._database = sqlite3.connect(":memory:", check_same_thread=False)
        weakref.finalize(self, self._database.close)
        self._database.execute(
            f"CREATE VIRTUAL TABLE f USING fts5(name, head, body, content='', tokenize=\"{TOKENIZER}\")"
        )
        # one flush of its hash table is cheaper than many merges
        self._database.execute("INSERT INTO f(f, rank) VALUES ('hashsize', 64000000)")
        self._asking = threading.Lock()
        self._hits: dict[str, dict[int, float]] = {}
        rows = (row for number in range(len(documents)) for row in self._rows(number))
        self._database.executemany(
            "INSERT INTO f(rowid, name, head, body) VALUES (?, ?, ?, ?)", rows
        )

    def _rows(self, number: int) -> Iterable[tuple[int, str, str, str]]:
        document = self.documents[number]
        extension = "." + document.path.rsplit(".", 1)[-1].lower()
        shape = (comment_outline if extension in CODE else outline)(document.path, document.lines)
        self.outlines.append(shape)
        before = len(self.passages)
        name = f"{document.path} {shape.title}"
        for passage in passages(number, shape):
            self.passages.append(passage)
            headers = dict.fromkeys(block.header for block in self.blocks(passage) if block.header)
            head = " ".join([*shape.sections[passage.section].path, *headers])
            yield len(self.passages) - 1, spread(name), spread(head), spread(self.text(passage))
        self.sizes.append(len(self.passages) - before)

    def text(self, passage: Passage) -> str:
        """The words of a passage, as the index has them."""
        lines = self.documents[passage.document].lines
        return "\n".join(
            lines[p.line - 1][p.start : p.end]
            for block in self.blocks(passage)
            for p in block.pieces
        )

    def blocks(self, passage: Passage) -> list[Block]:
        """The blocks of a passage."""
        return self.outlines[passage.document].blocks[passage.first : passage.last]

    def headings(self, passage: int) -> tuple[str, ...]:
        """The headings above a passage, outermost first."""
        found = self.passages[passage]
        return self.outlines[found.document].sections[found.section].path

    def hits(self, text: str) -> dict[int, float]:
        """Passage to BM25 score, for passages that have the words of `text` next to each other."""
        if text not in self._hits:
            quoted = '"' + text.replace('"', " ") + '"'
            weights = ",".join(map(str, WEIGHTS))
            asked = f"SELECT rowid, -bm25(f, {weights}) FROM f WHERE f MATCH ?"
            self._hits[text] = dict(self._rows_of(asked, (quoted,)))
        return self._hits[text]

    def vocabulary(self, first: str) -> Iterable[tuple[str, int]]:
        """The stems that begin with a letter, and how many passages have each."""
        self._rows_of("CREATE VIRTUAL TABLE IF NOT EXISTS temp.v USING fts5vocab(main, f, row)")
        asked = "SELECT term, doc FROM temp.v WHERE term >= ? AND term < ?"
        return self._rows_of(asked, (first, first + "\uffff"))

    def _rows_of(self, statement: str, values: tuple[str, ...] = ()) -> list[tuple[Any, ...]]:
        """All rows; branches ask at once, and from Python 3.12 on one connection does not serve two threads at a time."""
        with self._asking:
            return self._database.execute(statement, values).fetchall()

    def rarity(self, concept: Concept) -> float:
        """Inverse document frequency over passages; 0 for what no passage has."""
        count = len(self.having(concept))
        return math.log(1 + (len(self.passages) - count + 0.5) / (count + 0.5)) if count else 0.0

    def having(self, concept: Concept) -> set[int]:
        """The passages that have the concept, by any of its names."""
        return {passage for text, _ in concept.variants for passage in self.hits(text)}


def passages(number: int, shape: Outline) -> Iterable[Passage]:
    """The passages of a document with that number: blocks of one section, as many as fit."""
    first = 0
    size = 0
    for at, block in enumerate(shape.blocks):
        length = sum(piece.end - piece.start for piece in block.pieces)
        same = at == 0 or block.section == shape.blocks[at - 1].section
        in_row = at > 0 and block.kind == "cell" and block.line == shape.blocks[at - 1].line
        if at > first and not in_row and (not same or size + length > PASSAGE):
            yield _passage(number, shape, first, at)
            first, size = at, 0
        size += length
    if shape.blocks:
        yield _passage(number, shape, first, len(shape.blocks))


def _passage(number: int, shape: Outline, first: int, last: int) -> Passage:
    blocks = shape.blocks[first:last]
    return Passage(
        number,
        blocks[0].section,
        first,
        last,
        blocks[0].line,
        max(block.end_line for block in blocks),
    )


def search(index: Index, concepts: Sequence[Concept], limit: int) -> list[Found]:
    """The best passages for the concepts by their words alone, best first; ties go to the earlier passage."""
    kept = (
        sorted(concepts, key=lambda one: -index.rarity(one))[:MAX_CONCEPTS]
        if len(concepts) > MAX_CONCEPTS
        else list(concepts)
    )
    rarity = [index.rarity(concept) for concept in kept]
    scores: dict[int, float] = defaultdict(float)
    has: dict[int, set[int]] = defaultdict(set)
    in_document: list[dict[int, int]] = []
    for number, concept in enumerate(kept):
        best: dict[int, float] = {}
        for text, weight in concept.variants:
            for passage, score in index.hits(text).items():
                if weight * score > best.get(passage, 0.0):
                    best[passage] = weight * score
        counts: dict[int, int] = defaultdict(int)
        for passage, score in best.items():
            scores[passage] += score
            has[passage].add(number)
            counts[index.passages[passage].document] += 1
        in_document.append(counts)
    for left, right in zip(kept, kept[1:]):
        if not (left.phrase or right.phrase):
            for passage, score in index.hits(f"{left.word} {right.word}").items():
                scores[passage] += PHRASE_WEIGHT * score
    whole = _document_scores(index, rarity, in_document)
    asked = {concept.word for concept in kept}
    out = []
    for passage, score in scores.items():
        document = index.passages[passage].document
        value = (score + DOCUMENT_WEIGHT * whole[document]) * (
            1 + OPENING_WEIGHT * (index.passages[passage].first == 0)
        )
        kind = section_kind(index.kinds[document], index.headings(passage))
        if kind == "licence" and not asks_about(kind, asked):
            continue  # it has the words of every question
        out.append(
            Found(
                passage,
                value * (1.0 if asks_about(kind, asked) else WEIGHT[kind]),
                frozenset(has[passage]),
            )
        )
    out.sort(key=lambda found: (-found.score, found.passage))
    return out[:limit]


def _document_scores(
    index: Index, rarity: list[float], in_document: list[dict[int, int]]
) -> dict[int, float]:
    average = (len(index.passages) / max(1, len(index.documents))) or 1.0
    out: dict[int, float] = defaultdict(float)
    for weight, counts in zip(rarity, in_document):
        for document, count in counts.items():
            out[document] += (
                weight
                * count
                * 2.2
                / (count + 1.2 * (0.25 + 0.75 * index.sizes[document] / average))
            )
    return out


def refine(
    index: Index, concepts: Sequence[Concept], found: Sequence[Found], question: str = ""
) -> list[Found]:
    """The best of these passages by what their sentences say, without those that repeat a better one.

    `question`: where it asks what something is, a passage that defines it comes first.
    """
    stemmer = Stemmer()
    names = [
        [tuple(stems) for stems in stemmer([text for text, _ in concept.variants])]
        for concept in concepts
    ]
    rarity = [index.rarity(concept) for concept in concepts]
    total = sum(rarity) or 1.0
    terms = _asked_terms(names, rarity) if asks_what(question) else frozenset()
    said = [_prose(index, index.passages[one.passage]) for one in found]
    stems = iter(stemmer([text for texts, _ in said for text in texts]))
    defined = iter(
        stemmer(
            [defined_term(text.strip()) or "" for texts, _ in said for text in texts]
            if terms
            else []
        )
    )
    ranked = []
    for one, (texts, prose) in zip(found, said):
        best = max(
            [_coverage(set(next(stems)), concepts, names, rarity) for _ in texts], default=0.0
        )
        value = (
            one.score * (1 - MARKUP_PENALTY * (1 - prose)) * (1 + SENTENCE_WEIGHT * best / total)
        )
        meanings = [tuple(next(defined)) for _ in texts] if terms else []
        if not terms.isdisjoint(meanings):
            value *= DEFINES
        ranked.append(Found(one.passage, value, one.concepts))
    ranked.sort(key=lambda one: (-one.score, one.passage))
    return _unlike(index, ranked, stemmer)


def _asked_terms(
    names: list[list[tuple[str, ...]]], rarity: list[float]
) -> frozenset[tuple[str, ...]]:
    """The stems of the concepts that tell most: what a question after a meaning is about."""
    most = max(rarity, default=0.0)
    return frozenset(
        known[0]
        for known, weight in zip(names, rarity)
        if known and known[0] and weight >= 0.6 * most > 0
    )


def _prose(index: Index, passage: Passage) -> tuple[list[str], float]:
    """The sentences of a passage, and the part of it that is prose (0 to 1)."""
    lines = index.documents[passage.document].lines
    texts: list[str] = []
    total = 0
    for block in index.blocks(passage):
        total += sum(piece.end - piece.start for piece in block.pieces)
        if block.kind != "code":
            texts += [
                f"{block.context} {one.text}"
                for one in sentences(block, lines)
                if is_prose(one.text)
            ]
    return texts, min(1.0, 1.3 * sum(map(len, texts)) / max(1, total))


def _coverage(
    stems: set[str],
    concepts: Sequence[Concept],
    names: list[list[tuple[str, ...]]],
    rarity: list[float],
) -> float:
    total = 0.0
    for concept, known, weight in zip(concepts, names, rarity):
        shares = (
            w for (_, w), name in zip(concept.variants, known) if name and stems.issuperset(name)
        )
        total += weight * max(shares, default=0.0)
    return total


def _unlike(index: Index, ranked: list[Found], stemmer: Stemmer) -> list[Found]:
    kept: list[tuple[Found, set[str]]] = []
    for one, stems in zip(
        ranked, map(set, stemmer([index.text(index.passages[one.passage]) for one in ranked]))
    ):
        if len(kept) >= MOST:
            break
        if not any(
            len(stems & other) >= ALIKE_PASSAGES * min(len(stems), len(other)) for _, other in kept
        ):
            kept.append((one, stems))
    return [one for one, _ in kept]
