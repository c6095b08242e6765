"""Processes a delivery: takes the run, waits for blocking runs, and drives it."""

from __future__ import annotations

import time
from contextlib import closing
from typing import TYPE_CHECKING, Any

from ...exits import Exit
from ...report.terminal.terminal_text import visible
from ..notices import notice
from .worker_drive import CANCEL, Drive, Leaving, Unfit

if TYPE_CHECKING:
    from ...journal.postgres import PgStore
    from ...journal.sqlite import RunRow
    from ..records.claims import Claim
    from .worker_config import Fleet

_ASIDE = 0.2
"""Seconds that a worker without the key waits, so that another worker takes the run next."""


def work(fleet: Fleet, run: str, asked: dict[str, object], delivery: str) -> dict[str, object]:
    """Drives a run or a piece of one (`runs.workers.dispatch.Work`).

    A worker under which fdc was upgraded leaves the delivery to another one: what it would say of the run, a mixture of two
    versions would say.
    """
    if fleet.leaving.is_set():
        return _stay()
    if not fleet.installed.is_replaced():
        done = _driven(fleet, run, asked, delivery)
        if "refused" not in done or not fleet.installed.is_replaced():
            return done
    fleet.end()
    return _stay()


def _driven(fleet: Fleet, run: str, asked: dict[str, object], delivery: str) -> dict[str, object]:
    from ...engine.events import Mismatch
    from ...engine.ports import Fenced, WorldFailed
    from ...journal.sqlite import Damaged, Untrusted
    from ...program.codec import ProgramError
    from .dispatch import first, is_sealed

    store = None
    fleet.under_way.add(delivery)
    try:
        if not (fleet.trust or is_sealed(run, asked, delivery, fleet.key)):
            why = (
                f"the request to the run {run} is not sealed by the key of {fleet.session.executor}"
            )
            return _offer_again(fleet, run, asked, delivery, why)
        store = fleet.journal()
        return _work(fleet, store, run, asked, first(delivery))
    except Leaving:
        fleet.under_way.discard(delivery)
        return _stay()
    except Fenced as fenced:
        return {"fenced": str(fenced)}
    except Unfit as unfit:
        return _offer_again(fleet, run, asked, delivery, str(unfit))
    except Untrusted:
        why = f"the run {run} is not sealed by the key of the worker {fleet.session.executor}"
        return _offer_again(fleet, run, asked, delivery, why)
    except (Damaged, Mismatch, ProgramError) as refused:
        return {"refused": str(refused)}
    except WorldFailed as failed:
        if store is not None and _is_gone(store, run):
            return {"gone": run}
        fleet.fatal(str(failed))
        return {"refused": str(failed)}
    except Exit as refused:
        return {"refused": str(refused)}
    except Exception as bug:
        import traceback

        if not fleet.installed.is_replaced():
            notice(traceback.format_exc().rstrip("\n"))
        return {"refused": f"a bug of fdc: {type(bug).__name__}: {bug}"}
    finally:
        fleet.under_way.discard(delivery)
        if store is not None:
            store.close()


def _offer_again(
    fleet: Fleet, run: str, asked: dict[str, Any], delivery: str, why: str
) -> dict[str, Any]:
    """Passes a delivery whose key this worker lacks to another worker. Returns the delivery's result."""
    from ...engine.ports import WorldFailed
    from .liveness import number

    fleet.leaving.wait(_ASIDE)
    try:
        return fleet.sender.offer_again(
            run,
            asked,
            delivery,
            why,
            number(fleet.session.executor),
            _others(fleet, run),
            piece="~" in run,
        )
    except WorldFailed as failed:
        fleet.fatal(str(failed))
        return {"refused": str(failed)}


def _others(fleet: Fleet, run: str) -> set[int]:
    """The workers that may have what this one has not: those that serve the run's workspace, too."""
    from ..records.identity import of_run

    with closing(fleet.journal()) as store:
        row = store.run(run)
    return set() if row is None else fleet.session.serving(of_run(row.inputs))


def _unfit(fleet: Fleet, store: PgStore, row: RunRow) -> str | None:
    """Why this worker's folder is not the one for a run; None where it is.

    A run that was driven in this folder goes on in it: what changed since is the run's own work, or its user's.
    """
    from ..records.identity import commit, commit_of, of_run

    who, workspace, began = fleet.session.executor, of_run(row.inputs), commit_of(row.inputs)
    if workspace not in fleet.place.serves:
        return f"the run {row.name} belongs to the workspace {workspace}, which the worker {who} does not serve"
    if began is None or fleet.place.any_commit:
        return None
    sessions = store.records(row, "session")
    if sessions and sessions[-1].body.get("folder") == fleet.place.folder:
        return None
    here = commit(fleet.root)
    if here == began:
        return None
    now = f"{here[:12]} is" if here else "no commit is"
    return (
        f"the run {row.name} began with the commit {began[:12]}, and {now} checked out where the worker {who} is; "
        "check that commit out there, or start the worker with --any-commit"
    )


def _is_gone(store: PgStore, run: str) -> bool:
    """Whether the run was pruned in the meantime."""
    from ...engine.ports import WorldFailed

    try:
        return store.run(run) is None
    except WorldFailed:
        return False


def _stay() -> dict[str, Any]:
    """The worker is ending: keeps this delivery open, so that another worker gets it."""
    while True:
        time.sleep(60)


def _work(
    fleet: Fleet, store: PgStore, run: str, asked: dict[str, Any], delivery: str
) -> dict[str, Any]:
    from ...program.write_set import write_set
    from ..records.claims import Claim
    from ..records.open_journal import known

    row = store.run(run)
    if row is None:
        return {"gone": run}
    known(row)
    if not fleet.session.hold(row.id):
        return {"driven": "by another worker"}
    try:
        row = store.run(run)  # read it again, now that no other process can change it
        if row is None:
            return {"gone": run}
        why = _unfit(fleet, store, row)
        if why is not None:
            raise Unfit(why)
        drive = Drive(fleet, store, row, asked, delivery)
        is_piece = row.origin is not None and "branches" in row.origin
        within = (
            row.origin["run"] if row.origin is not None and is_piece else row.inputs.get("within")
        )
        claim = Claim(
            fleet.root, run, write_set(drive.program, row.inputs), within=within, alone=True
        )
        try:
            other = waited(fleet, claim, drive, wait=not is_piece)
            if other is not None:
                return {"busy": other}
            return drive.piece() if is_piece else drive.whole()
        finally:
            claim.release()
    finally:
        fleet.session.release(row.id if row is not None else 0)


def waited(fleet: Fleet, claim: Claim, drive: Drive, *, wait: bool) -> str | None:
    """Takes a run's claim, after runs that may write the same paths here; None where it has it, or does not go on.

    A piece does not wait, because its run holds a claim: what is in the way is returned, and the run does the piece itself.
    """
    told = ""
    while drive.wants_claim() and (other := claim.take()) is not None:
        if not wait:
            return other.said()
        if told != other.run:
            if not told and not drive.is_takeable():
                return None  # refused where it is taken over, and no process needs to wait for that
            told = other.run
            notice(visible(f"the run {drive.row.name} waits: {other.said()}"))
        if fleet.leaving.wait(CANCEL):
            raise Leaving
    return None
