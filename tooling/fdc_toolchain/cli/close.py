"""`fdc close`: the last command of a task (FDC-17)."""

from __future__ import annotations

import uuid
from datetime import datetime
from functools import partial

import click

from ..effects import activity_log
from ..workflows.lifecycle import close
from .exits import CLEAN, FINDINGS
from .lifecycle import root_of, task_id_option, tell, workspace_option


@click.command()
@task_id_option
@workspace_option
def command(task_id: str, workspace: str | None) -> int:
    """End a task: write its post-mortem from the template, then log TASK_END.

    The post-mortem is postmortems/DATE-ID.md; one that exists is kept. Closing twice changes nothing.
    """
    root = root_of(workspace)
    report = close(
        root,
        task_id,
        transact=partial(activity_log.transact, root),
        now=datetime.now().astimezone(),
        new_id=lambda: str(uuid.uuid4()),
    )
    tell(report)
    return FINDINGS if report.refused else CLEAN
