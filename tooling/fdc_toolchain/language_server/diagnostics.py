"""Findings as an editor shows them, and their fixes as actions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from lsprotocol import types

from .. import api
from .documents import Plan

SOURCE = "fdc"
_MOST_PLACES = 20
_LEVELS = types.DiagnosticSeverity
_SEVERITIES = {
    "error": _LEVELS.Error, "warning": _LEVELS.Warning, "info": _LEVELS.Information,
    "fragment": _LEVELS.Hint, "assumption": _LEVELS.Hint,
}  # fmt: skip


def diagnostics(plan: Plan, result: api.CheckResult) -> list[types.Diagnostic]:
    """The findings of a plan, and those of plans that it reaches, where it calls them."""
    found = [_diagnostic(plan, item) for item in result.diagnostics if item.span.path == plan.key]
    return found + list(_below(plan, result))


def trouble(wrong: api.FdcError) -> types.Diagnostic:
    """Why a plan was not checked, at its first line."""
    start, error = types.Position(0, 0), types.DiagnosticSeverity.Error
    message = f"fdc cannot check this plan: {wrong}"
    return types.Diagnostic(types.Range(start, start), message, severity=error, source=SOURCE)


def _diagnostic(plan: Plan, item: api.Diagnostic) -> types.Diagnostic:
    message = item.message + (f"\nhelp: {item.help}" if item.help else "")
    return types.Diagnostic(
        range=plan.lines.range(item.span),
        message=message,
        severity=_SEVERITIES[item.severity],
        code=item.code,
        source=SOURCE,
        tags=[types.DiagnosticTag.Unnecessary] if item.code == "FDC313" else None,
        related_information=_related(plan, [*item.labels, *item.trace]),
    )


def _related(
    plan: Plan, labels: Iterable[api.Label]
) -> list[types.DiagnosticRelatedInformation] | None:
    out = []
    for label in list(labels)[:_MOST_PLACES]:
        uri = plan.uri_of(label.span.path)
        if uri is not None:
            place = types.Location(uri, plan.lines_of(label.span.path).range(label.span))
            out.append(types.DiagnosticRelatedInformation(place, label.message))
    return out or None


def _below(plan: Plan, result: api.CheckResult) -> Iterator[types.Diagnostic]:
    """Errors of called plans, each plan once: because of them this one is refused too."""
    calls = {call.target: call.span for call in reversed(result.calls)}
    first = api.Span(path=plan.key, line=1, column=1, end_line=1, end_column=1)
    by_plan: dict[str, list[api.Diagnostic]] = {}
    for item in result.errors:
        if item.span.path != plan.key:
            by_plan.setdefault(item.span.path, []).append(item)
    for path, items in by_plan.items():
        more = f" (and {len(items) - 1} more)" if len(items) > 1 else ""
        places = [api.Label(span=item.span, message=item.message) for item in items]
        yield types.Diagnostic(
            range=plan.lines.range(calls.get(path, first)),
            message=f"`{path}`, which this plan reaches, has an error: {items[0].message}{more}",
            severity=types.DiagnosticSeverity.Error,
            code=items[0].code,
            source=SOURCE,
            related_information=_related(plan, places),
        )


def actions(plan: Plan, result: api.CheckResult, at: types.Range) -> list[types.CodeAction]:
    """The fixes of the findings that a stretch touches, and one action for all safe ones of the plan."""
    out = []
    safe: list[api.Fix] = []
    for item in result.diagnostics:
        if item.fix is None or any(edit.span.path != plan.key for edit in item.fix.edits):
            continue
        if item.fix.safe:
            safe.append(item.fix)
        shown = _diagnostic(plan, item)
        if shown.range.start.line > at.end.line or shown.range.end.line < at.start.line:
            continue
        edits = [(plan.lines.range(edit.span), edit.replacement) for edit in item.fix.edits]
        action = _action(plan, item.fix.title, types.CodeActionKind.QuickFix, edits)
        action.diagnostics, action.is_preferred = [shown], item.fix.safe or None
        out.append(action)
    if safe:
        done = api.apply_fixes(plan.text, safe)
        whole = types.Range(types.Position(0, 0), plan.lines.end())
        title = f"apply all safe fixes of fdc ({len(done.applied)})"
        out.append(_action(plan, title, types.CodeActionKind.SourceFixAll, [(whole, done.text)]))
    return out


def _action(
    plan: Plan, title: str, kind: types.CodeActionKind, edits: list[tuple[types.Range, str]]
) -> types.CodeAction:
    change = types.WorkspaceEdit({plan.uri: [types.TextEdit(at, text) for at, text in edits]})
    return types.CodeAction(title, kind, edit=change)
