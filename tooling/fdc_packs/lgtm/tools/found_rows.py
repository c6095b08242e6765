"""What the searches of the LGTM pack find, as rows: places in code, sentences, uses, what speaks against; the best of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from fdc_packs.research.answering.found import find_places
from fdc_packs.research.explore.code_search import Tree
from fdc_packs.research.explore.mapped import searched
from fdc_packs.research.outline.comment_sentences import around
from fdc_packs.research.outline.sentences import Sentence, sentences
from fdc_packs.research.retrieval.file_worth import ASIDE, TESTS, shows_others

from ..search import numbered

if TYPE_CHECKING:
    from ..shapes.found import Find, Found

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


def places_of(tree: Tree, query: str) -> Iterator[Find]:
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
        unit = tree.around(one.path, line) if outlined is not None else None
        subject, home = (unit.qualified, f"{one.path}:{unit.line}") if unit else ("", "")
        if unit is not None and unit.line == line:
            kind, note = "definition", f"`{subject}` is defined here"
        elif outlined is None or line in outlined.prose:
            kind, note = "sentence", f"`{subject or one.path}` says"
        else:
            kind, note = "code", f"Code of `{subject or one.path}`"
        score = top * LATER**nth * (ASIDE if shows_others(one.path, asked) else 1.0)
        row = row_of(tree, one.path, line, note, kind, subject, home, score)
        if row is not None:
            yield row


def words_of(tree: Tree, query: str) -> list[str]:
    """The words of a query that files have, the rarest first."""
    search = searched(tree, query)
    heard = {at for lines in search.hits.values() for hit in lines.values() for at in hit}
    ranked = sorted(heard, key=lambda at: (-search.weights[at], at))
    return [search.concepts[at].word for at in ranked]


def objections_of(tree: Tree, query: str) -> Iterator[Find]:
    """What speaks against a query's names and words, as rows."""
    from .against import objections

    for one in objections(tree, query):
        row = row_of(
            tree, one.path, one.line, one.note, one.kind, one.subject, one.home, one.weight
        )
        if row is not None:
            yield row


def row_of(
    tree: Tree, path: str, line: int, note: str, kind: str, subject: str, home: str, score: float
) -> Find | None:
    """A find as a row, of prose with the whole sentence that the line is part of; None where the line is not there, or is too
    short or too long to be quoted."""
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
    quote = raw.strip()
    if kind in _PROSE:
        quote = _EDGE.sub("", _EDGE.sub("", raw)).strip()
        whole = _sentence(tree, path, line)
        quote = whole if 3 < len(whole) <= 600 else quote
    if len(quote) < 4 or len(quote) > 600:
        return None
    title = f"`{subject}`, {kind}" if subject else f"{path}, {kind}"
    return {"source": f"{path}:{line}", "path": path, "line": line, "quote": quote, "note": note, "title": title, "kind": kind,
            "subject": subject, "home": home, "score": round(score, 4), "confidence": _CONFIDENCE.get(kind, 0.6),
            "snippet": numbered(lines, line - 4, line + 8), "test": TESTS.search(path) is not None}  # fmt: skip


def _sentence(tree: Tree, path: str, line: int) -> str:
    """The sentence of a document, a comment or a docstring that most of a line is part of, on one line; empty for code."""
    lines, outline = tree.documents[path].lines, tree.outline(path)
    if outline is not None:
        return around(lines, line, outline.prose) if line in outline.prose else ""
    blocks = [one for one in tree.shape(path).blocks if one.kind != "code"]
    said = [one for block in blocks if block.line <= line <= block.end_line
            for one in sentences(block, lines) if one.line <= line <= one.end_line]  # fmt: skip

    def part(one: Sentence) -> int:
        end = one.end_column if one.end_line == line else len(lines[line - 1])
        return end - (one.column if one.line == line else 0)

    return max(said, key=part).folded if said else ""


def best_of(found: Mapping[str, Find], tool: str) -> Found:
    """The best rows of what was found, a few of each file and definition."""
    rows: list[Find] = []
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
