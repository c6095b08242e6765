"""The pages that a run has read: their text in the run's own folder, with address, time and hash.

A citation of a page is checked against the text that was read, not against what the address brings
today. A page's file is named by the hash of its text, so nothing can be put in its place unseen.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from ... import durable
from ...workspace.failure import ToolFailure, from_os
from ..files.documents import Document

FOLDER = "pages"
_HASH = re.compile(r"[0-9a-f]{64}")
_MOST = 16 * 1024 * 1024


def keep(run_folder: str, row: Mapping[str, object], text: str, now: float) -> dict[str, object]:
    """Keeps a page's text; returns what a step hands on of it: `row`, `sha256` of the text, `fetched`, `lines`, `characters`."""
    data = text.encode("utf-8")
    digest = hashlib.sha256(data).hexdigest()
    fetched = datetime.fromtimestamp(now, UTC).isoformat(timespec="seconds")
    out = {
        **row,
        "sha256": digest,
        "fetched": fetched,
        "lines": text.count("\n") + 1,
        "characters": len(text),
    }
    folder = os.path.join(run_folder, FOLDER)
    try:
        os.makedirs(folder, exist_ok=True)
        durable.replace(os.path.join(folder, f"{digest}.txt"), data)
        durable.replace(
            os.path.join(folder, f"{digest}.json"),
            json.dumps(out, indent=1).encode("ascii") + b"\n",
        )
    except OSError as failed:
        raise from_os(failed, "a page cannot be stored") from failed
    return out


def lines_of(run_folder: str, digest: str) -> tuple[str, ...]:
    """The lines of a page that was kept. Raises ToolFailure where it is gone or is not what was read."""
    if not _HASH.fullmatch(digest):
        raise ToolFailure("argument", "the argument is not a page that the run has read")
    try:
        data = durable.read(os.path.join(run_folder, FOLDER, f"{digest}.txt"), limit=_MOST)
    except OSError as failed:
        raise from_os(failed, "a page that was read") from failed
    if data is None:
        raise ToolFailure("missing", "a page that was read is missing from the run's folder")
    if hashlib.sha256(data).hexdigest() != digest:
        raise ToolFailure("changed", "a page in the run's folder was changed after it was read")
    return tuple(data.decode("utf-8").split("\n"))


def read_pages(value: object) -> list[dict[str, object]]:
    """The pages among what branches brought home, each once: those that failed are not among them."""
    rows = value if isinstance(value, list) else []
    out: dict[str, dict[str, Any]] = {}
    for row in rows:
        if (
            isinstance(row, dict)
            and isinstance(row.get("url"), str)
            and _HASH.fullmatch(str(row.get("sha256")))
        ):
            out.setdefault(row["url"], row)
    return list(out.values())


def documents(run_folder: str, rows: Iterable[Mapping[str, object]]) -> list[Document]:
    """Pages as documents, whose paths are their addresses; of several with the same text the first. Raises ToolFailure."""
    out: dict[str, Document] = {}
    for row in rows:
        digest = str(row["sha256"])
        if digest not in out:
            lines = lines_of(run_folder, digest)
            out[digest] = Document(
                str(row["url"]), lines, digest, sum(len(line) + 1 for line in lines)
            )
    return list(out.values())
