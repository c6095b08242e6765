"""`fdc runs prune` on a database: removes the runs of this workspace, with their queue entries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import closing
from typing import TYPE_CHECKING

from ..records import prune as removing
from ..records.identity import identity, of_run

if TYPE_CHECKING:
    from ...journal.postgres import PgStore
    from ...journal.sqlite import RunRow
    from .dispatch import Sender


def prune(
    database: str, root: str, before: float, tasks: Iterable[Mapping[str, object]], *, dry_run: bool
) -> tuple[removing.Removed, list[str]]:
    """Removes them, or lists them; also returns the other folders with files of these runs. Raises WorldError."""
    from . import dispatch, remote

    with (
        closing(remote.store_of(database, root)) as store,
        closing(dispatch.Sender(database, remote.say)) as sender,
    ):
        stays = _staying(root, sender)
        chosen = removing.choose(store, root, before, tasks, stays)
        elsewhere = _elsewhere(root, store, chosen.rows)
        if dry_run:
            size = removing.size_of(store, root, chosen.rows)
            return removing.Removed(*chosen, size, ""), elsewhere
        removed = removing.prune(store, root, before, tasks, stays)
        sender.forget(lambda: {name for (name,) in store._select("SELECT name FROM run")})
        return removed, elsewhere


def _staying(root: str, sender: Sender) -> removing.Stays:
    own, asked = identity(root).id, sender.open_runs()

    def stays(rows: list[RunRow]) -> dict[str, str]:
        said = dict.fromkeys(asked, "a request to it waits for a worker")
        return said | {row.name: "" for row in rows if of_run(row.inputs) != own}

    return stays


def _elsewhere(root: str, store: PgStore, rows: list[RunRow]) -> list[str]:
    """The other folders in which runs were driven: their files are not removed from here."""
    own = identity(root).id
    bodies = [record.body for row in rows for record in store.records(row, "session")]
    return sorted(
        {
            f"{body.get('folder')} on {body.get('host')}"
            for body in bodies
            if body.get("folder") not in (own, None)
        }
    )
