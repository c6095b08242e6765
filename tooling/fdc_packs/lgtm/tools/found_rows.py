"""What the searches of the LGTM pack find, as rows: places in code, sentences, uses, what speaks against; the best of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from fdc_packs.research.answering.found import find_places
from fdc_packs.research.explore.code_search import Tree
from fdc_packs.research.explore.mapped import searched
from fdc_packs.research.retrieval.file_worth import ASIDE, TESTS, shows_others

from ..search import numbered

ROWS = 12
PER_FILE = 4
PLACES = 24
"""Places that one query brings."""
LATER = 0.95
"""What a place is worth, of what the one before it is: the order is that of `fdc explore`, with tests and
examples behind the code that they show, whatever they are called."""
PER_SUBJECT = 3
"""Places of one definition among what is found."""
_CONFIDENCE = {
    "definition": 0.9,
    "sentence": 0.8,
    "use": 0.7,
    "import": 0.7,
    "code": 0.7,
}
_PROSE = ("sentence", "exception", "obsolete")
_EDGE = re.compile(r"^[\s\"'#/*!;%<>-]+|[\"']{3}\s*$|\*/\s*$")


def places_of(tree: Tree, query: str) -> Iterator[dict[str, Any]]:
    """The places that answer a query, as `fdc explore` ranks them, each by the line of it that has most of the query."""
    search = searched(tree, query)
    found = find_places(tree, search, query, PLACES).places
    top = max((one.score for one in found), default=0.0)
    asked = {concept.word for concept in search.concepts}
    for nth, one in enumerate(found):
        hits = search.hits.get(one.path, {})

        def worth(line: int, hits: dict[int, dict[int, float]] = hits) -> float:
            return sum(search.weights[at] * weight for at, weight in hits.get(line, {}).items())

        line = max((line for line, _ in one.code), key=lambda line: (worth(line), -line))
        outlined = tree.outline(one.path)
        around = tree.around(one.path, line) if outlined is not None else None
        subject, home = (around.qualified, f"{one.path}:{around.line}") if around else ("", "")
        if around is not None and around.line == line:
            kind, note = "definition", f"`{subject}` is defined here"
        elif outlined is None or line in outlined.prose:
            kind, note = "sentence", f"`{subject or one.path}` says"
        else:
            kind, note = "code", f"Code of `{subject or one.path}`"
        score = top * LATER**nth * (ASIDE if shows_others(one.path, asked) else 1.0)
        row = row_of(tree, one.path, line, note, kind, subject, home, score)
        if row is not None:
            yield row


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
