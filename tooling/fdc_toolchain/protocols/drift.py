"""Says why an AGENTS.md is not what its sources compile to (FDC-102)."""

from __future__ import annotations

import re

from ..text.diagnostic import Diagnostic
from ..text.span import Span
from .compile import seal

_SEAL = re.compile(r"<!-- sealed [0-9a-f]+ -->\n?\Z")
_INPUTS = re.compile(r"<!-- built from\n((?:[0-9a-f]+ [^\n]+\n)*)-->\n")


def drift(expected: str, actual: bytes | None, path: str) -> list[Diagnostic]:
    """Why the file at `path` with the bytes `actual` is not `expected`: FDC504 each; nothing where it is.

    Told apart: absent, edited by hand (with the first line that differs), and stale (with each source
    that has changed, come or gone since it was built).
    """
    if actual is None:
        return [_finding(path, 1, "does not exist", "`fdc protocols build` writes it")]
    if actual == expected.encode("utf-8"):
        return []
    text = actual.decode("utf-8", "replace")
    stale = [_finding(path, 1, what) for what in _changed(_inputs(text), _inputs(expected))]
    if not _is_sealed(text):
        line = _first_difference(text, expected)
        where = f", first in line {line}" if not stale else ""
        return [_finding(path, 1 if stale else line, f"was edited by hand{where}"), *stale]
    return stale or [_finding(path, 1, "was built by another version of fdc")]


def _is_sealed(text: str) -> bool:
    match = _SEAL.search(text)
    return match is not None and text[match.start() :] == seal(text[: match.start()]) + "\n"


def _inputs(text: str) -> dict[str, str]:
    found = _INPUTS.findall(text)
    rows = (line.split(" ", 1) for line in (found[-1] if found else "").splitlines())
    return {path: digest for digest, path in rows}


def _changed(old: dict[str, str], new: dict[str, str]) -> list[str]:
    if not old:
        return []
    said = []
    for path in sorted({*old, *new}):
        if path not in old:
            said.append(f"is stale: `{path}` is new since it was built")
        elif path not in new:
            said.append(f"is stale: `{path}` is gone since it was built")
        elif old[path] != new[path]:
            said.append(f"is stale: `{path}` is newer, it has changed since it was built")
    return said


def _first_difference(left: str, right: str) -> int:
    for number, (a, b) in enumerate(zip(left.split("\n"), right.split("\n"), strict=False), 1):
        if a != b:
            return number
    return min(left.count("\n"), right.count("\n")) + 1


def _finding(
    path: str, line: int, what: str, help_: str = "change the sources in protocols/, then run `fdc protocols build`"
) -> Diagnostic:
    return Diagnostic(Span(path, line, 1, line, 2), "FDC504", f"`{path}` {what}", help=help_)
