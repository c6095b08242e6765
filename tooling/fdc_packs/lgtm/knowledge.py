"""Knowledge: what a search found, as standard Markdown entries, each with its sources. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple, cast

from .names import generate_file_name
from .search import NEWS

if TYPE_CHECKING:
    from .shapes.artifacts import KnowledgeEntry, LogLine, Worldview
    from .shapes.found import Stub, Stubs, WrittenEntry

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
        raise ValueError(f"the confidence `{found['confidence'][:40]}` is not a number") from None
    if not 0.0 <= confidence <= 1.0:
        raise ValueError(f"the confidence {confidence} is not between 0 and 1")
    sources = tuple(line.removeprefix("- ") for line in found["sources"].rstrip("\n").split("\n"))
    return Entry(found["title"], confidence, sources, found["summary"], found["snippet"] or "")


def stubs(found: object, wv: Worldview, owner: str, most: int = 8, also: object = None) -> Stubs:
    """What of one search's result, or of two, becomes knowledge: rows with a source that is not known yet, numbered within
    `owner`. What counts against a place, and a whole body, is news also where the place is known.

    Rows without a source are dropped and counted (LGTM-51). The ids of two owners never meet (LGTM-40).
    """
    known = {row["source"] for row in wv["knowledgeBase"]["entries"]}
    rows: list[Stub] = []
    dropped = 0
    searches = [one for one in (found, also) if isinstance(one, dict)]
    for row in [row for one in searches for row in one.get("rows") or ()]:
        source = str(row.get("source") or "") if isinstance(row, dict) else ""
        if not source or not str(row.get("quote") or "").strip():
            dropped += 1
        elif (source not in known or row.get("kind") in NEWS) and len(rows) < int(most):
            known.add(source)
            ident = f"{owner}_{len(rows) + 1:02d}"
            path = "knowledge/" + generate_file_name("k", ident, "evidence", "md")
            rows.append(cast("Stub", {**row, "entryID": ident, "entryPath": path}))
    warn = f"{dropped} finds of {owner} have no source and were dropped" if dropped else ""
    told = next((one["warn"] for one in searches if isinstance(one.get("warn"), str)), "")
    return {
        "stubs": rows,
        "dropped": dropped,
        "warn": warn,
        "count": len(rows),
        "told": told,
    }


def said(request: object, stubs: object) -> list[LogLine]:
    """The warnings that a search gave, in the order of the run: of the recommendation, of the tool, of the finds (LGTM-45)."""
    asked = request if isinstance(request, dict) else {}
    found = stubs if isinstance(stubs, dict) else {}
    rows = [*(asked.get("warns") or [asked.get("warn")]), found.get("told"), found.get("warn")]
    return [{"level": "Warn", "message": str(row)} for row in rows if row]


def write_up(stub: Stub) -> WrittenEntry:
    """`validate.knowledge`: the entry of a find, by rule: where it stands, what was found there, the lines around it; its
    file, and how the worldview has it (LGTM-07, 20, 51). Nothing of a find is told in other words."""
    quote, source = " ".join(str(stub["quote"]).split()), str(stub["source"])
    summary = f"{stub.get('note') or 'A find'} ({source}): {quote}"
    snippet = str(stub.get("snippet") or "").strip("\n")
    ticks = "`" * max([3, *(len(run) + 1 for run in re.findall("`+", snippet))])
    shown = f"{ticks}\n{snippet}\n{ticks}" if snippet else ""
    title = " ".join(str(stub.get("title") or source).split())[:120]
    made = Entry(title, float(stub.get("confidence") or 0.5), (source,), summary, shown)
    entry: KnowledgeEntry = {
        "entryID": stub["entryID"], "source": source, "filePath": stub["entryPath"], "contentType": "text/markdown",
        "contentSummary": summary, "confidence": made.confidence,
    }  # fmt: skip
    return {
        "ok": True,
        "path": stub["entryPath"],
        "text": formatted(made),
        "entry": entry,
        "stub": stub,
    }


def lines_of(entry: Entry) -> str:
    """The lines that an entry shows, without their fence."""
    return "\n".join(entry.snippet.split("\n")[1:-1])
