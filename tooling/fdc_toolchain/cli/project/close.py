"""`fdc close`: the last command of a task (FDC-17)."""

from __future__ import annotations

import uuid
from datetime import datetime
from functools import partial

import click

from ...exits import CLEAN, FINDINGS
from ...tasks import activity_log
from ...tasks.lifecycle import close, finalize
from ..shared.lifecycle_options import root_of, task_id_option, tell, workspace_option


@click.command()
@task_id_option
@workspace_option
@click.option(
    "--finalize",
    "final",
    is_flag=True,
    help="Refuse a post-mortem that is not filled in; log POST_MORTEM.",
)
def command(task_id: str, workspace: str | None, final: bool) -> int:
    """End a task: write its post-mortem from the template, then log TASK_END.

    The post-mortem is postmortems/DATE-ID.md; an existing file is kept. Closing twice changes nothing. When
    you have filled it in, run --finalize: it names each section that still has the template's text.
    """
    root = root_of(workspace)
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
