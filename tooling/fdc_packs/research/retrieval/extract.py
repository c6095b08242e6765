"""Picks the sentences that answer a question out of passages, each quoted exactly, with its place.

A sentence is worth what it says of the question itself, half of what its headings say, and how
good its passage is; fragments that need another sentence to be understood bring that one with them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from fdc_toolchain.api.files import Document

from ..outline.blocks import Outline
from ..outline.comments import outline_of
from ..outline.sentences import CODE_SPAN, is_prose, sentences
from .answer_cues import asks_what, cue_of, defined_term
from .citations import LEANS, Candidate, Citation, Place, place_of, section_of, with_context
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

_LINK = re.compile(r"\]\(|https?://")


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
    concept tells (0: no one wrote of it). Ties go to the better passage, then the earlier place.
    """
    shapes = {document.path: (document, outline_of(document)) for document in documents}
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
    taken: set[Place] = {place_of(one) for one in chosen}
    out: list[Citation] = []
    for group, one in enumerate(chosen, 1):
        out += with_context(one, group, taken)
    return out


def _candidates(
    document: Document, shape: Outline, passage: tuple[str, int, int, float]
) -> Iterable[Candidate]:
    _, first, last, score = passage
    for number, block in enumerate(shape.blocks):
        if block.kind == "code" or block.end_line < first or block.line > last:
            continue
        siblings = list(sentences(block, document.lines))
        for at, sentence in enumerate(siblings):
            if is_prose(sentence.text):
                yield Candidate(document, shape, number, at, sentence, siblings, score)


def _score(
    candidates: list[Candidate],
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
            f"{one.shape.blocks[one.block].context} {' '.join(section_of(one))} {one.shape.title}"
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
        together = _neighbours(stems, names)
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
    candidates: list[Candidate],
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


def _neighbours(stems: list[str], names: list[list[tuple[str, ...]]]) -> int:
    """How many pairs of words that follow each other in the question follow each other in the text."""
    pairs = set(zip(stems, stems[1:]))
    firsts = [known[0] for known in names if known and known[0]]
    return sum(1 for left, right in zip(firsts, firsts[1:]) if (left[-1], right[0]) in pairs) + sum(
        1
        for known in firsts
        if len(known) > 1 and all(pair in pairs for pair in zip(known, known[1:]))
    )


def _quality(one: Candidate, asked: set[str]) -> float:
    """How well a sentence stands alone, 0 to 1."""
    text = one.sentence.folded
    block = one.shape.blocks[one.block]
    words = text.split()
    value = 1.0
    kind = section_kind(kind_of(one.document), section_of(one))
    if kind != "text" and not asks_about(kind, asked):
        value *= WEIGHT[kind]
    if len(words) < 6 and text.isascii():
        value *= 0.85
    if len(CODE_SPAN.sub("", text)) < 0.5 * len(text):
        value *= 0.75
    if text.count(", ") > 6:  # an enumeration mentions, it does not say
        value *= 0.93
    if LEANS.match(text):
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


def _choose(candidates: list[Candidate], limit: int) -> list[Candidate]:
    ranked = sorted(
        candidates,
        key=lambda one: (
            -round(one.score, 9),
            -one.passage_score,
            one.document.path,
            place_of(one),
        ),
    )
    chosen: list[Candidate] = []
    counts: dict[str, int] = {}
    for one in ranked:
        if len(chosen) >= limit or one.score <= 0 or one.score < FLOOR * ranked[0].score:
            break
        if counts.get(one.document.path, 0) >= PER_DOCUMENT or one.own < OWN_FLOOR * ranked[0].own:
            continue
        if any(
            _overlap(one.stems, other.stems) >= ALIKE or place_of(one) == place_of(other)
            for other in chosen
        ):
            continue
        counts[one.document.path] = counts.get(one.document.path, 0) + 1
        chosen.append(one)
    return chosen


def _overlap(left: set[str], right: set[str]) -> float:
    return len(left & right) / max(1, min(len(left), len(right)))
