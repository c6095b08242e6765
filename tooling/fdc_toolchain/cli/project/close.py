"""`fdc close`: the last command of a task (FDC-17)."""

from __future__ import annotations

import uuid
from datetime import datetime
from functools import partial

import click

from ...console.options import flag_option
from ...exits import CLEAN, FINDINGS, UsageError
from ...report.terminal.terminal_text import visible
from ...tasks import activity_log
from ...tasks.activity import open_tasks
from ...tasks.lifecycle import close, finalize
from ..shared.lifecycle_options import root_of, task_id_option, tell, workspace_option


@click.command()
@task_id_option
@workspace_option
@flag_option("--finalize final", "Refuse a post-mortem that is not filled in; log POST_MORTEM.")
def command(task_id: str | None, workspace: str | None, final: bool) -> int:
    """End a task: write its post-mortem from the template, then log TASK_END.

    The post-mortem is postmortems/DATE-ID.md; an existing file is kept. Closing twice changes nothing. Without
    --task-id it is the open task, if only one is open. When you have filled the page in, run
    --finalize: it names each section that still has the template's text.
    """
    root = root_of(workspace)
    task_id = _the_open_one(root) if task_id is None else task_id
    transact, now = partial(activity_log.transact, root), datetime.now().astimezone()
    report = close(root, task_id, transact=transact, now=now, new_id=lambda: str(uuid.uuid4()))
    if final and not report.refused:
        if not any("nothing was logged" in line for line in report.lines):
            tell(report)
        report = finalize(
            root, task_id, transact=transact, now=now, new_id=lambda: str(uuid.uuid4())
        )
    tell(report)
    return FINDINGS if report.refused else CLEAN


def _the_open_one(root: str) -> str:
    """The id of the only open task. A closed task cannot be opened again, so of several none is guessed."""
    found = [task.id for task in open_tasks(activity_log.content(root))]
    if len(found) == 1:
        return found[0]
    names = ", ".join(f"`{visible(name)}`" for name in found)
    said = f"several tasks are open ({names})" if found else "no task is open"
    raise UsageError(f"{said}: name the one that you mean with `--task-id ID`")
