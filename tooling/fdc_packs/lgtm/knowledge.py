"""Knowledge: what a search found, as standard Markdown entries, each with its sources. Pure."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from .names import ENTRY, generate_file_name
from .search import AGAINST

_SECTIONS = re.compile(
    r"\A# (?P<title>[^\n]+)\n+\*\*Confidence:\*\* (?P<confidence>[^\n]*)\n+\*\*Sources:\*\*\n+(?P<sources>(?:- [^\n]+\n)+)"
    r"\n*\*\*Summary:\*\*\n(?P<summary>.*?)(?:\n\n---\n\n(?P<snippet>.*))?\Z",
    re.DOTALL,
)


class Entry(NamedTuple):
    """What stands in a knowledge file. `snippet` is empty where it has none."""

    title: str
    confidence: float
    sources: tuple[str, ...]
    summary: str
    snippet: str = ""


def formatted(entry: Entry) -> str:
    """The file of an entry (LGTM-07)."""
    rows = [f"# {entry.title}", "", f"**Confidence:** {entry.confidence}", "", "**Sources:**", ""]
    rows += [f"- {source}" for source in entry.sources]
    rows += ["", "**Summary:**", entry.summary]
    return "\n".join(rows) + (f"\n\n---\n\n{entry.snippet}" if entry.snippet else "")


def parsed(text: str) -> Entry:
    """The entry in a file: `parsed(formatted(x)) == x`. Raises ValueError that names the section which is not there."""
    found = _SECTIONS.match(text.rstrip("\n"))
    if found is None:
        marks = (
            ("# ", "title"),
            ("**Confidence:** ", "Confidence"),
            ("**Sources:**", "Sources"),
            ("**Summary:**", "Summary"),
        )
        for mark, name in marks:
            if not re.search(rf"^{re.escape(mark)}", text, re.MULTILINE):
                raise ValueError(f"the section {name} is missing")
        raise ValueError("the sections are not in order, or a source is not in the list")
    if not found["summary"].strip():
        raise ValueError("the section Summary is empty")
    try:
        confidence = float(found["confidence"])
    except ValueError:
        raise ValueError(f"the confidence `{found['confidence'][:40]}` is no number") from None
    if not 0.0 <= confidence <= 1.0:
        raise ValueError(f"the confidence {confidence} is not between 0 and 1")
    sources = tuple(line.removeprefix("- ") for line in found["sources"].rstrip("\n").split("\n"))
    return Entry(found["title"], confidence, sources, found["summary"], found["snippet"] or "")


def stubs(found: Any, wv: dict[str, Any], owner: str, most: int = 8) -> dict[str, Any]:
    """What of a search's result becomes knowledge: rows with a source that is not known yet, numbered within `owner`.
    What counts against a place is news also where the place is known.

    Rows without a source are dropped and counted (LGTM-51). The ids of two owners never meet (LGTM-40).
    """
    known = {row["source"] for row in wv["knowledgeBase"]["entries"]}
    rows: list[dict[str, Any]] = []
    dropped = 0
    for row in found.get("rows", []) if isinstance(found, dict) else []:
        source = str(row.get("source") or "") if isinstance(row, dict) else ""
        if not source or not str(row.get("quote") or "").strip():
            dropped += 1
        elif (source not in known or row.get("kind") in AGAINST) and len(rows) < int(most):
            known.add(source)
            ident = f"{owner}_{len(rows) + 1:02d}"
            rows.append(
                {
                    **row,
                    "entryID": ident,
                    "entryPath": "knowledge/" + generate_file_name("k", ident, "evidence", "md"),
                }
            )
    warn = f"{dropped} finds of {owner} have no source and were dropped" if dropped else ""
    told = found.get("warn") if isinstance(found, dict) else None
    return {
        "stubs": rows,
        "dropped": dropped,
        "warn": warn,
        "count": len(rows),
        "told": told if isinstance(told, str) else "",
    }


def said(request: Any, stubs: Any, results: Any) -> list[dict[str, str]]:
    """The warnings that a search gave, in the order of the run: of the recommendation, of the tool, of the finds, of each that
    was written up (LGTM-45)."""
    rows = [request.get("warn")] if isinstance(request, dict) else []
    rows += [stubs.get("told"), stubs.get("warn")] if isinstance(stubs, dict) else []
    rows += [
        f"Rejected: {row['why']}"
        for row in results or ()
        if isinstance(row, dict) and not row.get("ok")
    ]
    return [{"level": "Warn", "message": str(row)} for row in rows if row]


def write_up(stub: dict[str, Any]) -> str:
    """The entry of a stub where no model is configured: its quotation, and what was found there."""
    quote = " ".join(str(stub["quote"]).split())
    summary = f"{stub.get('note') or 'A find'} ({stub['source']}): {quote}"
    snippet = str(stub.get("snippet") or "").strip("\n")
    fence = (
        "`" * max(3, *(len(run) + 1 for run in re.findall("`+", snippet)))
        if "`" in snippet
        else "```"
    )
    shown = f"{fence}\n{snippet}\n{fence}" if snippet else ""
    title = " ".join(str(stub.get("title") or stub["source"]).split())[:120]
    return formatted(
        Entry(title, float(stub.get("confidence") or 0.5), (str(stub["source"]),), summary, shown)
    )


def validate(text: Any, stub: dict[str, Any]) -> dict[str, Any]:
    """A knowledge file before it is written: `ok`, `why`, and the entry as the worldview has it (LGTM-07, 20, 51)."""
    out = {
        "ok": False,
        "why": "",
        "path": stub["entryPath"],
        "text": "",
        "entry": None,
        "stub": stub,
    }
    ident = str(stub["entryID"])
    if not ENTRY.match(ident) or stub["entryPath"] != "knowledge/" + generate_file_name(
        "k", ident, "evidence", "md"
    ):
        return {**out, "path": "", "why": f"`{ident[:40]}` is no ident of an entry"}
    if not isinstance(text, str):
        return {
            **out,
            "why": f"{stub['entryPath']}: {text.get('why') if isinstance(text, dict) else 'it is no text'}",
        }
    try:
        found = parsed(text.strip() if text.lstrip().startswith("# ") else text)
    except ValueError as wrong:
        return {**out, "why": f"{stub['entryPath']}: {wrong}"}
    if stub["source"] not in found.sources:
        return {
            **out,
            "why": f"{stub['entryPath']}: the source {stub['source']} is not among its sources",
        }
    entry = {
        "entryID": stub["entryID"], "source": stub["source"], "filePath": stub["entryPath"], "contentType": "text/markdown",
        "contentSummary": found.summary.strip(), "confidence": found.confidence,
    }  # fmt: skip
    return {**out, "ok": True, "text": formatted(found), "entry": entry}
