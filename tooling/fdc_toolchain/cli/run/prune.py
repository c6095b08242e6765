"""`fdc runs prune`: removes old runs."""

from __future__ import annotations

import re
import time
from contextlib import closing
from typing import TYPE_CHECKING

import click

from ...console.terminal import say
from ...exits import CLEAN, UsageError, WorldError

if TYPE_CHECKING:
    from ...runs.records.prune import Removed

_UNITS = {"h": 3600, "d": 86400, "w": 7 * 86400}


def prune(root: str, older: str, dry_run: bool, database: str | None) -> int:
    """Removes runs that ended longer ago than `older`. Raises UsageError, WorldError."""
    from ...agent.host import files
    from ...report.terminal.terminal_text import visible
    from ...runs.workers import pruning

    before = time.time() - seconds(older)
    _tasks_are_whole(root)
    elsewhere: list[str] = []
    if database:
        removed, elsewhere = pruning.prune(
            database, root, before, files.known(root), dry_run=dry_run
        )
    else:
        found = _here(root, before, dry_run)
        if found is None:
            click.echo("no runs yet")
            return CLEAN
        removed = found
    for row in removed.rows:
        click.echo(
            f"{'would remove' if dry_run else 'removed'} {row.name}  {row.status:<9}  {visible(row.plan)}"
        )
    for row, why in removed.kept:
        click.echo(f"kept {row.name}: {visible(why)}")
    runs_ = f"{len(removed.rows)} run{'' if len(removed.rows) == 1 else 's'}"
    click.echo(
        f"{runs_} would be removed, about {_bytes(removed.size)}"
        if dry_run
        else f"{runs_} removed, {_bytes(removed.size)} freed"
    )
    for place in elsewhere:
        say(
            f"workers have driven some of them in {visible(place)}: their `runs/RUN` stays there",
            err=True,
        )
    if removed.left:
        say(
            f"the journal's file could not be reduced ({visible(removed.left)}); the next `fdc runs prune` tries again",
            err=True,
        )
    return CLEAN


def _tasks_are_whole(root: str) -> None:
    """Raises WorldError where a task of `fdc agent` is damaged: it is unknown which runs it needs, and none comes back."""
    from ...agent.host import files
    from ...report.terminal.terminal_text import visible
    from ...workspace import run_folders

    for name, why in files.damaged(root).items():
        folder = visible(f"{run_folders.FOLDER}/{files.AGENTS}/{name}")
        raise WorldError(
            f"{folder}/{files.STATE} is damaged ({visible(why)}), so it is unknown which runs that task of `fdc agent` needs,"
            f" and nothing was removed; put a whole copy back, or remove the folder {folder} if the task is over"
        )


def _here(root: str, before: float, dry_run: bool) -> Removed | None:
    """The removed runs of this workspace's own journal; None if it has no journal."""
    from ...agent.host import files
    from ...journal.database import DiskFull
    from ...runs.records import prune as removing
    from ...runs.records.open_journal import reading, writing
    from ...workspace import run_folders

    with reading(root) as store:
        if store is None:
            return None
        if dry_run:
            chosen = removing.choose(store, root, before, files.known(root))
            return removing.Removed(*chosen, removing.size_of(store, root, chosen.rows), "")
    run_folders.folder(root)
    try:
        with closing(writing(root)) as held:
            return removing.prune(held, root, before, files.known(root))
    except DiskFull as failed:
        raise WorldError(
            f"{failed}; the journal needs free space also to remove runs: free about 1 MiB on this disk, and try again"
        ) from failed


def seconds(age: str) -> float:
    """The seconds of `12h`, `30d` or `2w`. Raises UsageError for anything else."""
    found = re.fullmatch(r"([0-9]{1,6})([hdw])", age, re.ASCII)
    if found is None:
        raise UsageError(
            f"`--older {age}`: expected a number of hours, days or weeks (`12h`, `30d`, `2w`)"
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
