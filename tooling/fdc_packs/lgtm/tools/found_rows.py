"""What the searches of the LGTM pack find, as rows: places in code, sentences, uses, what speaks against; the best of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from fdc_packs.research.explore.code_search import Tree
from fdc_packs.research.explore.strategies import places
from fdc_packs.research.retrieval.file_worth import TESTS, shows_others

from ..search import numbered
from ..statements import content, names, stem_of

ROWS = 12
PER_FILE = 4
NAMED = 0.5
"""What a telling word of a query in the name of a definition adds to the worth of its places; two add four times that."""
ASIDE = 0.5
"""What a place in tests or examples is worth beside one in the code that they test or show, whatever they are called."""
PER_SUBJECT = 3
"""Places of one definition among what is found."""
_STRATEGIES = {"ImplementationScan": 1.0, "PatternSearch": 0.8, "BoundaryExplore": 0.5}
_CONFIDENCE = {
    "documentation": 0.9,
    "definition": 0.9,
    "sentence": 0.8,
    "use": 0.7,
    "import": 0.7,
    "code": 0.7,
}
_PROSE = ("documentation", "prose", "passage", "sentence", "exception", "obsolete")
_EDGE = re.compile(r"^[\s\"'#/*!;%<>-]+|[\"']{3}\s*$|\*/\s*$")


def all_concepts(queries: list[str]) -> list[Any]:
    """The concepts of several queries, each once: one index serves them all."""
    from fdc_packs.research.retrieval.question import concepts_of

    return list(
        {concept.word: concept for query in queries for concept in concepts_of(query)}.values()
    )


def places_of(tree: Tree, index: Any, query: str) -> Iterator[dict[str, Any]]:
    """Places in code by three strategies, and sentences of documents and comments."""
    from fdc_packs.research.retrieval.extract import extract
    from fdc_packs.research.retrieval.question import concepts_of
    from fdc_packs.research.retrieval.retrieve import refine, search

    concepts = concepts_of(query)
    asked = {concept.word for concept in concepts}
    found = tree.search(concepts, names(query))
    most = max(found.weights, default=0.0) or 1.0
    telling = {
        stem_of(concept.word): 0.5 + 0.5 * weight / most
        for concept, weight in zip(concepts, found.weights)
    }
    top = 0.0
    for strategy, worth in _STRATEGIES.items():
        for one in places(tree, found, strategy, "")[:80]:
            note = one.description[:1].upper() + one.description[1:]
            told = sum(telling.get(part, 0.0) for part in content(one.subject))
            named = 1 + NAMED * told**2
            score = one.score * worth * (ASIDE if shows_others(one.path, asked) else named)
            top = max(top, score)
            row = row_of(tree, one.path, one.line, note, one.kind, one.subject, one.home, score)
            if row is not None:
                said = one.said if one.kind in _PROSE and 3 < len(one.said) <= 600 else row["quote"]
                yield {**row, "quote": said}
    spans = []
    for hit in refine(index, concepts, search(index, concepts, 60), query)[:12]:
        passage = index.passages[hit.passage]
        path = index.documents[passage.document].path
        if path in tree.documents:
            spans.append((path, passage.line, passage.end_line, hit.score))
    paths = {span[0] for span in spans}
    documents = [document for path, document in tree.documents.items() if path in paths]
    weights = [index.rarity(concept) for concept in concepts]
    best = 0.0
    for nth, cited in enumerate(extract(documents, spans, concepts, weights, query, 8)):
        best = best or cited.score or 1.0
        worth = (top or 1.0) * 0.7 * 0.93**nth
        worth *= ASIDE if shows_others(cited.path, asked) else 1.0
        said = " ".join(cited.text.split())[:600]
        around = tree.around(
            cited.path, cited.line
        )  # a comment tells of the definition that it stands in
        subject, home = (
            (around.qualified, f"{cited.path}:{around.line}") if around is not None else ("", "")
        )
        row = row_of(
            tree, cited.path, cited.line, f"`{cited.path}` says", "sentence", subject, home, worth
        )
        if row is not None and _tells(said, query):
            yield {**row, "quote": said}


def _tells(said: str, query: str) -> bool:
    """Whether a sentence has enough of a query's words: two of five, and not one alone of several."""
    wanted = content(query)
    return len(wanted & content(said)) >= min(len(wanted), max(2, round(0.4 * len(wanted))))


def objections_of(tree: Tree, query: str) -> Iterator[dict[str, Any]]:
    """What speaks against a query's names and words, as rows."""
    from .against import objections

    for one in objections(tree, query):
        row = row_of(
            tree, one.path, one.line, one.note, one.kind, one.subject, one.home, one.weight
        )
        if row is not None:
            yield {**row, "quote": one.said if 3 < len(one.said) <= 600 else row["quote"]}


def row_of(
    tree: Tree, path: str, line: int, note: str, kind: str, subject: str, home: str, score: float
) -> dict[str, Any] | None:
    """A find as a row; None where the line is not there, or is too short or too long to be quoted."""
    lines = tree.documents[path].lines
    if not 1 <= line <= len(lines):
        return None
    raw = lines[line - 1]
    for more in (
        lines[line : line + 8] if kind == "definition" else ()
    ):  # a head may take several lines
        if raw.count("(") <= raw.count(")"):
            break
        raw = f"{raw.rstrip()}{'' if raw.endswith('(') else ' '}{more.strip()}"
    quote = _EDGE.sub("", _EDGE.sub("", raw)).strip() if kind in _PROSE else raw.strip()
    if len(quote) < 4 or len(quote) > 600:
        return None
    around = numbered(lines, line - 4, line + 8)
    title = f"`{subject}`, {kind}" if subject else f"{path}, {kind}"
    return {"source": f"{path}:{line}", "path": path, "line": line, "quote": quote, "note": note, "title": title, "kind": kind,
            "subject": subject, "home": home, "score": round(score, 4), "confidence": _CONFIDENCE.get(kind, 0.6),
            "snippet": around, "test": TESTS.search(path) is not None}  # fmt: skip


def best_of(found: dict[str, dict[str, Any]], tool: str) -> dict[str, Any]:
    """The best rows of what was found, a few of each file and definition."""
    rows: list[dict[str, Any]] = []
    seen: dict[str, int] = {}
    told: dict[tuple[str, str], int] = {}
    said: set[tuple[str, str]] = set()
    for row in sorted(found.values(), key=lambda one: (-one["score"], one["source"])):
        if (row["path"], row["quote"]) in said:
            continue  # another line of the same sentence
        said.add((row["path"], row["quote"]))
        about = (row["home"].rpartition(":")[0] or row["path"], row["subject"] or row["source"])
        told[about] = told.get(about, 0) + 1
        if tool == "FileSearch" and told[about] > PER_SUBJECT:
            continue
        seen[row["path"]] = seen.get(row["path"], 0) + 1
        if seen[row["path"]] <= PER_FILE and len(rows) < ROWS:
            rows.append(row)
    return {"rows": rows, "count": len(rows), "of": len(found), "tool": tool}


def uses_of(tree: Tree, name: str) -> list[tuple[str, int, bool]]:
    """The lines that use a name, and those of tests that spell it, each once."""
    plain = name.rpartition(".")[2]
    found = {(path, line): imported for path, line, imported in tree.users(plain)}
    if not found and len(plain) > 3:
        for path in tree.documents:
            for line in (
                number for number, one in enumerate(tree.documents[path].lines, 1) if plain in one
            ):
                found[path, line] = False
                if len(found) >= 60:
                    break
    return [(path, line, imported) for (path, line), imported in sorted(found.items())]
