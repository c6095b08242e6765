"""Prints findings in files that are not plans: a line each, with related places and help below."""

from __future__ import annotations

from collections.abc import Iterable

from ...console.terminal import say
from ...diagnostics.diagnostic import Diagnostic
from ...report.concise import finding_line


def show(findings: Iterable[Diagnostic], *, err: bool = True) -> None:
    """Prints the findings in order, on stderr unless they are the command's result."""
    for item in findings:
        say(finding_line(item), err=err)
        for label in item.labels:
            say(f"  {label.span}: {label.message}", err=err)
        if item.help:
            say(f"  help: {item.help}", err=err)
