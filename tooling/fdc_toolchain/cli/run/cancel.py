"""`fdc cancel`: ends a run permanently, even if another process drives it."""

from __future__ import annotations

import click

from ...console.options import number_option, root_of, workspace_option
from ...console.run_options import database_option
from ...exits import CLEAN


@click.command(
    epilog="Exit codes: 0 the run is cancelled, 1 it has ended already or is not yours, 2 wrong usage, "
    "3 its controller did not stop, or no worker serves it."
)
@click.argument("run")
@number_option(
    "--wait seconds",
    0,
    None,
    "How long to wait until the controller stops (default: 30; in a database without a worker for RUN: 0).",
)
@database_option
@workspace_option
def command(run: str, seconds: float | None, database: str | None, workspace: str | None) -> int:
    """Cancel RUN: it stops before its next step, its commands are killed, and `fdc resume` refuses it.

    `fdc resume --force` continues it anyway; `fdc fork` begins a new run from one of its steps.
    """
    from ...runs.cancel_run import cancel
    from ...runs.workers import remote

    root = root_of(workspace)
    if database:
        name = remote.cancel(database, root, run, seconds)
    else:
        name = cancel(root, run, remote.WAIT if seconds is None else seconds)
    click.echo(f"run {name} is cancelled")
    return CLEAN
