"""What `fdc runs prune` does and says."""

from __future__ import annotations

import re
import time

import click

from ...exits import CLEAN, Refused, UsageError, WorldError

_UNITS = {"h": 3600, "d": 86400, "w": 7 * 86400}


def prune(root: str, older: str, dry_run: bool, database: str | None) -> int:
    """Removes what ended longer ago than `older` says. Raises UsageError, Refused and WorldError."""
    from ...agent.host import files
    from ...engine.ports import WorldFailed
    from ...report.terminal.terminal_text import visible
    from ...runs.records import prune as removing
    from ...runs.records.open_journal import reading, writing
    from ...workspace import run_folders

    before = time.time() - seconds(older)
    if database:
        why = "workers on other machines have folders and deliveries of its runs"
        raise Refused(
            f"fdc removes no runs from a database: {why}; without --database (FDC_DATABASE) it prunes this workspace's"
        )
    with reading(root) as found:
        if found is None:
            click.echo("no runs yet")
            return CLEAN
        chosen = removing.choose(found, before, files.known(root))
        size = removing.size_of(found, root, chosen.rows) if dry_run else 0
    rows, left = chosen.rows, ""
    if not dry_run:
        try:
            run_folders.folder(root)
            store = writing(root)
            try:
                rows, size, left = removing.prune(store, root, chosen.rows)
            finally:
                store.close()
        except WorldFailed as failed:
            raise WorldError(str(failed)) from failed
    for row in rows:
        click.echo(
            f"{'would remove' if dry_run else 'removed'} {row.name}  {row.status:<9}  {visible(row.plan)}"
        )
    for row, why in chosen.kept:
        click.echo(f"kept {row.name}: {visible(why)}")
    runs_ = f"{len(rows)} run{'' if len(rows) == 1 else 's'}"
    click.echo(
        f"{runs_} would go, about {_bytes(size)}"
        if dry_run
        else f"{runs_} removed, {_bytes(size)} freed"
    )
    if left:
        click.echo(
            f"the journal's file did not get smaller ({visible(left)}); the next `fdc runs prune` makes it so",
            err=True,
        )
    return CLEAN


def seconds(age: str) -> float:
    """The seconds of `12h`, `30d` or `2w`. Raises UsageError for anything else."""
    found = re.fullmatch(r"([0-9]{1,6})([hdw])", age, re.ASCII)
    if found is None:
        raise UsageError(
            f"`--older {age}`: a number of hours, days or weeks is expected (`12h`, `30d`, `2w`)"
        )
    return float(int(found[1]) * _UNITS[found[2]])


def _bytes(size: int) -> str:
    size = max(size, 0)
    return (
        f"{size} bytes"
        if size < 1024
        else f"{size / 1024:.1f} KiB"
        if size < 1024 * 1024
        else f"{size / 1024 / 1024:.1f} MiB"
    )
