"""One process at a time makes the tables of a database, and no one who waits for it stands in its way.

`CREATE INDEX CONCURRENTLY`, which DBOS uses, waits for every transaction of the database that is older than itself, and a
statement that waits for a lock is such a transaction. So no one waits inside of a statement here: the lock is tried, and
tried again, and between two tries a connection holds nothing.
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
"""Not the number that fdc 0.1.0 waits for inside of a statement."""
LONG = 5.0
"""Seconds after which somebody who waits is told why."""
MOST = 180.0
"""Seconds after which no one waits any more."""
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

    `say` hears once that it takes long, and why. Raises WorldFailed after `most` seconds of waiting for another process,
    and passes on what the two functions raise.
    """
    began, told = time.monotonic(), say is None
    while not is_made():
        if _once(pg, "SELECT pg_try_advisory_lock(%s)", LOCK):
            try:
                if not is_made():
                    slow = f"making the tables of {where} takes long: it may wait for other transactions of the database"
                    with _told(say, slow):
                        make()
            finally:
                if not pg.closed:
                    pg.execute("SELECT pg_advisory_unlock(%s)", (LOCK,))
            return
        waited = time.monotonic() - began
        if waited > LONG and not told and say is not None:
            told = True
            say(f"another process{_holder(pg)} makes the tables of {where}; this one waits for it")
        if waited > most:
            why = f"another process{_holder(pg)} has been making the tables for {waited:.0f} s"
            raise WorldFailed(f"{where}: {why}; end that one, or try again")
        time.sleep(_AGAIN)


def _once(pg: psycopg.Connection, query: str, value: int) -> bool:
    found = pg.execute(query, (value,)).fetchone()
    return found is not None and bool(found[0])


def _holder(pg: psycopg.Connection) -> str:
    found = pg.execute(_HOLDER, (LOCK,)).fetchone()
    return (
        ""
        if found is None
        else f" (the server's process {found[0]}, of {found[1] or 'an unnamed program'} on {found[2]})"
    )


class _told:
    """Has `say` hear a sentence where what is inside takes longer than LONG."""

    def __init__(self, say: Say | None, text: str) -> None:
        self._timer = None if say is None else threading.Timer(LONG, say, (text,))

    def __enter__(self) -> None:
        if self._timer is not None:
            self._timer.daemon = True
            self._timer.start()

    def __exit__(self, *raised: object) -> None:
        if self._timer is not None:
            self._timer.cancel()
