"""One process at a time makes the tables of a database, and waiting processes do not block it.

`CREATE INDEX CONCURRENTLY`, which DBOS uses, waits for every transaction of the database that is older than itself, and a
statement that waits for a lock is such a transaction. So no process waits inside a statement here: it tries the lock again
and again, and its connection holds nothing between two tries.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from ..engine.ports import WorldFailed

if TYPE_CHECKING:
    import psycopg

LOCK = 0x66646333
"""The number of the advisory lock; fdc 0.1.0 waits for another number inside a statement."""
LONG = 5.0
"""Seconds after which `say` is called with the reason for waiting."""
MOST = 180.0
"""Seconds after which waiting ends with WorldFailed."""
_AGAIN = 0.1

_HOLDER = """SELECT l.pid, coalesce(a.application_name, ''), coalesce(host(a.client_addr), 'this machine')
  FROM pg_locks l LEFT JOIN pg_stat_activity a ON a.pid=l.pid
  WHERE l.locktype='advisory' AND l.classid=0 AND l.objid=%s AND l.granted
  AND l.database=(SELECT oid FROM pg_database WHERE datname=current_database())"""

Say = Callable[[str], None]


def alone(
    pg: psycopg.Connection, where: str, is_made: Callable[[], bool], make: Callable[[], None], say: Say | None = None,
    most: float = MOST,
) -> None:  # fmt: skip
    """Calls `make` unless `is_made`, while no other process does. `pg` commits each statement by itself.

    `say` is called once if it takes long, with the reason. Raises WorldFailed after `most` seconds of waiting for another
    process, and passes on what the two functions raise.
    """
    began, notified = time.monotonic(), say is None
    while not is_made():
        if _query_flag(pg, "SELECT pg_try_advisory_lock(%s)", LOCK):
            try:
                if not is_made():
                    slow = f"making the tables of {where} takes long: it may wait for other transactions of the database"
                    with _SlowNotice(say, slow):
                        make()
            finally:
                if not pg.closed:
                    pg.execute("SELECT pg_advisory_unlock(%s)", (LOCK,))
            return
        waited = time.monotonic() - began
        if waited > LONG and not notified and say is not None:
            notified = True
            say(f"another process{_holder(pg)} makes the tables of {where}; this one waits for it")
        if waited > most:
            reason = f"another process{_holder(pg)} has been making the tables for {waited:.0f} s"
            raise WorldFailed(f"{where}: {reason}; end that one, or try again")
        time.sleep(_AGAIN)


def _query_flag(pg: psycopg.Connection, query: str, value: int) -> bool:
    row = pg.execute(query, (value,)).fetchone()
    return row is not None and bool(row[0])


def _holder(pg: psycopg.Connection) -> str:
    row = pg.execute(_HOLDER, (LOCK,)).fetchone()
    return (
        ""
        if row is None
        else f" (the server's process {row[0]}, of {row[1] or 'an unnamed program'} on {row[2]})"
    )


class _SlowNotice:
    """Calls `say` with a text if the code inside takes longer than LONG seconds."""

    def __init__(self, say: Say | None, text: str) -> None:
        self._timer = None if say is None else threading.Timer(LONG, say, (text,))

    def __enter__(self) -> None:
        if self._timer is not None:
            self._timer.daemon = True
            self._timer.start()

    def __exit__(self, *raised: object) -> None:
        if self._timer is not None:
            self._timer.cancel()
