"""SARIF 2.1.0, for code scanning: rules with their explanations, results with places, runs and fixes.

Columns count code points. URIs are relative to %SRCROOT%, the folder the command ran in, and
percent-encoded. What GitHub limits (results a run, steps of a flow, places of a
result) is cut here, and a notification says so. The help texts are in the file, because `helpUri` needs a web address.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import cache
from typing import Any
from urllib.parse import quote

from ..diagnostics.codes import CODES
from ..diagnostics.diagnostic import Diagnostic, Fix, Label
from ..diagnostics.plural import plural
from ..diagnostics.span import Span
from . import explanations
from .hosts.fingerprints import fingerprints
from .json_ import dumps, version
from .report import Report
from .terminal.terminal_text import visible
from .terminal.texts import Texts, lines_of
from .terminal.trace import depths

MOST_RESULTS = 25_000
MOST_PLACES = 100
MOST_STEPS = 1_000
_LONGEST_CONTEXT = 1_000

SHIPPED = "fdc:"
"""What the paths of shipped files start with."""

_LEVELS = {
    "error": "error",
    "warning": "warning",
    "info": "note",
    "assumption": "note",
    "fragment": "note",
}
_PROBLEM = {
    severity: "recommendation" if level == "note" else level for severity, level in _LEVELS.items()
}
_STAGES = {
    "1": "syntax",
    "2": "automata",
    "3": "names",
    "4": "analyses",
    "5": "protocols",
    "6": "runs",
    "7": "assumptions",
    "8": "foreign-plans",
}


def render(report: Report) -> str:
    """One log with one run."""
    notes = []
    reported = report.found
    if len(reported) > MOST_RESULTS:
        gravity = list(_LEVELS)
        reported = sorted(reported, key=lambda item: gravity.index(item.severity))[:MOST_RESULTS]
        notes.append(
            f"left out: {plural(len(report.found) - MOST_RESULTS, 'finding')}; a run holds at most {MOST_RESULTS}"
        )
    codes = {code: number for number, code in enumerate(sorted({item.code for item in reported}))}
    texts = lines_of(report.sources)
    marks = fingerprints(reported, texts)
    results = [
        _result(item, codes[item.code], mark, texts)
        for item, mark in zip(reported, marks, strict=True)
    ]
    paths = sorted({item.span.path for item in reported})
    run = {
        "tool": {
            "driver": {
                "name": "fdc",
                "version": version(),
                "semanticVersion": version(),
                "rules": [_rule(code) for code in codes],
            }
        },
        "automationDetails": {"id": "fdc/"},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {
            "%SRCROOT%": {
                "description": {"text": "The top of the repository; outside of one, the workspace."}
            },
            "%FDC%": {"description": {"text": "What fdc itself ships."}},
        },
        "artifacts": [{"location": _artifact(path)} for path in paths],
        "invocations": [
            {
                "executionSuccessful": True,
                "toolExecutionNotifications": [
                    {"level": "warning", "message": {"text": note}} for note in notes
                ],
            }
        ],
        "results": results,
    }
    log = {
        "$schema": "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
        "version": "2.1.0",
        "runs": [run],
    }
    return dumps(log, indent=1) + "\n"


def uri(path: str) -> str:
    """The path as a URI reference; relative ones stay relative."""
    try:
        data = path.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        data = path.encode("utf-8", "surrogatepass")
    while data.startswith(b"./"):
        data = data[2:].lstrip(b"/")
    text = quote(data, safe="/")
    return "file://" + text if text.startswith("/") else text or "."


def message(text: str) -> dict[str, str]:
    """A plain text message: hidden characters, placeholders and links are escaped."""
    shown = "\n".join(visible(line) for line in text.split("\n"))
    return {"text": shown.replace("{", "{{").replace("}", "}}").replace("](", "] (")}


def _rule(code: str) -> dict[str, Any]:
    row = CODES[code]
    out: dict[str, Any] = {
        "id": code,
        "name": row.name,
        "shortDescription": {"text": row.summary[0].upper() + row.summary[1:]},
        "defaultConfiguration": {"level": _LEVELS[row.severity]},
        "properties": {
            "tags": ["fdc", _STAGES[code[3]]],
            "problem.severity": _PROBLEM[row.severity],
        },
    }
    try:
        explanation = explanations.load(code)
        description, help_ = (
            explanation.sections.get("What it flags", row.summary),
            explanation.markdown,
        )
    except OSError:
        description = help_ = row.summary
    out["fullDescription"] = {"text": " ".join(description.split())[:1000]}
    out["help"] = {"text": help_, "markdown": help_}
    address = help_uri(code, os.environ.get("FDC_DOCS", ""), _urls())
    if address:
        out["helpUri"] = address
    return out


def help_uri(code: str, docs: str, urls: Iterable[str]) -> str:
    """The page of a rule: in the folder `docs` of a repository, as FDC_DOCS names it, else on the site that pyproject.toml
    declares as `Documentation` (`urls`, as in the package's metadata). Empty where neither is an address of the web."""
    site = next((row.partition(",")[2] for row in urls if row.startswith("Documentation,")), "")
    for base, page in ((docs, f"rules.md#{CODES[code].name}"), (site, f"rules/{code}.html")):
        base = base.strip().rstrip("/")
        if base.startswith(("https://", "http://")):
            return quote(base, safe="/:@%?=&+~.,-_") + f"/{page}"
    return ""


@cache
def _urls() -> tuple[str, ...]:
    from importlib.metadata import PackageNotFoundError, metadata

    try:
        return tuple(metadata("fdc-toolchain").get_all("Project-URL") or ())
    except PackageNotFoundError:
        return ()


def _result(item: Diagnostic, rule_index: int, mark: str, texts: Texts) -> dict[str, Any]:
    text = item.message if item.help is None else f"{item.message}\n{item.help}"
    out: dict[str, Any] = {
        "ruleId": item.code,
        "ruleIndex": rule_index,
        "level": _LEVELS[item.severity],
        "message": message(text),
        "locations": [{"physicalLocation": _physical(item.span, texts)}],
        "partialFingerprints": {"primaryLocationLineHash": mark},
    }
    labels = item.labels[: MOST_PLACES - 1]
    if labels:
        out["relatedLocations"] = [
            {"id": number, **_location(label, texts)} for number, label in enumerate(labels, 1)
        ]
    if item.trace:
        out["codeFlows"] = [{"threadFlows": [{"locations": _flow(item.trace, texts)}]}]
    if item.fix is not None and item.fix.edits:
        out["fixes"] = [_fix(item.fix)]
    return out


def _flow(trace: tuple[Label, ...], texts: Texts) -> list[dict[str, Any]]:
    steps = list(zip(trace, depths(trace), strict=True))
    if len(steps) > MOST_STEPS:
        steps = steps[: MOST_STEPS // 2] + steps[-(MOST_STEPS // 2) :]
    return [
        {"location": _location(step, texts), "nestingLevel": depth, "executionOrder": number}
        for number, (step, depth) in enumerate(steps, 1)
    ]


def _location(label: Label, texts: Texts) -> dict[str, Any]:
    out: dict[str, Any] = {"physicalLocation": _physical(label.span, texts)}
    if label.message.strip():
        out["message"] = message(label.message.strip())
    return out


def _physical(span: Span, texts: Texts) -> dict[str, Any]:
    out: dict[str, Any] = {"artifactLocation": _artifact(span.path), "region": _region(span)}
    lines = texts(span.path)
    if lines is not None and 0 < span.line <= span.end_line <= len(lines):
        context = "\n".join(lines[span.line - 1 : span.end_line])
        if len(context) <= _LONGEST_CONTEXT:
            out["contextRegion"] = {
                "startLine": span.line,
                "endLine": span.end_line,
                "snippet": {"text": context},
            }
    return out


def _artifact(path: str) -> dict[str, str]:
    if path.startswith(SHIPPED):
        return {"uri": uri(path[len(SHIPPED) :]), "uriBaseId": "%FDC%"}
    reference = uri(path)
    return (
        {"uri": reference}
        if reference.startswith("file://")
        else {"uri": reference, "uriBaseId": "%SRCROOT%"}
    )


def _region(span: Span) -> dict[str, int]:
    line, column = max(1, span.line), max(1, span.column)
    end = max((line, column), (span.end_line, max(1, span.end_column)))
    return {"startLine": line, "startColumn": column, "endLine": end[0], "endColumn": end[1]}


def _fix(fix: Fix) -> dict[str, Any]:
    by_path: dict[str, list[dict[str, Any]]] = {}
    for edit in fix.edits:
        by_path.setdefault(edit.span.path, []).append(
            {"deletedRegion": _region(edit.span), "insertedContent": {"text": edit.replacement}}
        )
    return {
        "description": message(fix.title),
        "artifactChanges": [
            {"artifactLocation": _artifact(path), "replacements": edits}
            for path, edits in by_path.items()
        ],
    }
