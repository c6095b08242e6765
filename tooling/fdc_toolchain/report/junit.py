"""JUnit XML, which every CI server reads: a suite for each file with findings, a case for each finding.

Errors are failed cases. Warnings and notes are passed ones with their text as output, so that
the suites fail exactly when the lint does. Characters that XML cannot hold are escaped visibly.
"""

from __future__ import annotations

from ..diagnostics.diagnostic import Diagnostic
from . import concise
from .report import Report
from .terminal.terminal_text import visible


def render(report: Report) -> str:
    """One document. Without findings it holds one passed case, as CI servers refuse an empty one."""
    by_path: dict[str, list[Diagnostic]] = {}
    diagnostics = report.parts.findings
    for item in diagnostics:
        by_path.setdefault(item.span.path, []).append(item)
    suites = [_suite(path, items) for path, items in by_path.items()]
    if not suites:
        case = _element(
            "testcase", {"name": f"{report.files} checked without a finding", "classname": "fdc"}
        )
        suites = [_element("testsuite", _numbers("fdc", 1, 0), case)]
    failures = sum(1 for item in diagnostics if item.severity == "error")
    document = _element(
        "testsuites", _numbers("fdc lint", max(1, len(diagnostics)), failures), *suites
    )
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{document}'


def _numbers(name: str, tests: int, failures: int) -> dict[str, str]:
    return {
        "name": name,
        "tests": str(tests),
        "failures": str(failures),
        "errors": "0",
        "time": "0",
    }


def _suite(path: str, items: list[Diagnostic]) -> str:
    failures = sum(1 for item in items if item.severity == "error")
    return _element(
        "testsuite", _numbers(path, len(items), failures), *(_case(item) for item in items)
    )


def _case(item: Diagnostic) -> str:
    name = f"{item.code} {item.rule} at {item.span.line}:{item.span.column}"
    lines = [
        concise.finding_line(item),
        *(f"help: {visible(line)}" for line in (item.help or "").split("\n") if line),
    ]
    text = _escape("\n".join(lines))
    if item.severity == "error":
        body = (
            f'<failure type="{item.code}" message="{_attribute(item.message)}">{text}</failure>\n'
        )
    else:
        body = f"<system-out>{text}</system-out>\n"
    return _element("testcase", {"name": name, "classname": item.span.path, "time": "0"}, body)


def _element(name: str, attributes: dict[str, str], *children: str) -> str:
    head = name + "".join(f' {key}="{_attribute(value)}"' for key, value in attributes.items())
    return f"<{head}>\n{''.join(children)}</{name}>\n" if children else f"<{head}/>\n"


def _attribute(text: str) -> str:
    return _escape(visible(text)).replace('"', "&quot;")


def _escape(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
