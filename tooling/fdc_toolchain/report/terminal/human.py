"""The report for people: message, source line with carets, related places, the run, what to do.

    error[FDC301] unknown-tool: no catalogue declares a tool `read_fil`
      --> plans/demo.plan:7:1
       |
     7 | read_fil README.md
       | ^^^^^^^^
       |
       = help: did you mean `read_file`?

The `Style` decides about colours and the width.
"""

from __future__ import annotations

from ...diagnostics.diagnostic import Diagnostic, Fix, Parts
from ...diagnostics.span import Span
from ..report import Report
from . import excerpt, summary, trace
from .style import Style
from .terminal_text import fragment_lines, visible, wrapped
from .texts import Texts, lines_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias

Runs: TypeAlias = dict[tuple[tuple[str, int], ...], str]


def render(report: Report) -> str:
    """The whole report, the summary last. Fragments are one line each; assumptions that are listed look like findings."""
    texts, style, parts = lines_of(report.sources), report.style, report.parts
    shown = parts.findings
    if report.listed:
        shown = sorted([*shown, *parts.assumptions], key=lambda item: item.span)
    runs: Runs = {}
    out = [render_finding(item, texts, style, runs) for item in shown]
    if parts.fragments:
        rows = ((item.span.path, item.message) for item in parts.fragments)
        out.append(fragment_lines(rows, style.width))
    out.append(_summary(report, parts))
    return "\n".join(out)


def render_finding(item: Diagnostic, texts: Texts, style: Style, runs: Runs | None = None) -> str:
    """One finding, ending in a line end. `runs`: those that are shown above, each with the code of its finding."""
    severity = item.severity
    marks: list[tuple[excerpt.Mark, list[str]]] = []
    notes: list[tuple[Span, str]] = []
    for span, message, role, sign in _places(item, severity):
        lines = texts(span.path)
        mark = (
            excerpt.settle(span, lines, visible(message), role, sign) if lines is not None else None
        )
        if mark is not None and lines is not None:
            marks.append((mark, lines))
        elif message:
            notes.append((span, message))
    blocks = excerpt.blocks(marks)
    gutter = max([len(str(excerpt.last_line(block))) for block in blocks], default=1)
    bar = style.paint("faint", " " * gutter + " |")
    out = _headline(item, style)
    if not blocks or blocks[0].marks[0].span != item.span:
        out.append(_arrow("-->", item.span, gutter, style))
    for number, block in enumerate(blocks):
        first = block.marks[0].span
        out.append(
            _arrow("-->" if number == 0 and first == item.span else ":::", first, gutter, style)
        )
        out += excerpt.draw(block, gutter, style)
    tail = [
        line
        for span, message in notes
        for line in _note("note", f"{span}: {message}", gutter, style)
    ]
    run = tuple((step.span.path, step.span.line) for step in item.trace)
    if runs is not None and run in runs:
        tail += _note("trace", f"the run of {runs[run]} above", gutter, style)
    elif run:
        tail.append(_equals("trace", gutter, style) + "the shortest run that shows it")
        tail += trace.rows(item.trace, texts, style, gutter + 5)
        if runs is not None:
            runs[run] = item.code
    if item.help:
        for text in item.help.split("\n"):
            tail += _note("help", text, gutter, style)
    if item.fix is not None:
        tail += _note("fix", _fix(item.fix), gutter, style)
    if tail:
        if blocks:
            out.append(bar)
        out += tail
    return "\n".join(out) + "\n"


def _places(item: Diagnostic, severity: str) -> list[tuple[Span, str, str, str]]:
    main = [(item.span, "", severity, "^")]
    return main + [(label.span, label.message.strip(), "label", "-") for label in item.labels]


def _headline(item: Diagnostic, style: Style) -> list[str]:
    code = f"{item.severity}[{item.code}]"
    start = f"{code} {item.rule}: "
    first, *rest = wrapped(
        visible(item.message), style.width - 2 if style.width else 0, first=len(start)
    )
    head = f"{style.paint(item.severity, code)} {style.paint('strong', f'{item.rule}: {first}')}"
    return [head, *(f"  {style.paint('strong', line)}" for line in rest)]


def _arrow(sign: str, span: Span, gutter: int, style: Style) -> str:
    return f"{style.paint('faint', ' ' * gutter + sign)} {visible(str(span))}"


def _equals(word: str, gutter: int, style: Style) -> str:
    role = "help" if word in ("help", "fix") else "strong"
    return f"{style.paint('faint', ' ' * gutter + ' =')} {style.paint(role, word + ':')} "


def _note(word: str, text: str, gutter: int, style: Style) -> list[str]:
    margin = gutter + 3 + len(word) + 2
    first, *rest = wrapped(visible(text), max(20, style.width - margin) if style.width else 0)
    return [_equals(word, gutter, style) + first, *(" " * margin + line for line in rest)]


def _fix(fix: Fix) -> str:
    option = (
        "`--fix` does this"
        if fix.safe
        else "`--fix --unsafe-fixes` does this; it may change what the plan does"
    )
    return f"{fix.title} ({option})"


def _summary(report: Report, parts: Parts) -> str:
    verdict = f"{report.verdict(parts)}\n"
    if not parts.findings and (parts.assumptions or report.uncounted or parts.fragments):
        return verdict
    counts = summary.counts(parts.findings)
    gravest = next((name for name, number in counts.items() if number), "help")
    head, mark, rest = summary.line(parts.findings, report.files).partition(" in ")
    proved = report.checked and parts.findings and not counts["error"]
    return f"{report.style.paint(gravest, head)}{mark}{rest}\n{verdict if proved else ''}"
