"""Removes ended, old runs with all their data: `fdc runs prune`, for a file or a database.

    removed = prune(store, root, before, tasks)

Of a run go its rows, contents that no other run has, its folder `runs/RUN`, its folder in `.fdc`, the note of how far this
machine saw it go, and in a database what the queues know of it. Runs that need each other (one ran within another, or was made
from it) go in one commit, or stay. What may go is looked up again inside of that commit, in which no one can take a run over or
make another one from it. A file in `.fdc` names the runs before it, and goes when their folders are gone: so whatever a kill
leaves, the next call takes away.
"""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from hashlib import blake2b
from hmac import compare_digest
from typing import Any

from ... import durable
from ...engine.ports import WorldFailed
from ...exits import reason
from ...journal import counter, hash_chain
from ...journal.database import DiskFull, world_failed
from ...journal.postgres import PgStore
from ...journal.sqlite import RunRow, Store
from ...named_tuples import NamedTuple
from ...workspace import run_folders
from .run_outcome import OVER

TODO = "pruning.json"
BATCHES = (200, 10, 1)
"""Number of runs per commit, unless runs that need each other require more; on a full disk, the next one: a commit writes first
what it frees."""

_NAME = re.compile(r"[A-Za-z0-9][\w.-]*", re.ASCII)
_DONE = "AWAITING_SUBMISSION"
"""States of a task of `fdc agent` in which it does not need its runs any more."""

Tasks = Iterable[Mapping[str, object]]
Stays = Callable[[list[RunRow]], Mapping[str, str]]
"""By name, why an ended, old run is kept; an empty text if that is not reported."""


class Chosen(NamedTuple):
    """The runs to remove, and the ended, old runs to keep, each with the reason."""

    rows: list[RunRow]
    kept: list[tuple[RunRow, str]]


class Removed(NamedTuple):
    """The removed runs, the kept runs with reasons, the freed bytes, and why the journal's file could not be reduced
    (empty: it did)."""

    rows: list[RunRow]
    kept: list[tuple[RunRow, str]]
    size: int
    left: str


def choose(
    store: Store, root: str, before: float, tasks: Tasks = (), stays: Stays = lambda rows: {}
) -> Chosen:
    """The runs that ended before a time (seconds since 1970), are not driven and not needed. Raises WorldFailed.

    `tasks`: the records of tasks of `fdc agent`, each with its `task_id` and its `state`.
    """
    everything = store.runs()
    old = {
        row.name: row
        for row in everything
        if row.status in OVER and _ended(row) < before and _NAME.fullmatch(row.name)
    }
    why = {name: said for name, said in stays(list(old.values())).items() if name in old}
    why |= dict.fromkeys(_driven(store, root, list(old.values())), "it is being driven")
    for record in tasks:
        if record.get("state") != _DONE:
            text = json.dumps(record)
            said = f"the task {record.get('task_id')} of `fdc agent` needs it"
            why.update({name: said for name in old if f'"{name}"' in text})
    there = {row.name for row in everything}
    changed = True
    while changed:  # a kept run may need another one
        changed = False
        for row in everything:
            outer = _outer(row) & there
            if row.name in old and row.name not in why:
                for needed in outer - (old.keys() - why.keys()):
                    why[row.name] = f"it is nested in the run {needed}"
                    changed = True
                continue
            made = {(row.origin or {}).get("run"), _folder(row)} - outer
            for said, names in (("is nested in it", outer), ("was forked from it", made)):
                for needed in names & (old.keys() - why.keys()):
                    why[str(needed)] = f"the run {row.name} {said}"
                    changed = True
    return Chosen(
        [row for name, row in old.items() if name not in why],
        [(old[name], said) for name, said in why.items() if said],
    )


def size_of(store: Store, root: str, rows: Sequence[RunRow]) -> int:
    """The approximate size of runs in bytes, without contents shared with other runs. Raises WorldFailed."""
    size = sum(_size(path) for row in rows for path in _folders(root, row.name))
    for row in rows:
        sizes = store._select(
            "SELECT sum(length(coalesce(body, '')) + length(request) + 100) FROM record WHERE run=?",
            (row.id,),
        )
        size += int(sizes[0][0] or 0)
    return size


def prune(
    store: Store, root: str, before: float, tasks: Tasks = (), stays: Stays = lambda rows: {}
) -> Removed:
    """Completes an interrupted call, then removes the runs of `choose`. Raises WorldFailed; the next call continues then."""
    todo = os.path.join(run_folders.folder(root), _todo(store))
    gone: list[RunRow] = []
    size = 0
    tasks = list(tasks)

    def chosen() -> Chosen:
        return choose(store, root, before, tasks, stays)

    try:
        with durable.exclusive(todo):
            space = _journal(store)
            if not isinstance(store, PgStore):
                store._db.execute("PRAGMA wal_autocheckpoint=1")  # the log stays small
            for batch in BATCHES:
                size += _finish(store, root, todo)
                try:
                    for family in _families(store.runs(), chosen().rows, batch):
                        held = size_of(store, root, family) if isinstance(store, PgStore) else 0
                        removed = _remove(store, todo, family, chosen)
                        size += held if len(removed) == len(family) else 0
                        gone += removed
                        size += _finish(store, root, todo)
                    break
                except (DiskFull, OSError):
                    if batch == BATCHES[-1]:
                        raise
            store.free()
            left = "" if isinstance(store, PgStore) else _smaller(store, root)
            kept = chosen().kept
    except DiskFull as failed:
        raise DiskFull(f"{failed} (runs removed: {len(gone)})") from failed
    except OSError as failed:
        full = failed.errno in (errno.ENOSPC, errno.EDQUOT)
        raise (DiskFull if full else WorldFailed)(
            f"{failed.filename or todo}: {reason(failed)}"
        ) from failed
    return Removed(sorted(gone, key=lambda row: row.id), kept, size + space - _journal(store), left)


def _remove(
    store: Store, todo: str, family: Sequence[RunRow], chosen: Callable[[], Chosen]
) -> list[RunRow]:
    """Removes those rows of a portion that are still chosen in the commit, after it named the runs in `todo`."""
    names = {row.name for row in family}
    notes = {row.name: _note(store, row) for row in family}
    said = {"format": 1, "runs": list(notes), "notes": notes}
    durable.replace(todo, json.dumps(said).encode("ascii"))
    return store.remove(
        [row.id for row in family], lambda: [row for row in chosen().rows if row.name in names]
    )


def _todo(store: Store) -> str:
    """The file that names what is being removed: of this workspace's file, or of one database."""
    if not isinstance(store, PgStore):
        return TODO
    return f"pruning-{blake2b(store.path.encode(), digest_size=8).hexdigest()}.json"


def _families(
    everything: Sequence[RunRow], rows: Sequence[RunRow], batch: int
) -> Iterator[list[RunRow]]:
    """The runs to remove in portions of this size, with runs that need each other together."""
    joined = {row.name: {row.name} for row in everything}
    for row in everything:
        for name in _outer(row) | {_folder(row), (row.origin or {}).get("run")}:
            if name in joined and joined[name] is not joined[row.name]:
                small, large = sorted((joined[row.name], joined[str(name)]), key=len)
                large |= small
                joined.update(dict.fromkeys(small, large))
    by_family: dict[int, list[RunRow]] = {}
    for row in rows:
        by_family.setdefault(id(joined[row.name]), []).append(row)
    portion: list[RunRow] = []
    for family in by_family.values():
        portion += family
        if len(portion) >= batch:
            yield portion
            portion = []
    if portion:
        yield portion


def _ended(row: RunRow) -> float:
    return row.started if row.ended is None else row.ended


def _folder(row: RunRow) -> str:
    """The run whose folder a run uses: itself, the run that it was forked from, or its outer run."""
    return str(row.inputs.get("builtin", {}).get("run", f"runs/{row.name}")).removeprefix("runs/")


def _outer(row: RunRow) -> set[Any]:
    """By name, the runs that a run is a part of: its outer runs, or those whose folder it uses."""
    return {row.inputs.get("within"), None if row.origin else _folder(row)} - {None, row.name}


def _driven(store: Store, root: str, rows: Sequence[RunRow]) -> set[str]:
    """The names of the runs that are being driven."""
    if isinstance(store, PgStore):
        numbers = store.in_work()
        return {row.name for row in rows if row.id in numbers}
    return {row.name for row in rows if run_folders.is_driven(root, row.name)}


def _folders(root: str, name: str) -> Iterator[str]:
    for above in (root, os.path.join(root, run_folders.FOLDER)):
        folder = os.path.join(above, "runs")
        path = os.path.join(folder, name)
        if not os.path.islink(folder) and not os.path.islink(path) and os.path.isdir(path):
            yield path


def _note(store: Store, row: RunRow) -> list[str]:
    """By what this machine notes the newest record that it saw of a run, as hex, and its seal; empty if the run is not the
    user's own."""
    if store.counted and store.check(row.id).signature == "ours":
        start = hash_chain.beginning(store._owner(row.id)).hex()
        return [start, _seal(store, row.name, start)]
    return []


def _seal(store: Store, name: str, start: str) -> str:
    """Shows that the user's own fdc wrote a note into the file, which may come with a clone."""
    return blake2b(f"{name} {start}".encode(), key=store.key or b"", digest_size=16).hexdigest()


def _own_notes(store: Store, said: Mapping[str, Mapping[str, Sequence[str]]]) -> dict[str, bytes]:
    """By the name of a run: what its note is kept by. Raises ValueError, TypeError, AttributeError where it is damaged."""
    sealed = {name: row for name, row in said.get("notes", {}).items() if row and store.key}
    return {
        name: bytes.fromhex(start)
        for name, (start, seal) in sealed.items()
        if compare_digest(_seal(store, name, start), seal)
    }


def _finish(store: Store, root: str, todo: str) -> int:
    """Deletes the folders of runs whose rows are deleted, and the notes about them. Returns the size of the folders in bytes.

    Raises OSError, WorldFailed."""
    data = durable.read(todo)
    if data is None:
        return 0
    notes: dict[str, bytes] = {}
    try:
        said = json.loads(data)
        names = [name for name in said["runs"] if isinstance(name, str) and _NAME.fullmatch(name)]
        notes = _own_notes(store, said)
    except (ValueError, KeyError, TypeError, AttributeError):
        names = []
    size = 0
    for name in names:
        if store.run(name) is not None:
            continue  # its rows were not deleted
        if name in notes:
            counter.forget(notes[name])
        for path in _folders(root, name):
            size += _size(path)
            shutil.rmtree(path)
    with suppress(OSError):
        os.rmdir(os.path.join(root, "runs"))  # if it is empty
    os.unlink(todo)
    durable.sync_folder(os.path.dirname(todo))
    return size


def _smaller(store: Store, root: str) -> str:
    """Compacts the journal's file; returns the reason if it cannot."""
    import sqlite3

    if any(
        row.status == "running" and run_folders.is_driven(root, row.name) for row in store.runs()
    ):
        return "a run is being driven"
    try:
        store._db.execute("VACUUM")
        store._db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    except sqlite3.OperationalError as failed:
        return str(world_failed(failed, store.path))
    except sqlite3.Error as failed:
        raise world_failed(failed, store.path) from failed
    return ""


def _journal(store: Store) -> int:
    if isinstance(store, PgStore):
        return 0
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
