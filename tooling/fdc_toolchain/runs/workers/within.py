"""Nested runs of runs that workers drive: in the same database, driven by the worker of the outer run, in its thread.

When that worker fails, the worker that continues the outer run continues the nested run too. If the watchdog has delivered it
separately in the meantime, the outer run's worker waits until it stops.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ...exits import Missing
from ..observer import Observer
from ..records.run_outcome import OVER, Ended, recorded

if TYPE_CHECKING:
    from ...engine.drive import Assumption
    from ...journal.postgres import PgStore
    from .worker_config import Fleet

_POLL = 0.2


def drive(
    fleet: Fleet, root: str, name: str, show: Observer, *, within: str, budget: Mapping[str, float],
    answers: Mapping[str, str], assume: Mapping[str, Assumption], **others: object,
) -> Ended:  # fmt: skip
    """Drives a run as far as it can go, like `drive_run`. Raises Missing, NotGranted, Refused, WorldFailed, Cancelled."""
    from ...engine.drive import STOPPED
    from ...engine.ports import Cancelled, Fenced
    from ...exits import NotGranted, Refused
    from .worker_drive import Leaving, Unfit

    asked: dict[str, Any] = {
        "again": True,
        "stopped": STOPPED in assume,
        "answers": dict(answers),
        "assume": {about: said for about, said in assume.items() if about != STOPPED},
        "budget": dict(budget),
    }
    delivery = f"{name}:{os.urandom(6).hex()}"
    store = fleet.journal()
    try:
        while True:
            row = store.run(name)
            if row is None:
                raise Missing(f"the run `{name}` does not exist in the database")
            if row.status in OVER and not budget:
                return recorded(store, row)
            if fleet.session.hold(row.id):
                try:
                    said = _held(fleet, store, name, asked, delivery, within)
                except Fenced:
                    continue
                finally:
                    fleet.session.release(row.id)
                if "refused" in said:
                    raise Refused(said["refused"])
                now = store.run(name)
                cancelled = now is not None and now.status == "cancelled"
                if cancelled and _is_cancelled(store, within):
                    raise Cancelled("the outer run was cancelled")
                if now is not None and now.status not in ("new", "running"):
                    return recorded(store, now)
            if fleet.leaving.wait(_POLL) or _is_cancelled(store, within):
                raise Cancelled("the worker leaves, or the outer run was cancelled")
    except Leaving as left:
        raise Cancelled("the worker leaves") from left
    except Unfit as unfit:
        raise NotGranted(f"the nested run {name} cannot continue", [str(unfit)]) from unfit
    finally:
        store.close()
        show.close()


def _held(
    fleet: Fleet, store: PgStore, name: str, asked: dict[str, Any], delivery: str, within: str
) -> dict[str, Any]:
    """Drives a run that no other process drives, after the runs that block it."""
    from ...program.write_set import write_set
    from ..records.claims import Claim
    from .worker_drive import Drive
    from .worker_loop import waited

    row = store.run(name)
    if row is None:
        return {"gone": name}
    drive_ = Drive(fleet, store, row, asked, delivery, store.run(within))
    claim = Claim(
        fleet.root, name, write_set(drive_.program, row.inputs), within=within, alone=True
    )
    try:
        waited(fleet, claim, drive_, wait=True)
        return drive_.whole()
    finally:
        claim.release()


def _is_cancelled(store: PgStore, run: str) -> bool:
    row = store.run(run)
    return row is not None and store.cancel_asked(row)
