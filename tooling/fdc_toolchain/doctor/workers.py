"""Lists the workers of a database, the workspaces that they serve, and waiting runs that no worker serves."""

from __future__ import annotations

import os
from contextlib import closing

from ..engine.ports import WorldFailed
from ..exits import UsageError
from ..journal.postgres import PgStore, shown
from ..runs.records import identity
from ..runs.workers.liveness import Worker, workers
from ..workspace import run_folders
from .machine import Found

MOST = 3
"""Maximum number of waiting runs shown for one workspace."""


def examine(url: str, root: str) -> list[Found]:
    """The checks of `fdc doctor --database`. Does not create an identity for this folder. Never raises."""
    try:
        with closing(PgStore(url)) as store:
            there = workers(url)
            waiting = [row for row in store.stalled(0.0) if "~" not in row.name]
            over = ("finished", "stopped", "cancelled")
            open_ = sum(row.status not in over for row in store.runs())
        own = (
            identity.identity(root)
            if os.path.exists(os.path.join(root, run_folders.FOLDER, identity.FILE))
            else None
        )
    except (UsageError, WorldFailed) as failed:
        return [Found("database", "bad", str(failed))]
    said = [
        Found(
            "database",
            "ok",
            f"{shown(url)}: {len(there)} workers, {open_} runs that have not ended",
        )
    ]
    if own is None:
        said.append(
            Found(
                "workspace",
                "note",
                f"{root} has no identity yet; it gets one with its first run in a database",
            )
        )
    elif own.copied is not None:
        said.append(Found("workspace", "bad", identity.copied(own, root)))
    else:
        said.append(Found("workspace", "ok", f"{root} is the workspace {own.id}"))
    said += [_worker(one, own.id if own is not None else None) for one in there]
    by: dict[str, list[str]] = {}
    for row in waiting:
        by.setdefault(identity.of_run(row.inputs), []).append(row.name)
    served = {workspace for one in there for workspace in one.serves}
    for workspace, names in sorted(by.items()):
        if workspace not in served:
            shown_ = ", ".join(names[:MOST]) + (
                f" and {len(names) - MOST} more" if len(names) > MOST else ""
            )
            said.append(
                Found(
                    "waiting",
                    "bad",
                    f"{_whose(workspace)}, which no worker serves: {shown_}; {_mend(workspace)}",
                )
            )
    return said


def _worker(worker: Worker, own: str | None) -> Found:
    serves = ", ".join(
        f"{each} (this workspace)" if each == own else each for each in worker.serves
    )
    at = f", commit {worker.commit[:12]} at its start" if worker.commit else ""
    return Found(
        "worker", "ok", f"{worker.name} on {worker.host} in {worker.folder}{at} serves {serves}"
    )


def _whose(workspace: str) -> str:
    if workspace == identity.UNNAMED:
        return "runs of an older fdc, without a workspace"
    return f"runs of the workspace {workspace}"


def _mend(workspace: str) -> str:
    if workspace == identity.UNNAMED:
        return "start `fdc worker --serve unnamed` in the folder where they were started"
    return f"start `fdc worker` in that workspace, or `fdc worker --serve {workspace}` in a folder that stands for it"
