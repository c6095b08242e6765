"""The tools of a research plan: scan, scope, search, extract, check, synthesise. No model, no network.

Each takes what the step before it returned. What they return is journaled, so it names documents by
path, line and digest, and carries the text of chosen sentences only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from . import library
from .context import Context, text, word
from .failure import ToolFailure

PASSAGES = 40
"""Passages that are handed on to the extraction."""
CANDIDATES = 200
SENTENCES = 20
MAX_LISTED = 50


def scan_documents(args: dict[str, Any], context: Context) -> Any:
    """Reads the documents of a folder: how many there are, and what was skipped and why (FDC-53)."""
    name = word(args, "folder", ".")
    include = word(args, "include", "documents")
    if include not in ("documents", "code"):
        raise ToolFailure("argument", f"`include` is `documents` or `code`, found `{include[:40]}`")
    with library.folder(name, context) as opened:
        shelf = library.read(opened, include == "code")
    found = shelf.scan
    reasons = Counter(_kind(one.reason) for one in found.skipped)
    return {
        "folder": name,
        "include": include,
        "digest": found.digest,
        "documents": len(found.documents),
        "lines": sum(len(document.lines) for document in found.documents),
        "bytes": sum(document.size for document in found.documents),
        "list": [{"path": document.path, "lines": len(document.lines)} for document in found.documents[:MAX_LISTED]],
        "skipped": [{"path": one.path, "reason": one.reason} for one in found.skipped[:MAX_LISTED]],
        "skipped_count": len(found.skipped),
        "reasons": dict(sorted(reasons.items())),
    }


def scope_question(args: dict[str, Any], context: Context) -> Any:
    """What a question asks about, how much each of it tells, and what no document has (FDC-52: scoping, keywords)."""
    from .question import Concept, concepts_of
    from .spelling import respell

    question = text(args, "question").strip()
    if not question:
        raise ToolFailure("argument", "the question is empty")
    shelf, _ = _shelf(args, context)
    asked = concepts_of(question)
    index = shelf.index(asked)
    rows = []
    respelled = {}
    for concept in asked:
        instead = respell(index, concept) if not index.having(concept) else None
        if instead is not None:
            respelled[concept.word] = instead
            concept = Concept(instead, ((instead, 1.0),))
        rows.append({"word": concept.word, "variants": [list(one) for one in concept.variants], "phrase": concept.phrase,
                     "weight": round(index.rarity(concept), 6)})  # fmt: skip
    known = [row for row in rows if row["weight"]]
    return {
        "question": question[:2000],
        "concepts": rows,
        "known": len(known),
        "keywords": ", ".join(str(row["word"]) for row in known),
        "missing": [row["word"] for row in rows if not row["weight"]],
        "respelled": respelled,
    }


def search_passages(args: dict[str, Any], context: Context) -> Any:
    """The passages that speak of the question, broadly: best first, with their places (FDC-52: broad gathering)."""
    from .retrieve import refine, search

    concepts, _ = _concepts(args)
    shelf, changed = _shelf(args, context)
    index = shelf.index(concepts)
    question = _text(_object(args, "scope"), "question")
    found = search(index, concepts, CANDIDATES)
    ranked = refine(index, concepts, found, question)[:PASSAGES]
    rows = []
    for one in ranked:
        passage = index.passages[one.passage]
        path = index.documents[passage.document].path
        rows.append({"path": path, "line": passage.line, "end_line": passage.end_line, "score": round(one.score, 6)})
    return {
        "passages": rows,
        "count": len(rows),
        "of": len(index.passages),
        "documents": len({row["path"] for row in rows}),
        "changed": changed,
    }


def extract_evidence(args: dict[str, Any], context: Context) -> Any:
    """The sentences of those passages that answer the question, quoted exactly (FDC-52: targeted extraction)."""
    from .extract import extract

    concepts, weights = _concepts(args)
    rows = _list(args, "passages")
    shelf, changed = _shelf(args, context)
    passages = [
        (_text(row, "path"), _count(row, "line"), _count(row, "end_line"), float(row.get("score", 0.0))) for row in rows
    ]
    named = {passage[0] for passage in passages}
    documents = [document for document in shelf.scan.documents if document.path in named]
    found = extract(documents, passages, concepts, weights, _text(_object(args, "scope"), "question"), SENTENCES)
    return {
        "citations": [_row(one) for one in found],
        "count": len(found),
        "documents": len({one.path for one in found}),
        "changed": changed,
    }


def check_citations(args: dict[str, Any], context: Context) -> Any:
    """Opens every citation's file again and compares the quoted text; hands on those that hold (EXP-17)."""
    from . import cite

    scan = _object(args, "scan")
    citations = [_citation(row) for row in _list(args, "citations")]
    with library.folder(_text(scan, "folder"), context) as opened:
        done = cite.check(opened.base, citations)
    return {
        "checked": done.checked,
        "held": len(done.held),
        "citations": [_row(one) for one in done.held],
        "failures": [{"path": one.path, "line": one.line, "why": one.why} for one in done.failures],
    }


def synthesise(args: dict[str, Any], context: Context) -> Any:
    """One readable report of the sentences that hold, each with its place (FDC-52: synthesis). Pure."""
    from .synthesise import synthesise as written

    scope, scan, checked = _object(args, "scope"), _object(args, "scan"), _object(args, "evidence")
    citations = [_citation(row) for row in _list(checked, "citations")]
    weights = {_text(row, "word"): float(row.get("weight", 0.0)) for row in _list(scope, "concepts")}
    failures = [f"`{_text(row, 'path')}:{_count(row, 'line')}`: {_text(row, 'why')}" for row in _list(checked, "failures")]
    respelled = {str(word): str(instead) for word, instead in (scope.get("respelled") or {}).items()}
    facts = _facts(scan, checked)
    report = written(_text(scope, "question"), citations, weights, respelled, facts, failures, _skipped(scan))
    return {
        "markdown": report.markdown,
        "answer": report.answer,
        "note": report.note,
        "checked": _count(checked, "checked"),
        "held": _count(checked, "held"),
    }


def cited(args: dict[str, Any], context: Context) -> Any:
    """The predicate `cited(value)`: the value carries at least one citation, and every one was checked and holds."""
    value = (args.get("args") or [None])[0]
    if not isinstance(value, dict):
        return False
    checked, held = value.get("checked"), value.get("held")
    return isinstance(checked, int) and checked > 0 and checked == held


def _facts(scan: Mapping[str, Any], checked: Mapping[str, Any]) -> list[str]:
    what = "documents and source files" if scan.get("include") == "code" else "documents"
    quoted, held = _count(checked, "checked"), _count(checked, "held")
    how = (
        "Retrieval and extraction, no model: passages are ranked by the question's words (SQLite FTS5, BM25), sentences "
        "are chosen by what they say of them. Nothing is paraphrased; headings and order are all that was added."
    )
    what = f"{_count(scan, 'documents'):,} {what} with {_count(scan, 'lines'):,} lines"
    return [
        how,
        f"Read: {what} in `{_text(scan, 'folder')}` (SHA-256 {_text(scan, 'digest')[:16]}).",
        f"Citations checked: {quoted}; they hold: {held}. Each was opened again and compared, character by character.",
    ]


def _skipped(scan: Mapping[str, Any]) -> list[str]:
    total = _count(scan, "skipped_count")
    if not total:
        return []
    reasons = scan.get("reasons")
    rows = sorted(reasons.items(), key=lambda row: (-row[1], row[0])) if isinstance(reasons, dict) else []
    return [f"Not read: {total} {'file' if total == 1 else 'files'} ({', '.join(f'{count} {why}' for why, count in rows[:8])})."]


def _kind(reason: str) -> str:
    """A reason without its particulars, for counting."""
    for start, short in (("the same text as ", "the same text as another"), ("not UTF-8", "not UTF-8")):
        if reason.startswith(start):
            return short
    return reason


def _shelf(args: Mapping[str, Any], context: Context) -> tuple[library.Shelf, bool]:
    """The documents of the scan that a step was given, and whether they have changed since."""
    scan = _object(args, "scan")
    digest = _text(scan, "digest")
    with library.folder(_text(scan, "folder"), context) as opened:
        shelf = library.get(opened, scan.get("include") == "code", digest)
    return shelf, shelf.scan.digest != digest


def _concepts(args: Mapping[str, Any]) -> tuple[list[Any], list[float]]:
    from .question import Concept

    rows = _list(_object(args, "scope"), "concepts")
    try:
        concepts = [
            Concept(str(row["word"]), tuple((str(one), float(by)) for one, by in row["variants"]), bool(row["phrase"]))
            for row in rows
        ]
        return concepts, [float(row["weight"]) for row in rows]
    except (KeyError, TypeError, ValueError):
        raise ToolFailure("argument", "`scope` is not what scope_question returns") from None


def _citation(row: Mapping[str, Any]) -> Any:
    from .extract import Citation

    try:
        return Citation(
            str(row["path"]), int(row["line"]), int(row["column"]), int(row["end_line"]), int(row["end_column"]),
            str(row["text"]), tuple(map(str, row["section"])), str(row["label"]), float(row["score"]), str(row["role"]),
            int(row["group"]), tuple(map(str, row["has"])),
        )  # fmt: skip
    except (KeyError, TypeError, ValueError):
        raise ToolFailure("argument", "`citations` are not what extract_evidence returns") from None


def _row(one: Any) -> dict[str, Any]:
    return {
        "path": one.path, "line": one.line, "column": one.column, "end_line": one.end_line, "end_column": one.end_column,
        "text": one.text, "section": list(one.section), "label": one.label, "score": one.score, "role": one.role,
        "group": one.group, "has": list(one.has),
    }  # fmt: skip


def _object(args: Mapping[str, Any], name: str) -> dict[str, Any]:
    value = args.get(name)
    if not isinstance(value, dict):
        raise ToolFailure("argument", f"`{name}` is not the result of an earlier step")
    return value


def _list(args: Mapping[str, Any], name: str) -> list[Any]:
    value = args.get(name)
    if not isinstance(value, list) or not all(isinstance(row, dict) for row in value):
        raise ToolFailure("argument", f"`{name}` is not a list from an earlier step")
    return value


def _text(row: Mapping[str, Any], name: str) -> str:
    value = row.get(name)
    if not isinstance(value, str):
        raise ToolFailure("argument", f"`{name}` is missing from the result of an earlier step")
    return value


def _count(row: Mapping[str, Any], name: str) -> int:
    value = row.get(name)
    if not isinstance(value, int) or isinstance(value, bool):
        raise ToolFailure("argument", f"`{name}` is missing from the result of an earlier step")
    return value
