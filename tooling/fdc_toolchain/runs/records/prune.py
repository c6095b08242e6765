"""Removes runs that are over and old, whole: `fdc runs prune`.

    chosen = choose(store, before, tasks)
    removed = prune(store, root, chosen.rows)

Of a run go its rows, contents that no other run has, its folder `runs/RUN`, its folder in `.fdc`, and the note of how far
this machine saw it go. The rows go in one commit. Before it a file in `.fdc` names the runs, and it goes when their folders are
gone: so whatever a kill leaves, the next call takes away.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from typing import Any, NamedTuple

from ... import durable
from ...engine.ports import WorldFailed
from ...journal import counter, hash_chain
from ...journal.database import world_failed
from ...journal.sqlite import RunRow, Store
from ...workspace import run_folders

OVER = ("finished", "stopped", "cancelled")
TODO = "pruning.json"
BATCH = 200
"""Runs that are locked and removed at once."""

_NAME = re.compile(r"[A-Za-z0-9][\w.-]*", re.ASCII)
_FREE = "DELETE FROM blob WHERE hash NOT IN (SELECT program FROM run UNION SELECT blob FROM record WHERE blob IS NOT NULL)"
_DONE = "AWAITING_SUBMISSION"
"""Where a task of `fdc agent` stands that needs none of its runs any more."""


class Chosen(NamedTuple):
    """The runs to remove, and those that are old and over too, each with why it stays."""

    rows: list[RunRow]
    kept: list[tuple[RunRow, str]]


class Removed(NamedTuple):
    """What was removed, how many bytes are free now, and why the journal's file did not get smaller (empty: it did)."""

    rows: list[RunRow]
    size: int
    left: str


def choose(store: Store, before: float, tasks: Iterable[Mapping[str, Any]] = ()) -> Chosen:
    """The runs that ended before a moment (seconds since 1970) and that nothing needs any more. Raises WorldFailed.

    `tasks`: the records of tasks of `fdc agent`, each with its `task_id` and its `state`.
    """
    everything = store.runs()
    old = {
        row.name: row
        for row in everything
        if row.status in OVER and _ended(row) < before and _NAME.fullmatch(row.name)
    }
    why: dict[str, str] = {}
    for record in tasks:
        if record.get("state") != _DONE:
            text = json.dumps(record)
            why.update(
                {
                    name: f"the task {record.get('task_id')} of `fdc agent` has it"
                    for name in old
                    if f'"{name}"' in text
                }
            )
    there = {row.name for row in everything}
    changed = True
    while changed:  # a run that stays may need another one
        changed = False
        for row in everything:
            if row.name in old and row.name not in why:
                above = (
                    {row.inputs.get("within")}
                    if row.origin
                    else {row.inputs.get("within"), _folder(row)}
                )
                for outer in above & there - {row.name}:
                    if outer not in old or outer in why:
                        why[row.name] = f"it ran within the run {outer}"
                        changed = True
                continue
            for needed in {_folder(row), (row.origin or {}).get("run")} & old.keys() - why.keys():
                why[str(needed)] = f"the run {row.name} was made from it"
                changed = True
    return Chosen(
        [row for name, row in old.items() if name not in why],
        [(old[name], said) for name, said in why.items()],
    )


def size_of(store: Store, root: str, rows: Sequence[RunRow]) -> int:
    """About how many bytes runs take, without contents that others share. Raises WorldFailed."""
    size = sum(_size(path) for row in rows for path in _folders(root, row.name))
    for row in rows:
        sizes = store._select(
            "SELECT sum(length(coalesce(body, '')) + length(request) + 100) FROM record WHERE run=?",
            (row.id,),
        )
        size += int(sizes[0][0] or 0)
    return size


def prune(store: Store, root: str, rows: Sequence[RunRow]) -> Removed:
    """Removes runs, after what an earlier call has left. Those that somebody drives now, or that changed, stay.

    Raises WorldFailed; the next call goes on then.
    """
    todo = os.path.join(run_folders.folder(root), TODO)
    gone: list[RunRow] = []
    size = 0
    before = _journal(store)
    try:
        with durable.exclusive(todo):
            size += _finish(store, root, todo)
            newest = sorted(
                rows, key=lambda row: -row.id
            )  # a run that was made from another one goes before that
            for start in range(0, len(newest), BATCH):
                with ExitStack() as held:
                    mine = [
                        row
                        for row in newest[start : start + BATCH]
                        if _locked(root, row.name, held)
                    ]
                    for row in mine:
                        _forget(store, row)
                    durable.replace(
                        todo,
                        json.dumps({"format": 1, "runs": [row.name for row in mine]}).encode(
                            "ascii"
                        ),
                    )
                    gone += _delete(store, mine)
                    size += _finish(store, root, todo)
            left = _smaller(store, root)
    except OSError as failed:
        raise WorldFailed(
            f"{failed.filename or todo}: {(failed.strerror or str(failed)).lower()}"
        ) from failed
    return Removed(sorted(gone, key=lambda row: row.id), size + before - _journal(store), left)


def _ended(row: RunRow) -> float:
    return row.started if row.ended is None else row.ended


def _folder(row: RunRow) -> str:
    """The run whose folder a run works in: its own, that of the run that it was forked from, or within which it ran."""
    return str(row.inputs.get("builtin", {}).get("run", f"runs/{row.name}")).removeprefix("runs/")


def _folders(root: str, name: str) -> Iterator[str]:
    for above in (root, os.path.join(root, run_folders.FOLDER)):
        folder = os.path.join(above, "runs")
        path = os.path.join(folder, name)
        if not os.path.islink(folder) and not os.path.islink(path) and os.path.isdir(path):
            yield path


def _locked(root: str, name: str, held: ExitStack) -> bool:
    path = os.path.join(root, run_folders.FOLDER, "runs", name)
    if os.path.islink(path) or not os.path.isdir(path):
        return not os.path.islink(path)  # it was put on record, and never driven here
    lock = run_folders.Lock(path)
    if lock.take() is not None:
        return False
    held.callback(lock.release)
    return True


def _forget(store: Store, row: RunRow) -> None:
    """Takes away the note of how far this machine saw a run go, where the run is the user's own."""
    if store.counted and store.check(row.id).signature == "ours":
        counter.forget(hash_chain.beginning(store._owner(row.id)))


def _delete(store: Store, rows: Sequence[RunRow]) -> list[RunRow]:
    """Deletes the rows of runs that are as they were when they were chosen, and that no new run was made from."""
    with store._transaction():
        new = {
            name
            for row in store.runs()
            if row.origin
            for name in [row.origin.get("run")]
            if row not in rows
        }
        gone = [row for row in rows if store.run(row.name) == row and row.name not in new]
        for row in gone:
            store._db.execute("DELETE FROM record WHERE run=?", (row.id,))
            store._db.execute("DELETE FROM run WHERE id=?", (row.id,))
        store._db.execute(_FREE)
    return gone


def _finish(store: Store, root: str, todo: str) -> int:
    """Takes away the folders of runs that have no rows any more. Returns their bytes. Raises OSError and WorldFailed."""
    data = durable.read(todo)
    if data is None:
        return 0
    try:
        names = [
            name
            for name in json.loads(data)["runs"]
            if isinstance(name, str) and _NAME.fullmatch(name)
        ]
    except (ValueError, KeyError, TypeError):
        names = []
    size = 0
    for name in names:
        if store.run(name) is not None:
            continue  # its rows were not deleted
        for path in _folders(root, name):
            size += _size(path)
            shutil.rmtree(path)
    with suppress(OSError):
        os.rmdir(os.path.join(root, "runs"))  # where it is empty
    os.unlink(todo)
    durable.sync_folder(os.path.dirname(todo))
    return size


def _smaller(store: Store, root: str) -> str:
    """Makes the journal's file as small as what is in it; returns why not."""
    import sqlite3

    if any(
        row.status == "running" and run_folders.is_driven(root, row.name) for row in store.runs()
    ):
        return "a run is driven now"
    try:
        store._db.execute("VACUUM")
        store._db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    except sqlite3.OperationalError as failed:
        return str(world_failed(failed, store.path))
    except sqlite3.Error as failed:
        raise world_failed(failed, store.path) from failed
    return ""


def _journal(store: Store) -> int:
    return sum(
        os.path.getsize(path) for path in (store.path, store.path + "-wal") if os.path.exists(path)
    )


def _size(path: str) -> int:
    found = 0
    for here, _, names in os.walk(path):
        for name in names:
            try:
                found += os.lstat(os.path.join(here, name)).st_size
            except OSError:
                continue
    return found
