"""`fdc report`: writes a run as one HTML page."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import click

from ...console.options import root_of, text_option, workspace_option
from ...console.run_options import database_option
from ...exits import CLEAN, UsageError, WorldError, reason

if TYPE_CHECKING:
    from ...journal.sqlite import RunRow, Store
    from ...report.run_page import Run


@click.command(
    epilog="Exit codes: 0 the page is written, 2 wrong usage, 3 the run cannot be read or the page cannot be written."
)
@click.argument("run")
@text_option(
    "-o --output", "FILE", "The file of the page. [default: stdout, unless it is a terminal]"
)
@database_option
@workspace_option
def command(run: str, output: str | None, database: str | None, workspace: str | None) -> int:
    """Write RUN (a name or its beginning) as one self-contained HTML page without scripts.

    It has the plan's text with the result of each line, the timeline, the stack, every step with inputs and outputs,
    evidence, budget, sandbox, and the check of the journal. Equal runs give equal pages.
    """
    from ... import durable
    from ...report.run_page import render
    from ...runs import run_driver
    from ...runs.workers import remote

    output = None if output == "-" else output
    if output is None and sys.stdout.isatty():
        raise UsageError(
            f"the page is HTML, for a browser: give a file (`fdc report {run} -o run.html`)"
        )
    root = root_of(workspace)
    with remote.reading(database, root) as store:
        row = run_driver.the_run(store, run)
        assert store is not None  # a run was found in it
        found = seen(root, store, row)
    folder = os.path.dirname(os.path.abspath(output)) if output else os.getcwd()
    page = render(found, _as_seen_from(folder, root))
    if output is None:
        click.echo(page, nl=False)
        return CLEAN
    if os.path.isdir(output):
        raise UsageError(f"`{output}` is a folder; give a file")
    try:
        durable.output(output, page.encode("utf-8"))
    except OSError as failed:
        raise WorldError(f"{output} cannot be written: {reason(failed)}") from failed
    click.echo(f"wrote {output}")
    return CLEAN


def seen(root: str, store: Store, row: RunRow) -> Run:
    """A run as the page shows it, with its record checked. Raises WorldError if it cannot be read."""
    from ...journal import counter
    from ...runs.records import run_view
    from ...runs.workers import remote
    from .verify import SEALS, checked

    found = checked(store, row.id, row.name)
    faults = [
        *found.faults,
        *([counter.outdated(row.name, found.older)] if found.older else []),
    ]
    return run_view.view(
        root, store, row, remote.status_of(store, root, row), SEALS[found.signature], faults
    )


def _as_seen_from(folder: str, root: str) -> str:
    from urllib.parse import quote

    return quote(os.path.relpath(os.path.realpath(root), os.path.realpath(folder)))
