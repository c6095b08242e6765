"""The tools of a research plan: scan, scope, search, extract, check, synthesise. No model; the pages
of the web that they work on were read by `web_tools` before.

Each takes what the step before it returned. What they return is journaled, so it names documents by
path, line and digest, and carries the text of chosen sentences only.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Mapping, Sequence
from typing import Any

from fdc_toolchain.api.tools import Context, ToolFailure, word

from .arguments import (
    count_of,
    labelled,
    list_of,
    number_of,
    object_of,
    pages_of,
    shelf_of,
    text_of,
    with_code,
    words_of,
)
from .retrieval import library
from .retrieval.tools import concepts_given, question_of

SENTENCES = 20
MAX_LISTED = 50


def scan_documents(args: Mapping[str, object], context: Context) -> object:
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
        "list": [
            {"path": document.path, "lines": len(document.lines)}
            for document in found.documents[:MAX_LISTED]
        ],
        "skipped": [{"path": one.path, "reason": one.reason} for one in found.skipped[:MAX_LISTED]],
        "skipped_count": len(found.skipped),
        "reasons": dict(sorted(reasons.items())),
    }


def extract_evidence(args: Mapping[str, object], context: Context) -> object:
    """The sentences of those passages that answer the question, quoted exactly (FDC-52: targeted extraction)."""
    from .retrieval.extract import extract

    concepts, weights = concepts_given(args)
    rows = list_of(args, "passages")
    shelf, changed = shelf_of(args, context)
    passages = [
        (
            text_of(row, "path"),
            count_of(row, "line"),
            count_of(row, "end_line"),
            number_of(row, "score"),
        )
        for row in rows
    ]
    named = {passage[0] for passage in passages}
    pages = pages_of(args, context)
    known = pages if with_code(args) else [*shelf.scan.documents, *pages]
    documents = [document for document in known if document.path in named]
    scope = object_of(args, "scope")
    found = extract(documents, passages, concepts, weights, text_of(scope, "question"), SENTENCES)
    if with_code(args):
        from .code import evidence

        found = _merged(evidence(question_of(scope), concepts, shelf, SENTENCES), found)
    outside = {page.path for page in pages}
    value = {
        "citations": [_row(one, outside) for one in found],
        "count": len(found),
        "documents": len({one.path for one in found}),
        "changed": changed,
    }
    return labelled(value, args)


def _merged(ours: list[Any], theirs: list[Any]) -> list[Any]:
    """Two lists of citations as one, best first: each measured by the best of its own list, groups whole."""
    from dataclasses import replace
    from itertools import groupby

    groups = []
    for rows in (ours, theirs):
        best = max((one.score for one in rows), default=0.0) or 1.0
        apart = groupby(rows, key=lambda one: one.group)
        groups += [
            [replace(one, score=round(one.score / best, 4)) for one in group] for _, group in apart
        ]
    groups.sort(key=lambda group: -max(one.score for one in group))
    return [replace(one, group=number) for number, group in enumerate(groups, 1) for one in group]


def check_citations(args: Mapping[str, object], context: Context) -> object:
    """Opens every citation's file, or the page as it was read, again and compares the quoted text; hands on those that
    hold (EXP-17)."""
    from . import cite

    scan = object_of(args, "scan")
    citations = [_citation(row) for row in list_of(args, "citations")]
    pages = {page.path: page.lines for page in pages_of(args, context)}
    with library.folder(text_of(scan, "folder"), context) as opened:
        done = cite.check(opened.base, citations, pages)
    value = {
        "checked": done.checked,
        "held": len(done.held),
        "citations": [_row(one, pages) for one in done.held],
        "failures": [{"path": one.path, "line": one.line, "why": one.why} for one in done.failures],
    }
    return labelled(value, args)


def synthesise(args: Mapping[str, object], context: Context) -> object:
    """One readable report of the sentences that hold, each with its place (FDC-52: synthesis). Pure."""
    from .synthesise import synthesise as written

    scope, scan, checked = (
        object_of(args, "scope"),
        object_of(args, "scan"),
        object_of(args, "evidence"),
    )
    citations = [_citation(row) for row in list_of(checked, "citations")]
    weights = {text_of(row, "word"): number_of(row, "weight") for row in list_of(scope, "concepts")}
    failures = [
        f"`{text_of(row, 'path')}:{count_of(row, 'line')}`: {text_of(row, 'why')}"
        for row in list_of(checked, "failures")
    ]
    spelled = _object_or_nothing(scope, "respelled")
    respelled = {str(word): str(instead) for word, instead in spelled.items()}
    web, answer = _object_or_nothing(args, "web"), _object_or_nothing(args, "answer")
    facts = _facts(scan, checked, web, answer)
    missing = [*_skipped(scan), *_unread(web)]
    claims = [row for row in answer.get("held", ()) if isinstance(row, dict)]
    open_questions = words_of(answer.get("open_questions"))
    report = written(
        text_of(scope, "question"),
        citations,
        weights,
        respelled,
        facts,
        failures,
        missing,
        claims,
        open_questions,
    )
    value = {
        "markdown": report.markdown,
        "answer": report.answer,
        "findings": [_origin(row, web.get("pages") or ()) for row in report.findings],
        "note": report.note,
        "checked": count_of(checked, "checked") + int(answer.get("checked") or 0),
        "held": count_of(checked, "held") + sum(len(row["citations"]) for row in claims),
    }
    return labelled(value, {"pages": web.get("pages")})


def cited(args: Mapping[str, object], context: Context) -> object:
    """The predicate `cited(value)`: the value carries at least one citation, and every one was checked and holds."""
    value = next(iter(given), None) if isinstance(given := args.get("args"), list) else None
    if not isinstance(value, dict):
        return False
    checked, held = value.get("checked"), value.get("held")
    return isinstance(checked, int) and checked > 0 and checked == held


def _origin(row: Mapping[str, Any], pages: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """A finding with where it is from: the target of its citations as FDC-56 names them, and how far it can be trusted.

    A quotation of a page is `untrusted`; so is all that a model says who was shown a page, whatever it cites.
    """
    urls = {str(page["url"]) for page in pages}
    cited = [
        {**one, "target": "external_web" if one["path"] in urls else "local_filesystem"}
        for one in row["citations"]
    ]
    quoted = [one["path"] for one in cited if one["target"] == "external_web"]
    model = row["by"] == "model"
    trust = "untrusted" if quoted or (model and urls) else "model" if model else "workspace"
    return {**row, "citations": cited, "trust": trust, "from": sorted(urls if model else {*quoted})}


def _facts(
    scan: Mapping[str, Any],
    checked: Mapping[str, Any],
    web: Mapping[str, Any],
    answer: Mapping[str, Any],
) -> list[str]:
    what = "documents and source files" if scan.get("include") == "code" else "documents"
    quoted, held = count_of(checked, "checked"), count_of(checked, "held")
    how = (
        "Retrieval and extraction, no model: passages are ranked by the question's words (SQLite FTS5, BM25), sentences "
        "are chosen by what they say of them. Nothing is paraphrased; headings and order are all that was added."
    )
    if answer.get("held"):
        how = (
            "The answer is a model's, made of what it noted of each source; each of its claims quotes a line that was opened "
            "and compared. The evidence below it was found by words (SQLite FTS5, BM25), without the model."
        )
    what = f"{count_of(scan, 'documents'):,} {what} with {count_of(scan, 'lines'):,} lines"
    out = [
        how,
        f"Read: {what} in `{text_of(scan, 'folder')}` (SHA-256 {text_of(scan, 'digest')[:16]}).",
    ]
    for row in web.get("searched", ()):
        out.append(
            f"Searched the web for `{_flat(row['query'])}` ({row['provider']}): {row['hits']} results."
        )
    for row in web.get("pages", ()):
        out.append(
            f"Read: {_inert(row['url'])}, {row['fetched']}, {row['lines']} lines (SHA-256 {row['sha256'][:16]})."
        )
    if web.get("pages"):
        out.append(
            "Pages of the web are what strangers wrote; they are quoted as they were when they were read."
        )
    if answer.get("why"):
        out.append(f"The model wrote no answer: {_inert(answer['why'])}.")
    rejected = answer.get("rejected") or ()
    if rejected:
        out.append(
            f"Claims of the model that were thrown away, because a quotation does not hold: {len(rejected)}."
        )
    return [
        *out,
        f"Citations checked: {quoted}; they hold: {held}. Each was opened again and compared, character by character.",
    ]


def _unread(web: Mapping[str, Any]) -> list[str]:
    rows = [": ".join(filter(None, (row["what"], row["why"]))) for row in web.get("failed", ())]
    return [f"Not read: {_inert(row)}." for row in rows]


def _object_or_nothing(args: Mapping[str, Any], name: str) -> dict[str, Any]:
    value = args.get(name)
    return value if isinstance(value, dict) else {}


def _inert(text: Any) -> str:
    """Words of others in a sentence of ours: no code span, tag, link or image."""
    return re.sub(r"\\*([<\[])", r"\\\1", _flat(text)).rstrip("\\")


def _flat(text: Any) -> str:
    return " ".join(str(text).replace("`", "'").split())[:300]


def _skipped(scan: Mapping[str, Any]) -> list[str]:
    total = count_of(scan, "skipped_count")
    if not total:
        return []
    reasons = scan.get("reasons")
    rows = (
        sorted(reasons.items(), key=lambda row: (-row[1], row[0]))
        if isinstance(reasons, dict)
        else []
    )
    return [
        f"Not read: {total} {'file' if total == 1 else 'files'} ({', '.join(f'{count} {why}' for why, count in rows[:8])})."
    ]


def _kind(reason: str) -> str:
    """A reason without its particulars, for counting."""
    for start, short in (
        ("the same text as ", "the same text as another"),
        ("not UTF-8", "not UTF-8"),
    ):
        if reason.startswith(start):
            return short
    return reason


def _citation(row: Mapping[str, Any]) -> Any:
    from .retrieval.citations import Citation

    try:
        return Citation(
            str(row["path"]), int(row["line"]), int(row["column"]), int(row["end_line"]), int(row["end_column"]),
            str(row["text"]), tuple(map(str, row["section"])), str(row["label"]), float(row["score"]), str(row["role"]),
            int(row["group"]), tuple(map(str, row["has"])),
        )  # fmt: skip
    except (KeyError, TypeError, ValueError):
        raise ToolFailure("argument", "`citations` are not what extract_evidence returns") from None


def _row(one: Any, outside: Container[str]) -> dict[str, Any]:
    """A citation for the journal, with its label: whether it quotes one of the pages that are from outside."""
    return {
        "trust": "untrusted" if one.path in outside else "workspace",
        "path": one.path, "line": one.line, "column": one.column, "end_line": one.end_line, "end_column": one.end_column,
        "text": one.text, "section": list(one.section), "label": one.label, "score": one.score, "role": one.role,
        "group": one.group, "has": list(one.has),
    }  # fmt: skip
