"""GitLab's code quality report: a list with an entry for each finding, each with a unique fingerprint."""

from __future__ import annotations

from hashlib import blake2b

from ..json_ import dumps
from ..report import Report
from ..terminal.terminal_text import visible
from ..terminal.texts import lines_of
from .fingerprints import fingerprints

_SEVERITIES = {"error": "major", "warning": "minor", "info": "info"}


def render(report: Report) -> str:
    """One list. Assumptions and fragments are not findings, and so no entries."""
    findings = report.parts.findings
    marks = fingerprints(findings, lines_of(report.sources))
    entries = [
        {
            "description": visible(f"{item.message} ({item.rule})"),
            "check_name": item.code,
            "fingerprint": _fingerprint(item.span.path, mark),
            "severity": _SEVERITIES[item.severity],
            "location": {
                "path": visible(item.span.path.removeprefix("./")),
                "lines": {"begin": max(1, item.span.line), "end": max(1, item.span.end_line)},
            },
        }
        for item, mark in zip(findings, marks, strict=True)
    ]
    return dumps(entries, indent=1) + "\n"


def _fingerprint(path: str, mark: str) -> str:
    words = f"{path}\0{mark}".encode("utf-8", "surrogatepass")
    return blake2b(words, digest_size=16).hexdigest()
