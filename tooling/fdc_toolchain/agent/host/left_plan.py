"""Whose plan a plan file still holds: it is not given to a new task without a word."""

from __future__ import annotations

import hashlib
import os

from ... import durable
from ...exits import WorldError
from .files import plan_of_another


def left_by(root: str, path: str, sha256: str, task: str) -> str | None:
    """What the plan in the file `path` was written for, in words: another task, or a run that finished; None where the
    file was written again since. A run of this task is none."""
    other = plan_of_another(root, path, sha256, task)
    if other is not None:
        return f"the task `{other}`"
    try:
        run = _run_of(root, path, task)
    except WorldError:  # who drives runs says so
        return None
    return None if run is None else f"the run `{run}`, which finished"


def _run_of(root: str, path: str, task: str) -> str | None:
    from ...engine.ports import WorldFailed
    from ...program.codec import ProgramError
    from ...runs.records.open_journal import reading

    file = os.path.join(root, *path.split("/"))
    try:
        written = os.stat(file).st_mtime_ns
        data = durable.read(file)
    except OSError:
        return None
    with reading(root) as store:
        if store is None or data is None:
            return None
        digest = hashlib.blake2b(data, digest_size=32).hexdigest()
        for row in reversed(store.runs()):
            of_this = (row.inputs.get("task") or {}).get("id") == task
            late = row.started * 1e9 >= written and not of_this
            if (row.plan, row.status) != (path, "finished") or not late or "simulate" in row.inputs:
                continue
            try:
                if store.program(row)["sources"].get(path) == digest:
                    return row.name
            except (WorldFailed, ProgramError):
                continue
    return None
