"""`fdc cancel`: ends a run for good, also one that another process drives."""

from __future__ import annotations

import time

import click

from ...exits import CLEAN, Refused, UsageError, WorldError
from ..shared.run_options import database_option, root_of


@click.command(
    epilog="Exit codes: 0 the run is cancelled, 1 it is over already or not yours, 2 wrong usage, "
    "3 its controller does not stop.",
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.argument("run")
@click.option(
    "--wait", "seconds", type=click.FloatRange(0), default=30.0, show_default=True, metavar="SECONDS",
    help="How long a controller gets to stop.",
)  # fmt: skip
@database_option
@click.option(
    "--workspace",
    metavar="DIR",
    help="The workspace; the nearest one above the current folder otherwise.",
)
def command(run: str, seconds: float, database: str | None, workspace: str | None) -> int:
    """Cancel RUN: it stops before its next step, its commands are killed, and `fdc resume` refuses it.

    `fdc resume --force` goes on with it all the same; `fdc fork` begins a new run from one of its steps.
    """
    from ...engine.ports import WorldFailed
    from ...runs import run_driver
    from ...runs.workers import remote
    from ...workspace import run_folders

    root = root_of(workspace)
    if database:
        click.echo(f"run {remote.cancel(database, root, run, seconds)} is cancelled")
        return CLEAN
    with run_driver.reading(root) as store:
        row = run_driver.the_run(store, run)
    if row.status in ("finished", "stopped"):
        raise Refused(f"the run {row.name} is over ({row.status}); there is nothing to cancel")
    try:
        lock = run_folders.Lock(run_folders.run_folder(root, row.name))
        run_folders.ask_to_cancel(root, row.name, time.time())
        deadline = time.monotonic() + seconds
        while (holder := lock.take()) is not None:
            if time.monotonic() > deadline:
                raise WorldError(
                    f"{holder} drives {row.name} and has not stopped yet; it will before its next step"
                )
            time.sleep(0.05)
        try:
            status = _close(root, row.name)
        finally:
            lock.release()
    except WorldFailed as failed:
        raise WorldError(str(failed)) from failed
    if status != "cancelled":
        raise Refused(f"the run {row.name} was over before it could be cancelled ({status})")
    click.echo(f"run {row.name} is cancelled")
    return CLEAN


def _close(root: str, name: str) -> str:
    """Cancels a run that nobody drives; returns how it stands then."""
    from ...engine.events import Mismatch
    from ...journal.sqlite import Untrusted
    from ...program.codec import ProgramError
    from ...runs import run_driver
    from ...runs.records import run_outcome
    from ...workspace import run_folders

    store = run_driver.writing(root)
    try:
        row = store.run(name)
        if row is None:
            raise UsageError(f"there is no run `{name}` here")
        try:
            return run_outcome.cancel_asked(root, store, row)
        except Untrusted as whose:
            run_folders.forget_cancel(root, name)
            raise Refused(run_driver.untrusted(name, str(whose))) from whose
    except (ProgramError, Mismatch) as wrong:
        raise WorldError(f"the run {name} cannot be read: {wrong}") from wrong
    finally:
        store.close()
