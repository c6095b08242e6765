"""The tools that find files, and lines in files."""

from __future__ import annotations

import json
import posixpath
import re
import subprocess
from collections.abc import Mapping

from ...engine.events import Outcome
from ...engine.ports import WorldFailed
from ...sandbox import python_process
from ...text.patterns import no_pattern
from ...workspace import globs
from ...workspace.failure import ToolFailure
from ..context import Context, whole, word

MAX_HITS = 2_000
MAX_SEARCHED = 64 * 1024 * 1024
MAX_SEARCHED_FILE = 4 * 1024 * 1024
GREP_SECONDS = 20.0
_RUN = re.compile(r"runs/[^/]+(/outside)?")
"""A run's folders. They are made with their first file, and hold nothing before."""

# A pattern can take the regular expression engine longer than anybody waits, and a thread cannot
# be stopped; a process can. It gets the text by its standard input and touches nothing else.
_GREP = """
import json, re, sys
data = sys.stdin.buffer
head = json.loads(data.readline())
pattern = re.compile(head["pattern"])
left = head["most"]
for path, size in head["files"]:
    text = data.read(size).decode("utf-8", "replace").removesuffix("\\n")
    for number, line in enumerate(text.split("\\n"), 1):
        if left and pattern.search(line):
            left -= 1
            print(json.dumps({"path": path, "line": number, "text": line[:400].rstrip("\\r")}))
"""


def list_files(args: Mapping[str, object], context: Context) -> list[str]:
    """The files below a folder, or those that a glob names."""
    return listing(args, context).value


def listing(args: Mapping[str, object], context: Context) -> Outcome:
    """`list_files`, with a note of what is left out."""
    found, notes = globs.search(context.root, _glob(args, context))
    return Outcome(found, notes=notes)


def grep(args: Mapping[str, object], context: Context) -> object:
    """`grep`: lines that match a regular expression (Python's), as objects with path, line and text."""
    pattern = word(args, "pattern")
    wrong = no_pattern(pattern)
    if wrong:
        raise ToolFailure("argument", f"`{pattern[:80]}` is not a regular expression: {wrong}")
    found: list[tuple[str, bytes]] = []
    total = 0
    paths, notes = globs.search(context.root, _glob(args, context))
    for path in paths:
        try:
            data = context.root.read(path)
        except ToolFailure as failure:
            if failure.kind == "changed":
                raise
            continue  # gone, or not to be read: it has no lines
        if b"\0" in data[:8192] or len(data) > MAX_SEARCHED_FILE:
            continue
        total += len(data)
        if total > MAX_SEARCHED:
            raise ToolFailure(
                "size", f"more than {MAX_SEARCHED} bytes to search; name a smaller folder"
            )
        found.append((path, data))
    most = min(whole(args, "most", MAX_HITS), MAX_HITS)
    hits = _search(pattern, found, most)
    if len(hits) >= most:
        notes = {**(notes or {}), "cut": f"only the first {most} lines"}
    return Outcome(hits, None, None, notes)


def _glob(args: Mapping[str, object], context: Context) -> str:
    where = word(args, "path", "**")
    plain = where.strip("/") or "."
    if plain == ".":
        return "**"
    if any(mark in plain for mark in "*?[") or where.startswith("/"):
        return where
    kind = context.root.kind(plain)
    if kind == "missing" and not _RUN.fullmatch(posixpath.normpath(plain)):
        raise ToolFailure("missing", f"`{where}` does not exist")
    if kind == "other":
        raise ToolFailure("file", f"`{where}` is a link or a special file, not a file or a folder")
    return f"{plain}/**" if kind in ("folder", "missing") else where


def _search(pattern: str, found: list[tuple[str, bytes]], most: int) -> list[dict[str, object]]:
    head = {
        "pattern": pattern,
        "most": most,
        "files": [(path, len(data)) for path, data in found],
    }
    text = b"".join([json.dumps(head).encode("ascii"), b"\n", *(data for _, data in found)])
    try:
        done = subprocess.run(
            python_process.plain("-c", _GREP),
            input=text,
            capture_output=True,
            timeout=GREP_SECONDS,
            env={},
        )
    except subprocess.TimeoutExpired:
        raise ToolFailure("timeout", f"the pattern took longer than {GREP_SECONDS:g} s") from None
    except OSError as failed:
        raise WorldFailed(f"no process could be started to search: {failed.strerror}") from failed
    if done.returncode:
        raise WorldFailed(
            f"the search failed: {done.stderr.decode('utf-8', 'replace').strip()[-200:]}"
        )
    return [json.loads(line) for line in done.stdout.splitlines()]
