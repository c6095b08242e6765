"""Evidence for a question about source files: the ranking of `fdc explore`, quoted as research quotes (issue 5, L4).

Each find is a line of code, or the whole sentence of a comment or document that stands there.
"""

from __future__ import annotations

from collections.abc import Sequence

from fdc_toolchain.api.files import Document

from .answering.found import Shown, find_places
from .explore.mapped import searched, tree_of
from .outline.blocks import Outline
from .outline.comments import outline_of
from .outline.sentences import HIDDEN, is_prose, sentences
from .retrieval import library
from .retrieval.citations import Citation
from .retrieval.question import Concept
from .retrieval.stems import Stemmer

FLOOR = 0.25
"""What is worth less than this part of the best find is not evidence; the first few always are."""
FEWEST = 3
QUOTED = 2
"""Lines of a place that are quoted."""
LONGEST_LINE = 400
LONGEST_PASSAGE = 60


def passages(question: str, shelf: library.Shelf, limit: int) -> list[dict[str, object]]:
    """The definitions and stretches of text that a question is about, best first, with their places."""
    found = searched(tree_of(shelf, "**"), question).units()[:limit]
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
    found = searched(tree_of(shelf, "**"), question)
    return {
        one.word: found.weights[number]
        for number, one in enumerate(found.concepts)
        if found.files(number)
    }


def evidence(
    question: str, concepts: Sequence[Concept], shelf: library.Shelf, limit: int
) -> list[Citation]:
    """The places of the one engine, at most `limit`, best first: of each the lines that decide, quoted."""
    tree = tree_of(shelf, "**")
    found = find_places(tree, searched(tree, question), question, limit)
    has = _Has(concepts)
    shapes: dict[str, Outline] = {}
    out: list[Citation] = []
    taken: set[tuple[str, int, int]] = set()
    best = max((place.score for place in found.places), default=0.0)
    for number, place in enumerate(found.places, 1):
        if number > FEWEST and place.score < FLOOR * best:
            break
        document = tree.documents[place.path]
        shape = shapes.setdefault(place.path, outline_of(document))
        for line, _ in place.code[:QUOTED]:
            cited = _cited(place, line, document, shape, number, has)
            at = (cited.path, cited.line, cited.column) if cited is not None else None
            if cited is not None and at is not None and at not in taken:
                taken.add(at)
                out.append(cited)
    return out


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
    place: Shown, number: int, document: Document, shape: Outline, group: int, has: _Has
) -> Citation | None:
    """The sentence that stands at a line, else the line itself; None for one that cannot be quoted."""
    line = document.lines[number - 1]
    tells_of = (place.name,) if place.name else ()
    for block in shape.blocks:
        if block.kind == "code" or not block.line <= number <= block.end_line:
            continue
        here = [
            one
            for one in sentences(block, document.lines)
            if one.line <= number <= one.end_line and is_prose(one.text)
        ]
        if here:
            best = max(here, key=lambda one: len(has(one.text)))
            section = tells_of or shape.sections[block.section].path
            return Citation(
                place.path, best.line, best.column, best.end_line, best.end_column, best.text, section, "", place.score,
                "answer", group, has(f"{best.text} {place.name}"),
            )  # fmt: skip
    text = line.strip()
    if not text or len(text) > LONGEST_LINE or HIDDEN.search(text):
        return None
    column = line.index(text) + 1
    return Citation(
        place.path, number, column, number, column + len(text), text, tells_of, "", place.score, "answer",
        group, has(f"{text} {place.name}"),
    )  # fmt: skip
