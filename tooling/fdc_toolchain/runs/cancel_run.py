"""Cancels runs."""

from __future__ import annotations

import time
from contextlib import suppress

from ..exits import Busy, Missing, Refused, WorldError


def cancel(root: str, run: str, seconds: float) -> str:
    """Cancels a run and its nested runs, and waits for their drivers up to the time limit; returns its full name.

    Raises UsageError where the run does not exist, Refused where it is over, Busy where it is still driven by then, WorldError.
    """
    from ..workspace import run_folders
    from .records.open_journal import reading, the_run
    from .records.run_outcome import OVER

    with reading(root) as store:
        row = the_run(store, run)
    if row.status in ("finished", "stopped"):
        raise Refused(f"the run {row.name} has ended ({row.status}) and cannot be cancelled")
    lock = run_folders.Lock(run_folders.run_folder(root, row.name))
    run_folders.ask_to_cancel(root, row.name, time.time())
    deadline = time.monotonic() + seconds
    try:
        while (holder := lock.take()) is not None:
            if time.monotonic() > deadline:
                raise Busy(
                    f"{holder} drives {row.name} and has not stopped yet; it stops before its next step"
                )
            time.sleep(0.05)
        status = _close(root, row.name)
    except Busy:
        raise
    except Exception:  # else a later command finds the request, and carries it out
        run_folders.forget_cancel(root, row.name)
        raise
    finally:
        lock.release()
    if status != "cancelled":
        raise Refused(f"the run {row.name} ended before it could be cancelled ({status})")
    with reading(root) as store:
        rows = [] if store is None else store.runs()
    for inner in rows:
        if inner.inputs.get("within") == row.name and inner.status not in OVER:
            with suppress(Refused):  # it ended in the meantime
                cancel(root, inner.name, seconds)
    return row.name


def _close(root: str, name: str) -> str:
    """Cancels a run that is not being driven; returns its new status."""
    from ..engine.events import Mismatch
    from ..journal.sqlite import Untrusted
    from ..program.codec import ProgramError
    from .records.open_journal import untrusted, writing
    from .records.run_outcome import cancel_asked

    store = writing(root)
    try:
        row = store.run(name)
        if row is None:
            raise Missing(f"no run `{name}` exists in this workspace")
        try:
            return cancel_asked(root, store, row)
        except Untrusted as whose:
            raise Refused(untrusted(name, str(whose))) from whose
    except (ProgramError, Mismatch) as wrong:
        raise WorldError(f"the run {name} cannot be read: {wrong}") from wrong
    finally:
        store.close()
