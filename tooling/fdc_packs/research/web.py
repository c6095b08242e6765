"""What a research plan does with the pages that it has read, and with what a model made of documents and pages.

A page is a document whose path is its address; its text is that which was read (`web_pages`). A claim
of a model counts where every line that it quotes was opened and has the quotation in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fdc_toolchain.api.files import Document, Scan
from fdc_toolchain.api.text import narrow
from fdc_toolchain.api.tools import Context, web_pages

from .answering import quotes
from .arguments import (
    count_of,
    labelled,
    list_of,
    object_of,
    pages_of,
    shelf_of,
    text_of,
    with_code,
    words_of,
)
from .retrieval import library
from .retrieval.tools import passages_of, scoped

SOURCES = 8
LINES_OF_SOURCE = 120
CHARACTERS_OF_SOURCE = 8000
AROUND = 2
"""Lines around a passage that a model is shown with it."""
MOST_CLAIMS = 40


def join_pages(args: Mapping[str, object], context: Context) -> object:
    """Documents and pages together: what the question means among both, and the passages of both, best first.

    Where no page was read, what was gathered before is handed on as it is.
    """
    scope, passages = object_of(args, "scope"), list_of(args, "passages")
    rows = web_pages.read_pages(args.get("pages"))
    value: dict[str, Any] = {"scope": scope, "passages": passages, "known": scope.get("known", 0), "pages": rows,
                             "count": len(rows), "web": _web(args.get("hits"), args.get("pages"), rows)}  # fmt: skip
    if not rows:
        return value
    shelf, _ = shelf_of(args, context)
    both = library.Shelf("", Scan([*shelf.scan.documents, *pages_of(args, context)]))
    code = shelf if with_code(args) else None
    wider = scoped(str(scope.get("question", "")), words_of(scope.get("terms")), both, code)
    if (
        code is not None
    ):  # a source tree is searched in another way than prose: what was found in it stays
        both = library.Shelf("", Scan(pages_of(args, context)))
    more = narrow(passages_of(wider, both)["passages"], list)
    more = more if code is None else [*passages, *more]
    value |= {"scope": wider, "known": wider["known"], "passages": more}
    return labelled(value, args)


def _web(hits: Any, pages: Any, read: list[dict[str, Any]]) -> dict[str, Any]:
    """What was searched and read on the web, and what could not be."""
    failed, searched = [], []
    for row in _rows(hits):
        if "failed" in row:
            failed.append({"what": "the web", "why": str(row.get("why"))})
        else:
            found = row.get("hits")
            count = len(found) if isinstance(found, list) else 0
            searched.append(
                {"query": row.get("query", ""), "provider": row.get("provider", ""), "hits": count}
            )
    for row in _rows(pages):
        if "failed" in row:
            failed.append({"what": "", "why": str(row.get("why"))})
    unlike = {(row["what"], row["why"]): row for row in failed}
    shown = [
        {key: row.get(key, "") for key in ("url", "title", "fetched", "sha256", "lines")}
        for row in read
    ]
    return {"searched": searched, "failed": list(unlike.values()), "pages": shown}


def _rows(value: Any) -> list[dict[str, Any]]:
    return [row for row in value if isinstance(row, dict)] if isinstance(value, list) else []


def open_sources(args: Mapping[str, object], context: Context) -> object:
    """The best documents and pages, each with the lines that speak of the question: numbered, as a model is shown them."""
    evidence = list_of(object_of(args, "evidence"), "citations")
    spans: dict[str, list[tuple[int, int]]] = {}
    for row in [*list_of(args, "passages")]:
        spans.setdefault(text_of(row, "path"), []).append(
            (count_of(row, "line"), count_of(row, "end_line"))
        )
    shelf, _ = shelf_of(args, context)
    pages = {page.path: page for page in pages_of(args, context)}
    documents = {document.path: document for document in shelf.scan.documents} | pages
    order = dict.fromkeys([*(str(row.get("path")) for row in evidence), *spans])
    out: list[dict[str, Any]] = []
    for path in order:
        document = documents.get(path)
        if document is not None and len(out) < SOURCES:
            kind = "page" if path in pages else "document"
            quotes = [
                _quote(row)
                for row in evidence
                if row.get("path") == path and row.get("role") == "answer"
            ]
            source = {
                "path": path,
                "kind": kind,
                "text": _numbered(document, spans.get(path, [])),
                "evidence": quotes,
            }
            out.append({**source, "trust": "untrusted"} if kind == "page" else source)
    return labelled({"list": out, "count": len(out)}, args)


def _quote(row: Mapping[str, Any]) -> dict[str, Any]:
    return {"line": row.get("line"), "quote": str(row.get("text", "")).split("\n")[0]}


def _numbered(document: Document, spans: list[tuple[int, int]]) -> str:
    """Lines of a document, each with its number, gaps shown; the passages that come first are kept first."""
    wanted: set[int] = set()
    size = 0
    for first, last in spans or [(1, LINES_OF_SOURCE)]:
        for number in range(max(1, first - AROUND), min(len(document.lines), last + AROUND) + 1):
            if (
                number not in wanted
                and len(wanted) < LINES_OF_SOURCE
                and size < CHARACTERS_OF_SOURCE
            ):
                wanted.add(number)
                size += min(len(document.lines[number - 1]), 2000) + 8
    rows = []
    before = 0
    for number in sorted(wanted):
        if number != before + 1:
            rows.append("...")
        rows.append(f"{number}: {document.lines[number - 1][:2000]}")
        before = number
    return "\n".join(rows)


def check_claims(args: Mapping[str, object], context: Context) -> object:
    """Opens every line that claims cite, in files as they are and in pages as they were read, and compares the quotation;
    a claim with one that does not hold is rejected (EXP-16, EXP-17)."""
    given = args.get("claims")
    claims = given.get("claims") if isinstance(given, dict) else None
    scan = object_of(args, "scan")
    pages = {page.path: page.lines for page in pages_of(args, context)}
    with library.folder(text_of(scan, "folder"), context) as opened:
        rows = claims[:MOST_CLAIMS] if isinstance(claims, list) else []
        done = quotes.check_claims(rows, quotes.Lines(opened.base, pages))
    held = [
        {"claim": str(row.get("claim", ""))[:2000], "citations": row["citations"]}
        for row in done.held
    ]
    value = {
        "held": held,
        "rejected": [{"claim": row["claim"], "why": row["why"]} for row in done.rejected],
        "checked": done.opened,
        "open_questions": [],
        "why": "",
    }
    if isinstance(given, dict):
        value |= {
            "open_questions": given.get("open_questions") or [],
            "why": str(given.get("why") or ""),
        }
    if any(one["path"] in pages for row in held for one in row["citations"]):
        value["trust"] = (
            "untrusted"  # what a model makes of it is text from outside too, and the journal says so
        )
    return labelled(value, args)
