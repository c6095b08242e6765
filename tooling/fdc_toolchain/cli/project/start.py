"""`fdc start`: the first command of a task (FDC-07)."""

from __future__ import annotations

import uuid
from datetime import datetime
from functools import partial

import click

from ...console.options import text_option
from ...exits import CLEAN, FINDINGS, UsageError
from ...tasks import activity_log
from ...tasks.activity import task_id_of
from ...tasks.lifecycle import start
from ...tasks.probe import NETWORK, probe
from ...tools.files.documents import scan
from ..shared.lifecycle_options import root_of, task_id_option, tell, workspace_option


@click.command()
@click.argument("task", required=False)
@task_id_option
@workspace_option
@text_option(
    "--network",
    "HOST:PORT",
    "The address that the network probe connects to; `off` skips the probe.",
    default=NETWORK,
)
def command(task: str | None, task_id: str | None, workspace: str | None, network: str) -> int:
    """Begin a task: check the environment, then log TASK_START.

    TASK says what is to be done; the id is made from it, unless `--task-id` gives one.

    Orientation has three levels: the agent's identity (knowledge_core/agent_meta.json), the repository's
    knowledge (knowledge_core/ and its readable documents), the machine (files, network, environment). The first
    two must succeed. The third is only recorded: an offline machine gives a FAIL line,
    not an error.
    """
    if task is None and task_id is None:
        raise UsageError(
            "give the task in words, as in `fdc start 'Add a page'`, or its id with `--task-id ID`"
        )
    root = root_of(workspace)
    report = start(
        root,
        task_id_of(str(task)) if task_id is None else task_id,
        transact=partial(activity_log.transact, root),
        probe=lambda: probe(root, network=network),
        now=datetime.now().astimezone(),
        new_id=lambda: str(uuid.uuid4()),
        documents=lambda: _documents(root),
    )
    tell(report)
    return FINDINGS if report.refused else CLEAN


def _documents(root: str) -> tuple[int, list[tuple[str, str]]]:
    found = scan(root)
    return len(found.documents), [(one.path, one.reason) for one in found.skipped]
