"""Suppressions: comments that say which finding is meant, and why.

    # fdc: ignore[FDC441] the report is read by the next plan
    # fdc: ignore-file[FDC313] generated

The first is about the next statement (its own line and its text block), the second about the
whole file. A rule may be named by its code or by its name. A comment silences warnings and notes, never
an error. One that names an error or no known code, or that gives no reason, is itself a finding (FDC115), and
so is one that suppresses nothing (FDC114).
"""

from __future__ import annotations

import re

from ..diagnostics.codes import BY_NAME, CODES, silenced_by_text
from ..diagnostics.diagnostic import Diagnostic, Edit, Fix
from ..diagnostics.span import Span
from ..text.suggest import did_you_mean
from .tails import walk
from .tree import Comment, Plan

_MARK = re.compile(r"#\s*fdc:\s*(.*)")
_FORM = re.compile(r"(ignore|ignore-file)\[([^\]]*)\]\s*(.*)")

OWN = ("FDC114", "FDC115")
"""The findings about suppressions, which no suppression silences."""

WHOLE_RUNS = frozenset(("FDC461", "FDC463"))
"""Warnings that are only found where a plan is checked as a whole run; elsewhere a suppression of one may be in use."""


def silences(code: str, severity: str) -> bool:
    """True where a comment of the plan, or `ignore` in the settings, may silence such a finding."""
    return severity in ("warning", "info") and code not in OWN


class Suppression:
    """One comment; `first` to `last` are the lines it is about, all of them for a whole file."""

    __slots__ = ("comment", "codes", "first", "last", "used")

    def __init__(self, comment: Comment, codes: set[str], first: int, last: int) -> None:
        self.comment = comment
        self.codes = codes
        self.first = first
        self.last = last
        self.used: set[str] = set()


def suppressions(plan: Plan) -> tuple[list[Suppression], list[Diagnostic]]:
    """The suppressions of a plan, and those that are malformed."""
    entries: list[Suppression] = []
    findings: list[Diagnostic] = []
    waiting: list[tuple[Comment, set[str]]] = []
    for node in sorted(walk(plan.statements), key=lambda item: item.line):
        if not isinstance(node, Comment):
            block = getattr(node, "block", None)
            last = block.end_line if block else node.line
            entries += [Suppression(comment, codes, node.line, last) for comment, codes in waiting]
            waiting.clear()
            continue
        mark = _MARK.fullmatch(node.text)
        if mark is None:
            continue
        span = Span(plan.path, node.line, node.column, node.line, node.column + len(node.text))
        form = _FORM.fullmatch(mark[1])
        if form is None:
            message = f"`{node.text}` is not a suppression; expected `# fdc: ignore[CODE] reason`"
            findings.append(Diagnostic(span, "FDC115", message))
            continue
        codes: set[str] = set()
        for word in form[2].split(","):
            name = word.strip()
            code = name if name in CODES else BY_NAME.get(name)
            if code is None:
                message = (
                    f"`{name}` is neither a code nor the name of a rule"
                    if name
                    else "the suppression names no code"
                )
                findings.append(
                    Diagnostic(
                        span,
                        "FDC115",
                        message,
                        help=did_you_mean(name, [*CODES, *BY_NAME]) if name else None,
                    )
                )
            elif not silenced_by_text(code):
                message = f"no comment silences {code} ({CODES[code].name}); only warnings can be silenced"
                mends = (
                    "mend the plan, and remove the comment"
                    if CODES[code].severity == "error"
                    else "remove the comment"
                )
                findings.append(Diagnostic(span, "FDC115", message, help=mends))
            else:
                codes.add(code)
        if not form[3]:
            help_ = "say after the `]` why it is right here"
            findings.append(
                Diagnostic(span, "FDC115", "the suppression gives no reason", help=help_)
            )
        if not codes:
            continue
        if form[1] == "ignore-file":
            entries.append(Suppression(node, codes, 0, plan.line_count + 1))
        else:
            waiting.append((node, codes))
    entries += [Suppression(comment, codes, 0, -1) for comment, codes in waiting]
    return entries, findings


def apply(plan: Plan, diagnostics: list[Diagnostic], *, judged: bool = True) -> list[Diagnostic]:
    """The findings of a file that are not suppressed, with those about the suppressions themselves.

    `judged`: the plan was checked as a whole run, not only as a part of others.
    """
    entries, findings = suppressions(plan)
    if not entries and not findings:
        return diagnostics
    left: list[Diagnostic] = []
    for_file = [entry for entry in entries if entry.first == 0]
    by_line: dict[int, list[Suppression]] = {}
    for entry in entries:
        for line in range(entry.first, entry.last + 1) if entry.first else ():
            by_line.setdefault(line, []).append(entry)
    for item in diagnostics:
        hit = False
        if silences(item.code, item.severity):
            for entry in (*for_file, *by_line.get(item.span.line, ())):
                if item.code in entry.codes:
                    entry.used.add(item.code)
                    hit = True
        if not hit:
            left.append(item)
    for entry in entries:
        for code in sorted(
            entry.codes - entry.used if judged else entry.codes - entry.used - WHOLE_RUNS
        ):
            comment = entry.comment
            span = Span(
                plan.path,
                comment.line,
                comment.column,
                comment.line,
                comment.column + len(comment.text),
            )
            all_of_it = Span(plan.path, comment.line, 1, comment.line + 1, 1)
            alone = not entry.used and len(entry.codes) == 1
            fix = (
                Fix("remove the suppression", (Edit(all_of_it, ""),), safe=True) if alone else None
            )
            left.append(
                Diagnostic(
                    span, "FDC114", f"nothing to suppress: no {code} was found here", fix=fix
                )
            )
    return left + findings
