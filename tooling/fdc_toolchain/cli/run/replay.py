"""`fdc replay`: executes a run again from its journal only, and compares the records."""

from __future__ import annotations

import click

from ...console.options import format_option, root_of, workspace_option
from ...console.run_options import database_option
from ...console.terminal import say_json
from ...exits import CLEAN, FINDINGS, WorldError


@click.command(
    epilog="Exit codes: 0 the run follows from its record, 1 it does not, or the record is older than one that this machine saw, "
    "2 wrong usage, 3 the journal cannot be read."
)
@click.argument("run")
@format_option
@database_option
@workspace_option
def command(run: str, form: str, database: str | None, workspace: str | None) -> int:
    """Execute RUN again with every outcome taken from its record: without effects and without writing.

    This proves that the program produces exactly these records from these outcomes, and the same end.
    """
    from ...diagnostics.plural import plural
    from ...engine.replay import replay
    from ...journal import counter
    from ...program.codec import ProgramError
    from ...report.terminal.terminal_text import visible
    from ...runs import run_driver
    from ...runs.workers import remote

    root = root_of(workspace)
    with remote.reading(database, root) as store:
        row = run_driver.the_run(store, run)
        run_driver.known(row)
        assert store is not None  # a run was found in it
        try:
            found = replay(
                store.program(row), row.inputs, store.records(row), row.status, row.ending
            )
            older = store.check(row.id).older
        except ProgramError as wrong:
            raise WorldError(f"the run {row.name} cannot be replayed: {wrong}") from wrong
    if form == "json":
        say_json({"run": row.name, **found._asdict(), "older": older})
    elif found.difference is None:
        click.echo(
            f"run {row.name} follows from its record: {plural(found.records, 'record')}, the same end"
        )
    else:
        click.echo(f"run {row.name} does not follow from its record\n  {visible(found.difference)}")
    if older and form == "text":
        click.echo(visible(counter.outdated(row.name, older)))
    return CLEAN if found.difference is None and not older else FINDINGS
