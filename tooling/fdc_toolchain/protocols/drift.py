"""Finds why a compiled file differs from what its sources compile to (FDC-102)."""

from __future__ import annotations

from ..diagnostics.diagnostic import Diagnostic
from ..diagnostics.span import Span
from .regions import take
from .seal import inputs, is_sealed


def same(expected: str, actual: bytes | None) -> bool:
    """Whether a file has the text. Git may have written CRLF for each LF of it (`core.autocrlf`)."""
    data = expected.encode("utf-8")
    return actual == data or (
        actual is not None and b"\r" not in data and actual.replace(b"\r\n", b"\n") == data
    )


def drift(expected: str, actual: bytes | None, path: str) -> list[Diagnostic]:
    """Why the file at `path` with the bytes `actual` differs from `expected`, as FDC504; empty if it does not.

    The causes are: absent, edited by hand (with the first line that differs), and stale (with each source
    that was changed, added or removed since it was built). Text between the markers of `regions`, which
    `expected` has as well, is not an edit.
    """
    if actual is None:
        return [_finding(path, 1, "does not exist", "`fdc protocols build` writes it")]
    if same(expected, actual):
        return []
    text = actual.decode("utf-8", "replace")
    if take(text).regions and _full(text) == _full(expected):
        return []
    if not is_sealed(expected):  # an imported file does not state what it was built from
        line = _first_difference(text, expected)
        return [_finding(path, line, f"is not what its sources make, first in line {line}")]
    stale = [_finding(path, 1, change) for change in _changed(inputs(text), inputs(expected))]
    if not is_sealed(text) or _full(text) == _full(expected):
        line = _first_difference(text, expected)
        place = f", first in line {line}" if not stale else ""
        return [_finding(path, 1 if stale else line, f"was edited by hand{place}"), *stale]
    return stale or [
        _finding(path, 1, "was built by another version of fdc, or with other settings")
    ]


def leftover(path: str) -> Diagnostic:
    """FDC504 for a file of an earlier build with `--split` that no source is for any more."""
    return _finding(
        path, 1, "is left over from an earlier build", "`fdc protocols build` removes it"
    )


def _full(text: str) -> list[str]:
    return [line for line in text.split("\n") if line.strip()]


def _changed(old: dict[str, str], new: dict[str, str]) -> list[str]:
    if not old:
        return []
    changes = []
    for path in sorted({*old, *new}):
        if path not in old:
            changes.append(f"is stale: `{path}` is new since it was built")
        elif path not in new:
            changes.append(f"is stale: `{path}` is gone since it was built")
        elif old[path] != new[path]:
            changes.append(f"is stale: `{path}` is newer, it has changed since it was built")
    return changes


def _first_difference(left: str, right: str) -> int:
    for number, (a, b) in enumerate(zip(left.split("\n"), right.split("\n"), strict=False), 1):
        if a != b:
            return number
    return min(left.count("\n"), right.count("\n")) + 1


def _finding(
    path: str,
    line: int,
    fault: str,
    help_: str = "change the sources in protocols/, then run `fdc protocols build`",
) -> Diagnostic:
    return Diagnostic(Span(path, line, 1, line, 2), "FDC504", f"`{path}` {fault}", help=help_)
