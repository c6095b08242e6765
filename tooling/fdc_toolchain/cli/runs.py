"""`fdc runs`: lists the runs of a workspace."""

from __future__ import annotations

import json
import time
from typing import Any

import click

from .run_options import root_of


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("-n", "--last", type=click.IntRange(1), metavar="N", help="Only the N newest.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", help="A table, or JSON.")
@click.option("--workspace", metavar="DIR", help="The workspace; the nearest one above the current folder otherwise.")
def command(last: int | None, form: str, workspace: str | None) -> int:
    """List the runs of this workspace, the newest last."""
    from ..report.cells import visible
    from . import wiring
    from .progress import duration

    root = root_of(workspace)
    with wiring.reading(root) as store:
        rows = [] if store is None else store.runs()
        if last is not None:
            rows = rows[-last:]
        found: list[dict[str, Any]] = [
            {
                "run": row.name,
                "status": wiring.status_of(root, row),
                "plan": row.plan,
                "steps": 0 if store is None else store.count(row),
                "started": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(row.started)),
                "seconds": (row.ending or {}).get("seconds"),
            }
            for row in rows
        ]
    if form == "json":
        click.echo(json.dumps({"format": 1, "runs": found}, indent=2))
        return 0
    if not found:
        click.echo("no runs yet; `fdc run PLAN` makes one")
        return 0
    click.echo(f"{'run':<20}  {'status':<11}  {'records':>7}  {'driven':>8}  plan")
    for one in found:
        seconds = one["seconds"]
        driven = "" if seconds is None else duration(seconds)
        plan = visible(str(one["plan"]))
        click.echo(f"{one['run']:<20}  {one['status']:<11}  {one['steps']:>7}  {driven:>8}  {plan}")
    return 0
