"""Evidence for a question about source files: the ranking of `fdc explore`, quoted as research quotes (issue 5, L4).

Definitions, what they say of themselves and what is said elsewhere are found and weighed as two strategies of explore
do it; each find is then one line of code, or the whole sentence of a comment or document that stands there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from fdc_toolchain.api.files import CODE, Document

from .explore.place import Place
from .explore.strategies import places
from .explore.tools import _search as looked_for
from .explore.tools import _tree as tree_of
from .outline.blocks import Outline
from .outline.comments import comment_outline
from .outline.outline import outline
from .outline.sentences import HIDDEN, is_prose, sentences
from .retrieval import library
from .retrieval.citations import Citation
from .retrieval.question import Concept
from .retrieval.stems import Stemmer

SAID = 1.1
"""What is said of the matter is worth a little more than the place where it is defined: on the development questions of
benchmarks/research that answers most."""
FLOOR = 0.25
"""What is worth less than this part of the best find is no evidence; the first few always are."""
FEWEST = 3
PER_DOCUMENT = 6
LONGEST_LINE = 400
LONGEST_PASSAGE = 60
_DEFINED = ("definition", "documentation")


def passages(question: str, shelf: library.Shelf, limit: int) -> list[dict[str, Any]]:
    """The definitions and stretches of text that a question is about, best first, with their places."""
    found = looked_for(tree_of(shelf, "**"), question).units()[:limit]
    return [
        {
            "path": one.path,
            "line": one.line,
            "end_line": min(one.end, one.line + LONGEST_PASSAGE),
            "score": round(one.score, 6),
        }
        for one in found
    ]


def rarities(question: str, shelf: library.Shelf) -> dict[str, float]:
    """How much each thing that a question asks about tells, of those that the files have anywhere."""
    found = looked_for(tree_of(shelf, "**"), question)
    return {
        one.word: found.weights[number]
        for number, one in enumerate(found.concepts)
        if found.files(number)
    }


def evidence(
    question: str, concepts: Sequence[Concept], shelf: library.Shelf, limit: int
) -> list[Citation]:
    """At most `limit` finds, best first, each quoted with its place. A definition and what it says of itself are one find."""
    tree = tree_of(shelf, "**")
    search = looked_for(tree, question)
    ranked = list(places(tree, search, "ImplementationScan"))
    ranked += [
        one._replace(score=SAID * one.score) for one in places(tree, search, "PatternSearch")
    ]
    ranked.sort(key=lambda one: (-one.score, one.path, one.line))
    has = _Has(concepts)
    shapes: dict[str, Outline] = {}
    out: list[Citation] = []
    taken: set[tuple[str, int, int]] = set()
    counts: dict[str, int] = {}
    groups = list(_grouped(ranked))
    for number, group in enumerate(groups):
        score = group[0].score
        if len(out) >= limit or (number >= FEWEST and score < FLOOR * groups[0][0].score):
            break
        for place in group:
            document = tree.documents[place.path]
            shape = shapes.setdefault(place.path, _outline(document))
            cited = _cited(place, document, shape, round(score, 4), number + 1, has)
            at = (cited.path, cited.line, cited.column) if cited is not None else None
            if (
                cited is not None
                and at is not None
                and at not in taken
                and counts.get(place.path, 0) < PER_DOCUMENT
            ):
                taken.add(at)
                counts[place.path] = counts.get(place.path, 0) + 1
                out.append(cited)
    return out


def _grouped(ranked: Sequence[Place]) -> Iterator[list[Place]]:
    """Each find by itself, but a definition with what it says of itself."""
    own: dict[str, list[Place]] = {}
    for one in ranked:
        if one.kind in _DEFINED:
            own.setdefault(one.home, []).append(one)
    for one in ranked:
        if one.kind not in _DEFINED:
            yield [one]
        elif own.get(one.home):
            yield sorted(own.pop(one.home), key=lambda row: row.kind != "definition")


def _outline(document: Document) -> Outline:
    extension = "." + document.path.rsplit(".", 1)[-1].lower()
    return (comment_outline if extension in CODE else outline)(document.path, document.lines)


class _Has:
    """Which of the things asked about a text speaks of."""

    def __init__(self, concepts: Sequence[Concept]) -> None:
        self._stemmer = Stemmer()
        cut = self._stemmer
        self._names = [
            (one.word, [set(stems) for stems in cut([text for text, _ in one.variants])])
            for one in concepts
        ]

    def __call__(self, text: str) -> tuple[str, ...]:
        stems = set(self._stemmer([text])[0])
        return tuple(
            word for word, names in self._names if any(name and name <= stems for name in names)
        )


def _cited(
    place: Place, document: Document, shape: Outline, score: float, group: int, has: _Has
) -> Citation | None:
    """The sentence that stands at a place, else its line; None for a line that cannot be quoted."""
    line = document.lines[place.line - 1]
    tells_of = (place.subject,) if place.subject and place.kind != "passage" else ()
    for block in shape.blocks:
        if block.kind == "code" or not block.line <= place.line <= block.end_line:
            continue
        here = [
            one
            for one in sentences(block, document.lines)
            if one.line <= place.line <= one.end_line and is_prose(one.text)
        ]
        if here and place.kind != "definition":
            best = max(here, key=lambda one: len(has(one.text)))
            section = tells_of or shape.sections[block.section].path
            return Citation(
                place.path, best.line, best.column, best.end_line, best.end_column, best.text, section, "", score, "answer",
                group, has(f"{best.text} {place.subject}"),
            )  # fmt: skip
    text = line.strip()
    if not text or len(text) > LONGEST_LINE or HIDDEN.search(text):
        return None
    column = line.index(text) + 1
    return Citation(
        place.path, place.line, column, place.line, column + len(text), text, tells_of, "", score, "answer",
        group, has(f"{text} {place.subject}"),
    )  # fmt: skip
