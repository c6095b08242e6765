"""The text of a page or a PDF, read in a separate process (`text_reader`), and cached by content."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
from typing import Literal

from ... import cachedir
from ...named_tuples import NamedTuple
from ...sandbox import python_process
from ...workspace.failure import ToolFailure

SECONDS = 30.0
"""Time limit in seconds of wall-clock time; the CPU time limit is half of it."""
EXTRAS = {"html": "`pip install fdc-toolchain[web]`", "pdf": "`pip install fdc-toolchain[pdf]`"}
_MOST_KEPT = 2000
_READER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "text_reader.py")


class Readable(NamedTuple):
    """The visible text of the page or PDF, as plain lines or Markdown."""

    title: str
    text: str


def readable(kind: Literal["html", "pdf"], data: bytes) -> Readable:
    """The text of these bytes. Raises ToolFailure: `unavailable` without the extra, `unreadable` with the reason."""
    key = f"text/{kind}-{hashlib.blake2b(data, digest_size=20).hexdigest()}"
    kept = cachedir.load(key)
    if isinstance(kept, tuple) and len(kept) == 2 and all(isinstance(one, str) for one in kept):
        return Readable(*kept)
    found = _asked(kind, data)
    cachedir.store(key, tuple(found))
    cachedir.prune("text", _MOST_KEPT)
    return found


def _asked(kind: Literal["html", "pdf"], data: bytes) -> Readable:
    what = "the PDF" if kind == "pdf" else "the page"
    environment = {
        name: os.environ[name] for name in ("PATH", "LANG", "LC_ALL") if name in os.environ
    }
    reader = python_process.packages(_READER, kind)
    try:
        done = subprocess.run(
            reader, input=data, capture_output=True, timeout=SECONDS, check=False, env=environment
        )
    except subprocess.TimeoutExpired:
        raise ToolFailure("unreadable", f"{what} could not be read within {SECONDS:g} s") from None
    try:
        said = json.loads(done.stdout)
    except ValueError:
        raise ToolFailure(
            "unreadable",
            f"{what} could not be read: its reader ended with exit code {done.returncode}",
        ) from None
    if "missing" in said:
        raise ToolFailure(
            "unavailable", f"{what} cannot be read, because packages are missing: {EXTRAS[kind]}"
        )
    if "failed" in said:
        raise ToolFailure("unreadable", f"{what} cannot be read: {said['failed']}")
    return Readable(str(said["title"]), str(said["text"]))
