"""What a run ends with where no model judges: the finds, best first, and what no one decided. Pure."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from .search import AGAINST, subject_of
from .shown import kept
from .statements import words_missing
from .worldview import outcome as ended

if TYPE_CHECKING:
    from .shapes.artifacts import KnowledgeEntry, Worldview
    from .shapes.found import Stub
    from .shapes.steps import Outcome

WIDTH = 80
FIRST = 6
"""Finds whose names are looked up."""
MOST = 148
"""Characters of a quotation that are shown."""


def texts(wv: Worldview) -> list[str]:
    """`state.texts`: the question and what was found first, whose names are looked up for and against."""
    rows = [_told(row)[0] for row in wv["knowledgeBase"]["entries"]]
    return [wv["meta"]["originalQuestion"], *dict.fromkeys(row for row in rows if "`" in row)][
        :FIRST
    ]


def outcome(wv: Worldview, results: object) -> Outcome:
    """`state.collected`: how such a run ended, with a text that is read as it stands."""
    why = next((row["message"] for row in reversed(wv["log"]) if row["level"] == "Warn"), "")
    why = why.removesuffix(", and the tool needs one") or "no hypothesis was made"
    out = ended(wv, "collected", f"{why}.")
    later = [row["stub"] for row in kept(results)]
    careful = [row for row in later if row.get("kind") in AGAINST]
    entries = wv["knowledgeBase"]["entries"][: len(wv["knowledgeBase"]["entries"]) - len(later)]
    page = [f"# Evidence: {out['question']}", "", f"No plan: {out['why']}", "",
            "Nothing below was judged. It is what the files say, best first.", "", "## What was found", ""]  # fmt: skip
    page += [] if entries else ["Nothing."]
    page += [line for row in entries for line in _row(row["source"], *_told(row))]
    named = list(_named(later))
    page += ["", "## The code that it names", "", *named] if named else []
    page += ["", "## What to be careful with", ""] if careful else []
    page += [line for row in careful for line in _row(row["source"], row["note"], row["quote"])]
    page += ["", "## What could not be decided", ""]
    page.append("- What to change: that takes a model (`--model NAME`) or a person.")
    told = [
        *(row["contentSummary"] for row in entries),
        *(str(row.get("snippet")) for row in later),
    ]
    silent = words_missing(subject_of(out["question"]), " ".join(told))
    if silent:
        spoken = ", ".join(f"“{word}”" for word in silent)
        page.append(f"- Nothing that was found speaks of {spoken}.")
    return {**out, "markdown": "\n".join(part for line in page for part in folded(line))}


def _told(entry: KnowledgeEntry) -> tuple[str, str]:
    """What an entry is, and what it quotes."""
    note, _, quote = str(entry["contentSummary"]).partition(f" ({entry['source']}): ")
    return note, quote


def _row(source: str, note: str, quote: str) -> list[str]:
    return [
        f"- {source}: {note[:1].lower()}{note[1:]}",
        f"      {textwrap.shorten(quote, MOST, placeholder=' ...')}",
    ]


def _named(rows: Sequence[Stub]) -> Iterator[str]:
    """A line for each definition that was looked up: who uses it, and where."""
    for row in rows:
        if row.get("kind") == "body":
            short = row["subject"].rpartition(".")[2]
            used = [
                one["source"]
                for one in rows
                if one.get("kind") == "use" and one["subject"] == short
            ]
            shown = f": {', '.join(used)}" if used else ""
            told, defined, more = row["note"].partition(" is defined here")
            note = told + more if defined else f"`{row['subject']}`"
            yield f"- {row['source']}: {note}{shown}"


def folded(line: str, width: int = WIDTH) -> list[str]:
    """A line of prose in lines of a terminal, the further ones under its first word; no word is cut."""
    inner = line.lstrip(" ->")
    indent = " " * (len(line) - len(inner))
    return textwrap.wrap(
        line, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    ) or [line]
