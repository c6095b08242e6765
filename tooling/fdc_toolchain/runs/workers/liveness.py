"""Liveness of workers, by PostgreSQL advisory locks that last as long as a worker's session.

A worker holds one lock for itself and one for each run that it drives, all on one session, and asks
that session once a second whether it is still there. When it is not, the worker has lost its locks,
others may drive its runs by now, and it must stop (`lost` is called; the fence in the journal stops
what comes before that). The server ends a session that was silent for `patience` seconds: so a worker
that is frozen, or on a machine that is gone, loses its locks too. No clock of any machine is compared.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from hashlib import blake2b
from typing import Any

from ...engine.ports import WorldFailed
from ...journal.postgres import HERE, RUN_LOCKS, connect, shown
from ...named_tuples import NamedTuple

EXECUTOR_LOCKS = 0x666465
JANITOR_LOCK = 0x66646331
PATIENCE = 15.0
BEAT = 1.0

_ALIVE = f"SELECT objid::bigint FROM pg_locks WHERE locktype='advisory' AND classid={EXECUTOR_LOCKS} AND granted AND {HERE}"
_WORKERS = f"SELECT number, name, host, folder, serves, commit FROM fdc.worker WHERE number IN ({_ALIVE}) ORDER BY name"


class Worker(NamedTuple):
    """A worker that is connected: where it drives runs, and those of which workspaces. `commit`: its folder's, at its start."""

    number: int
    name: str
    host: str
    folder: str
    serves: tuple[str, ...]
    commit: str | None


class Session:
    """The lock session of one worker. Use from any thread."""

    def __init__(
        self, url: str, executor: str, lost: Callable[[str], None], patience: float = PATIENCE
    ) -> None:
        """Raises WorldFailed if the server is unreachable, or another worker has this name."""
        self.executor = executor
        self._lost = lost
        self._beat = min(BEAT, patience / 4)
        self._pg = connect(url)
        self._guard = threading.Lock()
        self._held: set[int] = set()
        self._over = threading.Event()
        if self._pg.info.server_version < 140000:
            self._pg.close()
            raise WorldFailed(
                f"{shown(url)}: workers need PostgreSQL 14 or newer, which ends sessions that are silent"
            )
        self._pg.execute(f"SET idle_session_timeout = {int(patience * 1000)}")
        if not self._try(EXECUTOR_LOCKS, number(executor)):
            self._pg.close()
            raise WorldFailed(
                f"a worker named {executor} is already connected to {shown(url)}; choose another name"
            )

    def start(self) -> None:
        """Starts checking the session."""
        threading.Thread(target=self._ask, name="fdc-liveness", daemon=True).start()

    def stop(self) -> None:
        """Releases all locks."""
        self._over.set()
        self._pg.close()

    def announce(self, host: str, folder: str, serves: tuple[str, ...], commit: str | None) -> None:
        """Records where this worker drives runs, and of which workspaces. Raises WorldFailed."""
        values = (number(self.executor), self.executor, host, folder, json.dumps(serves), commit)
        gone = f"DELETE FROM fdc.worker WHERE number=%s OR number NOT IN ({_ALIVE}) RETURNING 1"
        # Nothing is driven yet, so whatever is wrong ends the beginning of this worker, and is not told as a loss.
        self._query(gone, values[:1], begun=False)
        self._query(
            "INSERT INTO fdc.worker VALUES(%s, %s, %s, %s, %s, %s) RETURNING 1", values, begun=False
        )

    def serving(self, workspace: str) -> set[int]:
        """The numbers of the workers that are connected and serve a workspace."""
        return {
            one.number for one in map(_worker, self._query(_WORKERS, ())) if workspace in one.serves
        }

    def hold(self, run: int) -> bool:
        """Takes the lock of a run; False if a worker, including this one, drives it."""
        with self._guard:
            if run in self._held or not self._try(RUN_LOCKS, run):
                return False
            self._held.add(run)
            return True

    def release(self, run: int) -> None:
        """Releases the lock of a run."""
        with self._guard:
            self._held.discard(run)
            self._query("SELECT pg_advisory_unlock(%s::int, %s::int)", (RUN_LOCKS, run))

    def alive(self) -> set[int]:
        """The numbers of the workers that are connected."""
        return {int(row[0]) for row in self._query(_ALIVE, ())}

    def lead(self) -> bool:
        """Takes the janitor's lock; False if another worker has it."""
        return bool(self._query("SELECT pg_try_advisory_lock(%s)", (JANITOR_LOCK,))[0][0])

    def follow(self) -> None:
        """Releases the janitor's lock."""
        self._query("SELECT pg_advisory_unlock(%s)", (JANITOR_LOCK,))

    def _try(self, kind: int, which: int) -> bool:
        return bool(
            self._query("SELECT pg_try_advisory_lock(%s::int, %s::int)", (kind, which))[0][0]
        )

    def _query(
        self, query: str, values: tuple[Any, ...], *, begun: bool = True
    ) -> list[tuple[Any, ...]]:
        import psycopg

        try:
            return self._pg.execute(query, values).fetchall()
        except psycopg.Error as failed:
            why = " ".join(str(failed).split())
            if not begun:
                raise WorldFailed(
                    f"this worker cannot be registered in the database: {why}"
                ) from failed
            if not self._over.is_set():
                self._lost(why)
            raise WorldFailed(f"the database session with the locks ended: {failed}") from failed

    def _ask(self) -> None:
        try:
            while not self._over.wait(self._beat):
                self._query("SELECT 1", ())
        except WorldFailed:
            pass


def number(executor: str) -> int:
    """The second key of a worker's lock."""
    return (
        int.from_bytes(
            blake2b(executor.encode("utf-8", "surrogateescape"), digest_size=4).digest(), "big"
        )
        >> 1
    )


def workers(url: str) -> list[Worker]:
    """The workers that are connected. Raises WorldFailed."""
    with connect(url) as pg:
        return [_worker(found) for found in pg.execute(_WORKERS).fetchall()]


def _worker(found: tuple[Any, ...]) -> Worker:
    which, name, host, folder, serves, commit = found
    return Worker(which, name, host, folder, tuple(json.loads(serves)), commit)
