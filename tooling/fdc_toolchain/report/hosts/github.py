"""Workflow commands of GitHub Actions: each finding becomes an annotation in the pull request.

GitHub shows ten annotations of a kind for each step, so the summary comes last, as a plain line.
"""

from __future__ import annotations

from ...diagnostics.diagnostic import Diagnostic
from ..report import Report
from ..terminal import summary
from ..terminal.terminal_text import visible

_KINDS = {"error": "error", "warning": "warning", "info": "notice"}


def render(report: Report) -> str:
    """A command for each finding, then the summary. Assumptions and fragments are not annotations."""
    findings = report.parts.findings
    return (
        "".join(annotation(item) + "\n" for item in findings)
        + summary.line(findings, report.files)
        + "\n"
    )


def annotation(item: Diagnostic) -> str:
    """The command for one finding. Columns are given only where the span is in one line, as GitHub asks."""
    span = item.span
    line = max(1, span.line)
    end_line = max(line, span.end_line)
    fields = {"file": visible(span.path), "line": str(line), "endLine": str(end_line)}
    if line == end_line:
        fields["col"] = str(max(1, span.column))
        fields["endColumn"] = str(max(1, span.column, span.end_column))
    fields["title"] = f"{item.code} {item.rule}"
    text = item.message if item.help is None else f"{item.message}\n{item.help}"
    shown = "\n".join(visible(part) for part in text.split("\n"))
    return f"::{_KINDS[item.severity]} {','.join(f'{k}={_property(v)}' for k, v in fields.items())}::{_data(shown)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
