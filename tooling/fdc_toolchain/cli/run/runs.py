"""`fdc runs`: lists the runs of a workspace."""

from __future__ import annotations

import shutil
import time
from typing import TYPE_CHECKING, Any

import click

from ...console.options import (
    Number,
    Ranged,
    choice_option,
    count_option,
    flag_option,
    format_option,
    root_of,
    text_option,
    workspace_option,
)
from ...console.run_options import database_option
from ...console.terminal import say_json
from ...exits import CLEAN

if TYPE_CHECKING:
    from ...journal.sqlite import RunRow, Store

STATES = ("new", "running", "finished", "stopped", "waiting", "interrupted", "broken", "cancelled")


@click.group(invoke_without_command=True)
@click.pass_context
@count_option("-n --last", 1, None, "Only the N newest.")
@choice_option("--status", STATES, "Only runs with this status.", many=True)
@text_option("--plan", "GLOB", "Only runs of plans whose path or name matches.")
@click.option("--stalled", cls=Ranged, type=Number(0), is_flag=False, flag_value=0.0, metavar="[SECONDS]",
              help="Only runs that have not ended and are not being driven (for at least this time).")  # fmt: skip
@format_option
@database_option
@workspace_option
def command(
    context: click.Context,
    last: int | None,
    status: tuple[str, ...],
    plan: str | None,
    stalled: float | None,
    form: str,
    database: str | None,
    workspace: str | None,
) -> int:
    """List the runs of this workspace, the newest last, with what they spent of their budget.

    With a database: those of every workspace in it, with the workspace's id (`fdc doctor` shows which worker serves it).
    """
    if context.invoked_subcommand is not None:
        return CLEAN
    from fnmatch import fnmatchcase

    from ...console.progress import duration
    from ...console.run_options import is_terminal
    from ...report.terminal.terminal_text import cut, visible
    from ...runs.records import identity
    from ...runs.workers import remote

    root = root_of(workspace)
    with remote.reading(database, root) as store:
        rows = (
            []
            if store is None
            else store.runs()
            if stalled is None
            else remote.stalled(store, root, stalled)
        )
        rows = [row for row in rows if plan is None or fnmatchcase(row.plan, plan)]
        if status:
            rows = [row for row in rows if remote.status_of(store, root, row) in status]
        if last is not None:
            rows = rows[-last:]
        found: list[dict[str, Any]] = [
            {
                "run": row.name,
                "status": remote.status_of(store, root, row),
                "plan": row.plan,
                "given": row.inputs.get("given", {}),
                "steps": 0 if store is None else store.count(row),
                "started": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(row.started)),
                "seconds": (row.ending or {}).get("seconds"),
                "spent": (row.ending or {}).get("spent", {}),
                "budget": {} if store is None else _budget(store, row),
                "origin": row.origin,
                **({"workspace": identity.of_run(row.inputs)} if database else {}),
            }
            for row in rows
        ]
    if form == "json":
        say_json({"runs": found})
        return CLEAN
    if not found:
        none = "no runs yet; start one with `fdc run PLAN`"
        click.echo("no runs match" if status or plan is not None or stalled is not None else none)
        return CLEAN
    width = shutil.get_terminal_size().columns if is_terminal() else 0
    own = identity.known(root) if database else None
    of = f"{'workspace':<16}  " if database else ""
    click.echo(f"{'run':<20}  {of}{'status':<11}  {'records':>7}  {'driven':>8}  plan")
    for one in found:
        seconds = one["seconds"]
        driven = "" if seconds is None else duration(seconds)
        shown = visible(str(one["plan"]))
        used = [
            f"{one['spent'].get(name, 0):g}/{most:g} {name}" for name, most in one["budget"].items()
        ]
        more = f" ({', '.join(used)})" if used else ""
        given = _inputs(one["given"])
        if database:
            of = f"{'this one' if one['workspace'] == own else one['workspace']:<16}  "
        line = f"{one['run']:<20}  {of}{one['status']:<11}  {one['steps']:>7}  {driven:>8}  {shown}{given}{more}"
        click.echo(cut(line, width) if width else line)
    return CLEAN


def _inputs(given: dict[str, str]) -> str:
    """A run's inputs, the longest first: it identifies the run best, and a terminal cuts the line."""
    from ...console.progress import arguments
    from ...report.terminal.terminal_text import visible

    return "".join(
        f" {visible(name)}={arguments({name: text})}"
        for name, text in sorted(given.items(), key=lambda item: -len(item[1]))
        if text
    )


@command.command("prune")
@text_option(
    "--older", "AGE", "Runs that ended longer ago than this: `12h`, `30d`, `2w`.", required=True
)
@flag_option("--dry-run", "Show what would be removed, without removing it.")
@database_option
@workspace_option
def prune(older: str, dry_run: bool, database: str | None, workspace: str | None) -> int:
    """Remove runs that finished, stopped or were cancelled, with all their data.

    Keeps runs that can continue by themselves, and runs from which a kept run was forked.
    """
    from . import prune as pruning

    return pruning.prune(root_of(workspace), older, dry_run, database)


def _budget(store: Store, row: RunRow) -> dict[str, float]:
    """The limits in force: those of the plan and of `fdc run`, with later changes."""
    from ...engine.ports import WorldFailed
    from ...program.codec import ProgramError

    try:
        own = store.program(row)["budget"]
    except (WorldFailed, ProgramError):
        own = {}  # `fdc verify` reports what is wrong with it
    budget = {**own, **row.inputs.get("budget", {})}
    for record in store.records(row, "budget"):
        budget.update(record.body.get("budget", {}))
    return budget
