"""`fdc fork`: creates a new run that takes over the steps of another run before a given step."""

from __future__ import annotations

import click

from ...console.options import flag_option, root_of, workspace_option
from ...console.run_options import database_option, pairs_of
from ...exits import CLEAN, UsageError


@click.command(
    epilog="Exit codes: 0 the new run is created, 1 refused, 2 wrong usage, 3 the journal cannot be read or written."
)
@click.argument("step", metavar="RUN@STEP")
@click.argument("inputs", nargs=-1, metavar="[KEY=VALUE]...")
@flag_option("--trust", "Fork a run that you did not start on this machine.")
@flag_option("-q --quiet", "Print only the new run's name.")
@database_option
@workspace_option
def command(
    step: str,
    inputs: tuple[str, ...],
    trust: bool,
    quiet: bool,
    database: str | None,
    workspace: str | None,
) -> int:
    """Create a new run of RUN's program that begins at STEP, an address that `fdc show RUN` lists.

    The steps of RUN before STEP count as done. `fdc resume` executes STEP and all later steps with the current files;
    in a database, a worker does so at once. KEY=VALUE changes a parameter of the plan; this is refused if
    it changes a step before STEP.
    """
    from ...diagnostics.plural import plural
    from ...report.terminal.terminal_text import visible
    from ...runs.workers import fork

    run, at, address = step.partition("@")
    if not at or not run or not address:
        raise UsageError(f"expected RUN@STEP, found `{step}`; `fdc show RUN` lists the steps")
    made = fork.fork(
        root_of(workspace), run, address, pairs_of(inputs), trusted=trust, database=database
    )
    if quiet:
        click.echo(made.name)
        return CLEAN
    click.echo(
        f"run {made.name}: {visible(made.plan)}, from {visible(address)} of {made.parent} on"
    )
    how = (
        f"workers continue it; `fdc resume {made.name}` shows its progress"
        if database
        else f"`fdc resume {made.name}` continues it"
    )
    click.echo(f"{plural(made.records, 'record')} taken over; {how}")
    return CLEAN
