"""The tools of a research plan that scope a question and search passages. No model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from fdc_toolchain.api.tools import Context, ToolFailure, text

from ..arguments import (
    list_of,
    object_of,
    shelf_of,
    text_of,
    with_code,
    words_of,
)
from . import library

if TYPE_CHECKING:
    from .question import Concept

PASSAGES = 40
"""Passages that are handed on to the extraction."""
CANDIDATES = 200
TERM_WEIGHT = 0.5
"""So much counts a word that was proposed for the question, beside the question's own."""


def scope_question(args: Mapping[str, object], context: Context) -> object:
    """What a question asks about, how much each of it tells, and what no document has (FDC-52: scoping, keywords)."""
    question = text(args, "question").strip()
    if not question:
        raise ToolFailure("argument", "the question is empty")
    shelf, _ = shelf_of(args, context)
    return scoped(question, words_of(args.get("terms")), shelf, shelf if with_code(args) else None)


def scoped(
    question: str, terms: Sequence[str], shelf: library.Shelf, code: library.Shelf | None = None
) -> dict[str, object]:
    """The scope of a question among the documents of a shelf. `terms`: other words for it, which count for less and are
    left out where no document has them. `code`: source files, which may have a word where no comment has."""
    from .question import Concept, concepts_of
    from .spelling import respell

    asked = concepts_of(question)
    own = {concept.word for concept in asked}
    more = (
        [concept for concept in concepts_of(" ".join(terms)) if concept.word not in own]
        if terms
        else []
    )
    index = shelf.index([*asked, *more])
    in_code: dict[str, float] = {}
    if code is not None:
        from ..code import rarities

        in_code = rarities(" ".join([question, *terms]), code)
    rows = []
    respelled = {}
    for concept in asked:
        known_to_code = in_code.get(concept.word, 0.0)
        instead = (
            respell(index, concept) if not index.having(concept) and not known_to_code else None
        )
        if instead is not None:
            respelled[concept.word] = instead
            concept = Concept(instead, ((instead, 1.0),))
        rows.append(_concept_row(concept, index.rarity(concept) or known_to_code))
    for concept in more:
        rarity = TERM_WEIGHT * (index.rarity(concept) or in_code.get(concept.word, 0.0))
        if rarity:
            variants = tuple((name, TERM_WEIGHT * weight) for name, weight in concept.variants)
            rows.append(_concept_row(Concept(concept.word, variants, concept.phrase), rarity))
    known = [row for row in rows if row["weight"]]
    return {
        "question": question[:2000],
        "terms": list(terms),
        "concepts": rows,
        "known": len(known),
        "keywords": ", ".join(str(row["word"]) for row in known),
        "missing": [row["word"] for row in rows if not row["weight"]],
        "respelled": respelled,
    }


def _concept_row(concept: Any, rarity: float) -> dict[str, Any]:
    return {"word": concept.word, "variants": [list(one) for one in concept.variants], "phrase": concept.phrase,
            "weight": round(rarity, 6)}  # fmt: skip


def search_passages(args: Mapping[str, object], context: Context) -> object:
    """The passages that speak of the question, broadly: best first, with their places (FDC-52: broad gathering)."""
    shelf, changed = shelf_of(args, context)
    return {**passages_of(object_of(args, "scope"), shelf, with_code(args)), "changed": changed}


def passages_of(
    scope: Mapping[str, object], shelf: library.Shelf, code: bool = False
) -> dict[str, object]:
    """The best passages of a shelf for a scope, with their places; those of `code` as `fdc explore` finds them."""
    from .retrieve import refine, search

    if code:
        from ..code import passages

        rows = passages(question_of(scope), shelf, PASSAGES)
        return {
            "passages": rows,
            "count": len(rows),
            "of": len(rows),
            "documents": len({row["path"] for row in rows}),
        }

    concepts, _ = concepts_given({"scope": scope})
    index = shelf.index(concepts)
    found = search(index, concepts, CANDIDATES)
    ranked = refine(index, concepts, found, text_of(scope, "question"))[:PASSAGES]
    rows = []
    for one in ranked:
        passage = index.passages[one.passage]
        path = index.documents[passage.document].path
        rows.append(
            {
                "path": path,
                "line": passage.line,
                "end_line": passage.end_line,
                "score": round(one.score, 6),
            }
        )
    return {
        "passages": rows,
        "count": len(rows),
        "of": len(index.passages),
        "documents": len({row["path"] for row in rows}),
    }


def question_of(scope: Mapping[str, object]) -> str:
    """The question, with the other words that were proposed for it."""
    return " ".join([text_of(scope, "question"), *words_of(scope.get("terms"))])


def concepts_given(args: Mapping[str, object]) -> tuple[list[Concept], list[float]]:
    """The concepts of a scope and their weights. Raises ToolFailure where it is not a scope."""
    from .question import Concept

    rows: list[dict[str, Any]] = list_of(object_of(args, "scope"), "concepts")
    try:
        concepts = [
            Concept(
                str(row["word"]),
                tuple((str(one), float(by)) for one, by in row["variants"]),
                bool(row["phrase"]),
            )
            for row in rows
        ]
        return concepts, [float(row["weight"]) for row in rows]
    except (KeyError, TypeError, ValueError):
        raise ToolFailure("argument", "`scope` is not what scope_question returns") from None
