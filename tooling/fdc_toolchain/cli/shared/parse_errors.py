"""Prints syntax errors on stderr, for the commands that rewrite plans."""

from __future__ import annotations

from collections.abc import Iterable

import click

from ...console.terminal import style
from ...diagnostics.diagnostic import Diagnostic
from ...report.terminal import human
from ...report.terminal.texts import lines_of


def show(data: bytes, found: Iterable[Diagnostic]) -> None:
    """Prints the errors among `found` with their lines of `data`."""
    text = data.decode("utf-8", "replace").removeprefix("\ufeff").replace("\r\n", "\n")
    texts = lines_of(lambda _: text)
    for item in found:
        if item.severity == "error":
            click.echo(human.render_finding(item, texts, style()), err=True)
