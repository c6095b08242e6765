"""Prints how a run ended, for the commands that drive runs of any plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...console.run_summary import tell
from ...narrow import narrow
from ...packs.imported import imported
from ...packs.index import index

if TYPE_CHECKING:
    from ...report.terminal.style import Style
    from ...runs.observer import Observer
    from ...runs.records.run_outcome import Ended


def told(
    database: str | None,
    root: str,
    ended: Ended,
    show: Observer,
    form: str,
    quiet: bool,
    style: Style,
) -> int:
    """Prints the end of a run; that of a plan of a pack as the pack's command prints it. Returns the exit code."""
    from ...runs.workers import remote

    if ended.status == "finished" and form == "text" and not quiet and not ended.simulated:
        for row in index().commands.values():
            if ended.plan in row.tells:
                with remote.reading(database, root) as store:
                    return narrow(imported(row.module, "tell")(root, ended, store), int)
    return tell(ended, show, form, quiet, style)
