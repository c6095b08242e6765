"""Opens the journal of a workspace for reading or writing."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ...exits import Missing, UsageError, WorldError, reason

if TYPE_CHECKING:
    from ...journal.sqlite import RunRow, Store


@contextmanager
def reading(root: str) -> Iterator[Store | None]:
    """The journal of a workspace, read-only; None if there was never a run. Raises WorldError."""
    from ...journal import sqlite, user_key
    from ...journal.tables import Empty, Older
    from ...workspace import run_folders

    path = run_folders.journal_path(root)
    try:
        os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        yield None
        return
    except OSError as failed:
        raise WorldError(f"{path}: {reason(failed)}") from failed
    key = user_key.key(root, make=False)
    try:
        store = sqlite.Store(path, key, readonly=True, counted=True)
    except Older:
        sqlite.Store(path).close()
        store = sqlite.Store(path, key, readonly=True, counted=True)
    except Empty:
        yield None
        return
    try:
        yield store
    finally:
        store.close()


def the_run(store: Store | None, prefix: str) -> RunRow:
    """The run whose name begins with a prefix; `last` is the newest of this workspace that is not nested. A run within
    a step of another is meant only where no other run fits. Raises UsageError if there is none, or several."""
    if not prefix:  # a variable of a script that was not set, and every name begins so
        raise Missing("no run begins with an empty name; `fdc runs` lists them")
    if prefix == "last":
        found = [] if store is None else own(store)[-1:]
        if not found and store is not None and store.workspace is not None:
            raise Missing(
                "this workspace has no run in the database; name one that `fdc runs` lists"
            )
        if not found:
            raise Missing("this workspace has no run yet; `fdc run PLAN` begins one")
    else:
        found = [] if store is None else store.runs(prefix)
    exact = [row for row in found if row.name == prefix]
    found = exact or [row for row in found if "within" not in row.inputs] or found
    if len(found) == 1:
        return found[0]
    if not found:
        raise Missing(f"no run begins with `{prefix}`; `fdc runs` lists them")
    names = ", ".join(row.name for row in found[:6])
    raise UsageError(
        f"{len(found)} runs begin with `{prefix}`: {names}{' ...' if len(found) > 6 else ''}"
    )


def own(store: Store) -> list[RunRow]:
    """The runs of the command's workspace, without those within steps of other runs; the oldest first."""
    from .identity import of_run

    return [
        row
        for row in store.runs()
        if "within" not in row.inputs and store.workspace in (None, of_run(row.inputs))
    ]


def status_of(root: str, row: RunRow) -> str:
    """The status to show: a run without a living controller is interrupted, whatever it wrote last."""
    from ...workspace import run_folders

    if row.status == "running" and not run_folders.is_driven(root, row.name):
        return "interrupted"
    return row.status


def writing(root: str) -> Store:
    """The journal of a workspace, for writing. Raises WorldFailed."""
    from ...journal import sqlite, user_key
    from ...workspace import run_folders

    run_folders.folder(root)
    key = user_key.key(root, make=True)
    return sqlite.Store(run_folders.journal_path(root), key, counted=user_key.lasts())


def untrusted(name: str, signature: str) -> str:
    """The message that a run is not sealed by this user, and what to do."""
    who = "it has no seal" if signature == "none" else "its seal is by another key"
    return (
        f"the run {name} was not started by you on this machine ({who}); its plan may do harm: "
        f"check it with `fdc show {name}`, and continue it with --trust"
    )


def known(row: RunRow) -> None:
    """Raises WorldError for a run whose record format this fdc cannot read."""
    from ...journal.sqlite import ENGINE

    if row.engine != ENGINE:
        what = f"an fdc whose records this one cannot read (engine {row.engine}, this is {ENGINE})"
        raise WorldError(f"the run {row.name} was made by {what}")
