"""Runs in a database, from a client: beginning, following, reading."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

from ...exits import Refused, UsageError, WorldError
from ...narrow import narrow
from ..notices import notice
from ..observer import Observer

if TYPE_CHECKING:
    from ...journal.postgres import PgStore
    from ...journal.sqlite import RunRow, Store
    from ...program.model import Program
    from ..records.run_outcome import Ended

_POLL = 0.1
WAIT = 30.0
"""Seconds that a controller gets to stop a run that is cancelled."""


def needed(database: str | None) -> str:
    """The database's URL. Raises UsageError if it is missing."""
    if not database:
        raise UsageError(
            "the database is missing; use `--database postgresql://USER:PASSWORD@HOST/NAME`, or FDC_DATABASE"
        )
    return database


@contextmanager
def reading(database: str | None, root: str) -> Iterator[Store | None]:
    """The journal of a database, or without one that of a workspace (`wiring.reading`). Raises WorldError."""
    from .. import run_driver

    if not database:
        with run_driver.reading(root) as found:
            yield found
        return
    with closing(store_of(database, root)) as store:
        yield store


def writing(database: str | None, root: str) -> Store:
    """The same, for writing. Raises WorldFailed."""
    from .. import run_driver

    return store_of(database, root, make=True) if database else run_driver.writing(root)


def status_of(store: Store | None, root: str, row: RunRow) -> str:
    """The status to show: `interrupted` if no process drives the run any more."""
    from ...journal.postgres import PgStore
    from .. import run_driver

    if not isinstance(store, PgStore):
        return run_driver.status_of(root, row)
    return "interrupted" if row.status == "running" and not store.is_driven(row) else row.status


def of_workers(**given: object) -> None:
    """Raises UsageError for options of the driving process, which the operator of the worker sets."""
    for name, value in given.items():
        if value:
            option = f"--{name.replace('_', '-')}"
            raise UsageError(
                f"`{option}` cannot be used with `--database`: `fdc worker` drives the run, so give the option there"
            )


def stalled(store: Store, root: str, seconds: float) -> list[RunRow]:
    """The runs that have not ended and that no process drives; in a database, and pieces of runs too, for so many seconds."""
    from ...journal.postgres import PgStore
    from .. import run_driver

    if isinstance(store, PgStore):
        return store.stalled(seconds)
    rows = [
        row for row in store.runs() if run_driver.status_of(root, row) in ("new", "interrupted")
    ]
    # Of a run from the future nobody knows how long ago it began: the clock was set back.
    return [row for row in rows if not 0 <= time.time() - row.started < seconds]


def begin(
    database: str,
    root: str,
    program: Program,
    plan: str,
    given: Mapping[str, str],
    budget: Mapping[str, float],
) -> str:
    """Puts a new run of this workspace on record and into its queue; returns its name.

    Raises WorldError, UsageError (`money.settle`), Exit (`certified.certified`), and Refused in a copy of a
    workspace: its runs would be driven elsewhere.
    """
    from ...journal.sqlite import ENGINE
    from ...workspace import run_folders
    from ..certified import certified, put_new
    from ..cost import pricing
    from ..records import identity

    proved = certified(program, plan, root)
    name = run_folders.RunIds().run_id()
    inputs = {"given": dict(given), "builtin": {"run": f"runs/{name}"}, "budget": dict(budget)}
    rates = pricing.settle(root, program, budget, None)
    if rates is not None:
        inputs["model"] = rates
    own = identity.identity(root)
    if own.copied is not None:
        raise Refused(identity.copied(own, root))
    inputs["workspace"] = {"id": own.id, "commit": identity.commit(root)}
    with closing(store_of(database, root, make=True)) as store:
        name = put_new(store, proved, name, inputs)
    send(database, name, {}, f"{name}:first", ENGINE)
    return name


def send(database: str, run: str, asked: Mapping[str, object], delivery: str, engine: int) -> str:
    """Sends a run to a worker that supports its engine. Raises WorldFailed."""
    from .dispatch import Sender

    with closing(Sender(database, say)) as sender:
        return sender.send(run, asked, delivery=delivery, engine=engine)


def follow(
    database: str,
    root: str,
    name: str,
    delivery: str,
    show: Observer,
    *,
    epoch: int = 0,
    seq: int = 0,
) -> Ended:
    """Shows the records of a run as workers write them, from the record `seq` on, until it cannot continue.

    `epoch` is that of the run when the `delivery` was sent. Raises WorldError, and Refused where no worker would drive
    it. KeyboardInterrupt leaves the run to its workers.
    """
    from .dispatch import Sender
    from .follower import Follower

    try:
        store = store_of(database, root)
        row = store.run(name)
        if row is not None and (lacking := unserved(database, row)) is not None:
            say(lacking)
        sender = Sender(database, say)
        try:
            return Follower(store, sender, name, delivery, show, epoch, seq).run()
        finally:
            sender.close()
            store.close()
    finally:
        show.close()


def unserved(database: str, row: RunRow) -> str | None:
    """The message that no worker would take a run, and which one is needed; None if one would. Raises WorldFailed."""
    from ..records.identity import of_run
    from .liveness import workers

    there, workspace = workers(database), of_run(row.inputs)
    if any(workspace in one.serves for one in there):
        return None
    if not there:
        return "no worker is connected to the database; the run waits for `fdc worker`"
    return (
        f"no worker serves the workspace {workspace} of this run; it waits for `fdc worker` in that workspace, or for "
        f"`fdc worker --serve {workspace}` in a folder that stands for it"
    )


def go_on(
    database: str, root: str, row: RunRow, asked: dict[str, object], show: Observer, records: int
) -> Ended:
    """Continues a run that is not running, and follows it; only follows a running one. Raises as `follow`.

    What has ended is read: no worker has to say so.
    """
    from ...engine.events import Outcome
    from ..records.run_outcome import over

    assume = {address: {"value": known.value} if isinstance(known, Outcome) else known
              for address, known in narrow(asked["assume"], dict).items()}  # fmt: skip
    if row.status == "cancelled":
        raise Refused(f"the run {row.name} was cancelled, so workers do not continue it")
    if row.status in ("finished", "stopped") and not (asked["budget"] or asked["retry"]):
        with closing(store_of(database, root)) as store:
            return over(store, row, trusted=True)
    if asked["answers"] or assume or not (asked["budget"] or asked["retry"]):
        asked = {**asked, "seen": row.epoch}
    if row.status in ("new", "running") and _in_hand(database, row):
        if asked["answers"] or assume or asked["budget"] or asked["retry"]:
            raise Refused(
                f"the run {row.name} is running; it has no question and no failed step to retry yet"
            )
        return follow(database, root, row.name, "", show)
    delivery = _asked(database, root, row, {**asked, "assume": assume})
    return follow(database, root, row.name, delivery, show, epoch=row.epoch, seq=records)


def answer(
    database: str, root: str, row: RunRow, address: str, text: str, how: str, seconds: float = 5.0
) -> bool:
    """Has a worker go on with a waiting run with the answer to one of its questions; `how` is its origin.

    Returns whether one has taken it up; False where after some seconds none has yet, and at once where no worker would.
    Raises Refused where the run went on meanwhile, and WorldError.
    """
    from .dispatch import Sender

    asked = {"again": True, "answers": {address: text}, "seen": row.epoch, **given_by(how)}
    with closing(store_of(database, root)) as store, closing(Sender(database, say)) as sender:
        if _in_hand(database, row):
            say(
                f"an earlier request for {row.name} is in the queue; if it answers the question, this answer is not used"
            )
        delivery = _asked(database, root, row, asked)
        if (lacking := unserved(database, row)) is not None:
            say(lacking)
            return False
        deadline = time.monotonic() + seconds
        while True:
            if any(one.body.get("delivery") == delivery for one in store.records(row, "session")):
                return True
            said = sender.outcome(delivery)
            if said is not None and "refused" in said:
                raise Refused(said["refused"])
            if time.monotonic() > deadline:
                return False
            time.sleep(_POLL)


def given_by(how: str) -> dict[str, object]:
    """What the record shall say of the answers in a request: the user, their origin, and the time."""
    from ..records.questions import user

    return {"by": {"by": f"{user()}, {how}", "at": time.time()}}


def wake(database: str, root: str, row: RunRow) -> str:
    """Has a worker continue a run without waiting for it; returns the message to show. Raises Refused, WorldError."""

    if row.status == "cancelled":
        raise Refused(f"the run {row.name} was cancelled, so workers do not continue it")
    if row.status not in ("new", "running") or not _in_hand(database, row):
        _asked(database, root, row, {"again": True, "seen": row.epoch})
    lacking = unserved(database, row)
    return "A worker continues it." if lacking is None else lacking[0].upper() + lacking[1:]


def _asked(database: str, root: str, row: RunRow, asked: dict[str, object]) -> str:
    """Sends a client's sealed request to a run; returns the delivery. Raises WorldFailed."""
    from ...journal import user_key
    from . import dispatch

    delivery = f"{row.name}:{os.urandom(6).hex()}"
    sealed = dispatch.sealed(row.name, asked, delivery, user_key.key(root, make=False))
    return send(database, row.name, sealed, delivery, row.engine)


def cancel(database: str, root: str, prefix: str, seconds: float | None) -> str:
    """Has workers cancel a run, before its next step; returns its name. Raises Refused, UsageError and WorldError.

    `seconds`: how long a worker is waited for; None: 30, and where no worker would take the run, not at all.
    """
    from ..records.open_journal import the_run

    with closing(store_of(database, root)) as store:
        row = the_run(store, prefix)
        if row.status in ("finished", "stopped"):
            raise Refused(f"the run {row.name} has ended ({row.status}) and cannot be cancelled")
        store.ask_to_cancel(row)
        _asked(database, root, row, {"again": True})
        if (lacking := unserved(database, row)) is not None:
            kept = (
                f"the request to cancel {row.name} is stored, but {lacking}, which then cancels it"
            )
            if seconds is None:
                raise WorldError(kept)
            say(kept)
        deadline = time.monotonic() + (WAIT if seconds is None else seconds)
        while (now := store.run(row.name)) is not None and now.status != "cancelled":
            if now.status in ("finished", "stopped"):
                raise Refused(
                    f"the run {row.name} ended before it could be cancelled ({now.status})"
                )
            if time.monotonic() > deadline:
                raise WorldError(
                    f"a worker has not cancelled {row.name} yet; it will before the next step"
                )
            time.sleep(_POLL)
        return row.name


def _in_hand(database: str, row: RunRow) -> bool:
    """Whether a worker drives the run, or will: its last delivery has not ended."""
    from .dispatch import OPEN, Sender

    with closing(Sender(database, say)) as sender:
        return any(one.status in OPEN for one in sender.deliveries(row.name))


def say(text: str) -> None:
    """Prints a message about the database."""
    notice(f"fdc: {text}")


def shown(database: str) -> str:
    """A database's URL without the password."""
    from ...journal import postgres

    return postgres.shown(database)


def store_of(database: str, root: str, *, make: bool = False) -> PgStore:
    """The journal of a database; `make`: the user's key is made where there is none. Raises WorldFailed."""
    from ...journal import user_key
    from ...journal.postgres import PgStore
    from ..records import identity

    own = identity.known(root)
    store = PgStore(database, user_key.key(root, make=make), say)
    store.workspace = own or ""
    return store


def detached(name: str) -> str:
    """The message when the client stops following a run."""
    shown = "" if os.environ.get("FDC_DATABASE") else " --database URL"
    return f"the run {name} continues on its workers; `fdc resume {name}{shown}` shows its progress"
