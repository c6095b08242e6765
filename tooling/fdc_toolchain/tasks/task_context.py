"""Phase 1 of a task: collects what the workspace has about it (FDC-66). Pure: data in, one object out.

Entities are the definitions and files that the task's words name; impact is what imports
them; history is what the activity log and the post-mortems have about them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..named_tuples import NamedTuple
from .activity import Entry, failed
from .symbols import Symbol

MOST = 50
"""Maximum entries of one list; `left_off` has the number of the others."""

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:[./-][A-Za-z0-9_]+)*")
_QUOTED = re.compile(r"`([^`]+)`")
_SHORT = 4
"""Plain words of at most so many letters are ignored."""


class Known(NamedTuple):
    """What is known about a workspace: its index, its log, its post-mortems and its documents, the last two by path."""

    symbols: Sequence[Symbol] = ()
    edges: Sequence[tuple[str, str]] = ()
    entries: Sequence[Entry] = ()
    postmortems: Mapping[str, str] = {}
    documents: Mapping[str, Sequence[str]] = {}
    skipped: Sequence[tuple[str, str]] = ()


def context_of(goal: str, known: Known) -> dict[str, object]:
    """The context of a task: `entities`, `impact`, `history`, `documents`, each a list with sources."""
    words = set(_WORD.findall(goal))
    code = {word for word in words if not (word.isalpha() and word.islower())}
    code |= {word for quoted in _QUOTED.findall(goal) for word in _WORD.findall(quoted)}
    entities = _entities(words, code, known)
    paths = {row["path"] for row in entities}
    telling = {row["name"].rpartition(".")[2] for row in entities if row["kind"] != "file"} | (
        code & words
    )
    telling |= {word for word in words if len(word) > _SHORT}
    lists = {
        "entities": entities,
        "impact": _impact(paths, known.edges),
        "history": [*_logged(paths, telling, known.entries), *_lessons(telling, known.postmortems)],
        "documents": _mentions(telling, known.documents),
    }
    left_off = {name: len(rows) - MOST for name, rows in lists.items() if len(rows) > MOST}
    return {
        "goal": goal,
        **{name: rows[:MOST] for name, rows in lists.items()},
        "documents_read": len(known.documents),
        "skipped": [{"path": path, "reason": reason} for path, reason in known.skipped],
        "left_off": left_off,
    }


def _entities(words: set[str], code: set[str], known: Known) -> list[dict[str, Any]]:
    """What the words name: definitions, by words that look like code or are in backticks; files, by any word."""
    rows = [
        symbol._asdict()
        for symbol in known.symbols
        if symbol.name in code or symbol.name.rpartition(".")[2] in code
    ]
    files = (
        {path for edge in known.edges for path in edge}
        | {symbol.path for symbol in known.symbols}
        | set(known.documents)
    )
    for path in sorted(files):
        name = path.rpartition("/")[2]
        stem = name.partition(".")[0]
        if path in words or name in words or (len(stem) > _SHORT and stem in words):
            rows.append({"name": name, "kind": "file", "path": path, "line": 1})
    return sorted(rows, key=lambda row: (row["path"], row["line"], row["name"]))


def _impact(paths: set[str], edges: Iterable[tuple[str, str]]) -> list[dict[str, Any]]:
    """Every file that imports one of these, directly (distance 1) or by way of others, the nearest first."""
    import networkx

    graph = networkx.DiGraph((target, source) for source, target in edges)
    sources = paths & set(graph)
    if not sources:
        return []
    distances = networkx.multi_source_dijkstra_path_length(graph, sources, weight=None)
    rows = [
        {"path": path, "distance": int(distance)}
        for path, distance in distances.items()
        if distance
    ]
    return sorted(rows, key=lambda row: (row["distance"], row["path"]))


def _logged(paths: set[str], words: set[str], entries: Iterable[Entry]) -> list[dict[str, Any]]:
    """Log entries about these files or about tasks with these words, the latest first."""
    rows = []
    for item in entries:
        task, action, outcome = (item.get(name) for name in ("task", "action", "outcome"))
        if not (isinstance(task, dict) and isinstance(action, dict) and isinstance(outcome, dict)):
            continue
        details = action.get("details")
        path = details.get("path") if isinstance(details, dict) else None
        if path not in paths and not words & set(_WORD.findall(str(task.get("id")))):
            continue
        row = {
            "task": task.get("id"),
            "when": item.get("timestamp"),
            "action": action.get("type"),
            "path": path,
        }
        if failed(item):
            error = outcome.get("error")
            row["failed"] = error.get("message") if isinstance(error, dict) else error
        rows.append({name: value for name, value in row.items() if value is not None})
    return rows[::-1]


def _lessons(words: set[str], postmortems: Mapping[str, str]) -> list[dict[str, Any]]:
    """Lines of post-mortems with these words, the latest post-mortem first."""
    return [
        {"postmortem": path, "line": number, "text": text}
        for path in sorted(postmortems, reverse=True)
        for number, text in _lines(words, postmortems[path].splitlines())
    ]


def _mentions(words: set[str], documents: Mapping[str, Sequence[str]]) -> list[dict[str, Any]]:
    """The first line of each document that has one of these words."""
    rows = []
    for path in sorted(documents):
        mention = next(iter(_lines(words, documents[path])), None)
        if mention is not None:
            rows.append({"path": path, "line": mention[0], "text": mention[1]})
    return rows


def _lines(words: set[str], lines: Iterable[str]) -> Iterable[tuple[int, str]]:
    for number, line in enumerate(lines, 1):
        if words & set(_WORD.findall(line)):
            yield number, line.strip()[:300]
