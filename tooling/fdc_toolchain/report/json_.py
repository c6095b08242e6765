"""Findings as JSON for other programs: one document, or one object a line (`jsonl`).

The form is versioned (`format`) and described by `grammar/diagnostics.schema.json`; keys are
only ever added to a version. The text is ASCII, so that it cannot contain control or misleading
characters; halves of surrogate pairs, which are not characters, become U+FFFD.
"""

from __future__ import annotations

import json
from typing import Any

from .. import resources
from ..diagnostics.diagnostic import Diagnostic, Label, Parts
from ..diagnostics.span import Span
from ..text.whole import whole as whole_text
from .report import Report
from .terminal import summary
from .terminal.trace import depths

FORMAT = 1


def render(report: Report) -> str:
    """The whole report as one document."""
    parts = report.parts
    document = {
        "format": FORMAT,
        "tool": {"name": "fdc", "version": version()},
        "summary": _summary(parts, report.files),
        "diagnostics": [finding_json(item) for item in parts.findings],
        "assumptions": [finding_json(item) for item in parts.assumptions],
        "fragments": [finding_json(item) for item in parts.fragments],
    }
    return dumps(document, indent=1) + "\n"


def render_lines(report: Report) -> str:
    """A line for each finding, assumption and fragment, then one with the summary. Every line says its `format` and `kind`."""
    parts = report.parts
    kinds = (
        ("diagnostic", parts.findings),
        ("assumption", parts.assumptions),
        ("fragment", parts.fragments),
    )
    rows = [
        {"format": FORMAT, "kind": kind, **finding_json(item)}
        for kind, items in kinds
        for item in items
    ]
    rows.append({"format": FORMAT, "kind": "summary", **_summary(parts, report.files)})
    return "".join(dumps(row) + "\n" for row in rows)


def finding_json(item: Diagnostic) -> dict[str, object]:
    """A finding with all its parts, as plain JSON values."""
    fix = item.fix
    return {
        "code": item.code,
        "rule": item.rule,
        "severity": item.severity,
        "message": item.message,
        **_place(item.span),
        "labels": [_label(label) for label in item.labels],
        "trace": [
            {**_label(step), "message": step.message.lstrip(" "), "depth": depth}
            for step, depth in zip(item.trace, depths(item.trace), strict=True)
        ],
        "help": item.help,
        "fix": fix
        and {
            "title": fix.title,
            "safe": fix.safe,
            "edits": [{**_place(edit.span), "replacement": edit.replacement} for edit in fix.edits],
        },
    }


def dumps(value: object, *, indent: int | None = None) -> str:
    """JSON in ASCII without halves of surrogate pairs, and without `##[`, where a CI runner would read a command."""
    return json.dumps(whole(value), indent=indent, ensure_ascii=True, allow_nan=False).replace(
        "##[", "##\\u005b"
    )


def whole(value: object) -> object:
    """The value with every lone surrogate in its texts replaced by U+FFFD."""
    if isinstance(value, str):
        return whole_text(value)
    if isinstance(value, dict):
        return {key: whole(item) for key, item in value.items()}
    if isinstance(value, list):
        return [whole(item) for item in value]
    return value


def version() -> str:
    """The version of fdc."""
    return resources.read("VERSION").decode("ascii").strip()


def _summary(parts: Parts, files_checked: int) -> dict[str, int]:
    counts = summary.counts(parts.findings)
    fixable = sum(1 for item in parts.findings if item.fix is not None and item.fix.safe)
    return {
        "files": files_checked,
        "errors": counts["error"],
        "warnings": counts["warning"],
        "infos": counts["info"],
        "fixable": fixable,
        "assumptions": len(parts.assumptions),
        "fragments": len(parts.fragments),
    }


def _place(span: Span) -> dict[str, Any]:
    return {
        "path": span.path,
        "start": {"line": span.line, "column": span.column},
        "end": {"line": span.end_line, "column": span.end_column},
    }


def _label(label: Label) -> dict[str, Any]:
    return {**_place(label.span), "message": label.message}
