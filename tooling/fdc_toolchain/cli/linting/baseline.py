"""Baselines: known findings that a lint does not report again. Plans with errors remain unproved."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable

from ...diagnostics.diagnostic import Diagnostic
from ...durable import read, replace
from ...exits import UsageError, WorldError
from ...named_tuples import NamedTuple
from ...report.hosts.fingerprints import fingerprints
from ...report.terminal.texts import lines_of

NAME = "fdc-baseline.json"
FORMAT = 1

Entry = tuple[str, str, str]
"""The path, the code and the fingerprint of a finding."""


class Sorted(NamedTuple):
    """Findings that are not in the baseline, the number of those that are, and if some of those are errors."""

    new: list[Diagnostic]
    known: int
    unproved: bool


def write(path: str, findings: list[Diagnostic], sources: Callable[[str], str | None]) -> int:
    """Writes the findings as the baseline; returns their number. Raises UsageError if the file is something else, WorldError."""
    if os.path.lexists(path):
        _load(path)
    rows = sorted(_entries(findings, sources))
    lines = [
        json.dumps({"path": where, "code": code, "fingerprint": mark}) for where, code, mark in rows
    ]
    text = f'{{"format": {FORMAT}, "findings": [' + ",".join(f"\n  {line}" for line in lines)
    try:
        replace(os.path.realpath(path), (text + ("\n" if lines else "") + "]}\n").encode("ascii"))
    except OSError as failed:
        raise WorldError(
            f"the baseline cannot be written to `{path}`: {failed.strerror}"
        ) from failed
    return len(rows)


def sort(path: str, findings: list[Diagnostic], sources: Callable[[str], str | None]) -> Sorted:
    """Separates the findings by whether the baseline at `path` contains them. Raises UsageError."""
    known = Counter(_load(path))
    new, unproved = [], False
    for item, entry in zip(findings, _entries(findings, sources), strict=True):
        if known[entry]:
            known[entry] -= 1
            unproved = unproved or item.severity == "error"
        else:
            new.append(item)
    return Sorted(new, len(findings) - len(new), unproved)


def _entries(findings: list[Diagnostic], sources: Callable[[str], str | None]) -> list[Entry]:
    marks = fingerprints(findings, lines_of(sources))
    return [(item.span.path, item.code, mark) for item, mark in zip(findings, marks, strict=True)]


def _load(path: str) -> list[Entry]:
    try:
        data = read(path)
    except OSError as failed:
        raise UsageError(f"the baseline `{path}` cannot be read: {failed.strerror}") from failed
    if data is None:
        raise UsageError(f"the baseline `{path}` does not exist; create it with `--write-baseline`")
    try:
        table = json.loads(data)
        if table["format"] != FORMAT:
            raise ValueError
        rows = [(row["path"], row["code"], row["fingerprint"]) for row in table["findings"]]
        if not all(isinstance(word, str) for row in rows for word in row):
            raise ValueError
    except (ValueError, TypeError, KeyError, RecursionError) as wrong:
        raise UsageError(
            f"`{path}` is not a baseline of fdc; delete it and create it again with `--write-baseline`"
        ) from wrong
    return rows
