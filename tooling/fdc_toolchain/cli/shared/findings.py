"""Shows findings about files that are not plans: a line each, with its related places and its help below."""

from __future__ import annotations

from collections.abc import Iterable

import click

from ...diagnostics.diagnostic import Diagnostic
from ...report.concise import finding_line


def show(findings: Iterable[Diagnostic], *, err: bool = True) -> None:
    """Prints the findings in their order, on stderr unless they are the answer that was asked for."""
    for item in findings:
        click.echo(finding_line(item), err=err)
        for label in item.labels:
            click.echo(f"  {label.span}: {label.message}", err=err)
        if item.help:
            click.echo(f"  help: {item.help}", err=err)
