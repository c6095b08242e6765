"""DBOS Transact as the dispatcher: queues, at-least-once delivery, and who has taken what.

DBOS only carries names of runs from a client to a worker: what a run does is
in fdc's journal, and deliveries are idempotent. A delivery is a DBOS workflow without steps. It
never ends with an exception, because DBOS would not deliver it again; if the infrastructure
fails, the worker ends instead.

The open part of DBOS does not notice that a worker died. `janitor.Janitor` does, in every worker: what a worker
without a lock session (`runs.workers.liveness`) has taken goes back into its queue; and a run that nobody
drives and that no queue knows of (the watchdog) is delivered anew.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from hashlib import blake2b
from hmac import compare_digest
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from ...engine.ports import WorldFailed
from ...journal.postgres import connect, shown
from ...journal.postgres_setup import alone
from ...journal.sqlite import ENGINE
from ...program.codec import canonical
from ..records.identity import UNNAMED, of_run

if TYPE_CHECKING:
    from dbos import DBOSClient, WorkflowStatus


RUNS = "fdc-runs"
PIECES = "fdc-pieces"
_WORK = "fdc.work"
_APPLICATION = "fdc"
_POLL = 0.1
_MADE = (
    "CREATE SCHEMA IF NOT EXISTS fdc; CREATE TABLE IF NOT EXISTS fdc.made(what TEXT PRIMARY KEY)"
)
"""Marks complete table creation: existing tables do not prove it, since their creator may have been killed."""
_STATEMENT_MS = 60_000
OPEN = ("ENQUEUED", "PENDING", "DELAYED")
_ENDED = ("SUCCESS", "ERROR", "CANCELLED", "MAX_RECOVERY_ATTEMPTS_EXCEEDED")
_MANY = 500


def queue_of(workspace: str, *, piece: bool = False) -> str:
    """The queue of a workspace's runs or parts of runs; runs without a workspace use the queue of fdc 0.1.0."""
    kind = PIECES if piece else RUNS
    return kind if workspace == UNNAMED else f"{kind}/{workspace}"


OFFERS = 40
"""How often a delivery is passed on by workers with another key before it is refused."""

Work = Callable[[str, dict[str, object], str], dict[str, object]]
"""Drives a run (name, the client's request, the delivery's id); returns the result, never raises."""


def sealed(
    run: str, asked: dict[str, object], delivery: str, key: bytes | None
) -> dict[str, object]:
    """A client's request (answers, budgets) with its seal, so that answers in the database cannot be forged."""
    return {**asked, "seal": _seal(run, asked, delivery, key)}


def is_sealed(run: str, asked: Mapping[str, object], delivery: str, key: bytes | None) -> bool:
    """Whether a holder of the key made the request. An empty request needs no seal."""
    plain = {name: value for name, value in asked.items() if name != "seal"}
    return not plain or compare_digest(
        str(asked.get("seal", "")), _seal(run, plain, first(delivery), key)
    )


def _seal(run: str, asked: dict[str, Any], delivery: str, key: bytes | None) -> str:
    return blake2b(
        canonical([run, delivery, asked]).encode(), digest_size=16, key=key or b""
    ).hexdigest()


def first(delivery: str) -> str:
    """The client's original delivery of one that workers passed on."""
    return delivery.partition("/")[0]


def _run_of(delivery: Any) -> str:
    return str(delivery.workflow_id).partition(":")[0]


def prepare(url: str, say: Callable[[str], None] | None = None) -> None:
    """Creates missing tables of DBOS, in one process at a time. Calls `say` if that takes long.

    Raises WorldFailed.
    """
    made = f"dbos {version('dbos')}"
    with connect(url) as pg:

        def is_made() -> bool:
            if pg.execute("SELECT to_regclass('fdc.made')").fetchone() == (None,):
                return False
            return (
                pg.execute("SELECT 1 FROM fdc.made WHERE what=%s", (made,)).fetchone() is not None
            )

        def make() -> None:
            _migrate(url)
            pg.execute(_MADE)
            pg.execute("INSERT INTO fdc.made VALUES(%s) ON CONFLICT DO NOTHING", (made,))

        sure(url, lambda: alone(pg, shown(url), is_made, make, say))


def _migrate(url: str) -> None:
    """Lets DBOS migrate its tables, also after an interrupted migration. Statements have a time limit."""
    _quiet()
    import sqlalchemy.exc
    from dbos import DBOS, error
    from sqlalchemy import make_url

    parts = make_url(url)
    given = parts.query.get("options", "")
    options = f"{given if isinstance(given, str) else ' '.join(given)} -c statement_timeout={_STATEMENT_MS}".strip()
    bounded = parts.update_query_dict({"options": options}).render_as_string(hide_password=False)
    for last in (False, True):
        try:
            return DBOS.migrate(bounded)
        except (sqlalchemy.exc.SQLAlchemyError, error.DBOSException) as failed:
            if (
                last
            ):  # the first attempt may have met a statement of a killed process that still runs
                why = " ".join(str(failed).split())[:300]
                raise WorldFailed(
                    f"{shown(url)}: the tables of the queues cannot be made: {why}"
                ) from failed


def sure(url: str, what: Callable[[], None]) -> None:
    """Calls a function with a connection. Raises WorldFailed if the server refuses or is unreachable."""
    import psycopg

    try:
        what()
    except psycopg.Error as failed:
        raise WorldFailed(f"{shown(url)}: {' '.join(str(failed).split())}") from failed


class Sender:
    """Puts runs into the queues, and reads their results. Raises WorldFailed."""

    def __init__(self, url: str, say: Callable[[str], None] | None = None) -> None:
        """`say` hears where it takes long until the tables are there."""
        prepare(url, say)
        _quiet()
        from dbos import DBOSClient

        self._url = url
        self._client: DBOSClient = self._try(
            lambda: DBOSClient(
                system_database_url=url, serializer=_json(), application_name=_APPLICATION,
                system_database_pool_size=2, retry_connection_errors=False,
            )
        )  # fmt: skip

    def close(self) -> None:
        """Closes the connection."""
        self._client.destroy()

    def send(
        self,
        run: str,
        asked: Mapping[str, object],
        *,
        piece: bool = False,
        delivery: str = "",
        engine: int = ENGINE,
    ) -> str:
        """Sends a run to a worker that serves its workspace and supports its `engine`; sending a `delivery` twice has
        no effect. Returns its id."""
        delivery = delivery or f"{run}:{uuid.uuid4().hex[:12]}"
        options: Any = {
            "workflow_name": _WORK, "queue_name": queue_of(self._workspace(run), piece=piece), "workflow_id": delivery,
            "app_version": str(engine),
        }  # fmt: skip
        self._try(lambda: self._client.enqueue(options, run, asked))
        return delivery

    def _workspace(self, run: str) -> str:
        """The workspace that a run says it belongs to."""
        with connect(self._url) as pg:
            found: list[Any] = []
            sure(
                self._url,
                lambda: found.extend(
                    pg.execute("SELECT inputs FROM fdc.run WHERE name=%s", (run,)).fetchall()
                ),
            )
        try:
            return of_run(json.loads(found[0][0])) if found else UNNAMED
        except ValueError:
            return UNNAMED

    def outcome(self, delivery: str) -> dict[str, object] | None:
        """The final result of a delivery from its last worker; None if there is none yet."""
        ids = [delivery, *(f"{delivery}/{at}" for at in range(1, OFFERS + 1))]
        found = {
            one.workflow_id: one
            for one in self._try(lambda: self._client.list_workflows(workflow_ids=ids))
        }
        one, at = found.get(delivery), 0
        while one is not None and isinstance(one.output, dict) and "offered" in one.output:
            at += 1
            one = found.get(f"{delivery}/{at}")
        if one is None or one.status in OPEN:
            return None
        return (
            one.output
            if isinstance(one.output, dict)
            else {"refused": f"the delivery ended as {one.status}: {one.error}"}
        )

    def offer_again(
        self,
        run: str,
        asked: dict[str, object],
        delivery: str,
        why: str,
        by: int,
        alive: set[int],
        *,
        piece: bool,
    ) -> dict[str, object]:
        """Puts a delivery that the worker numbered `by` cannot take, for its key, back for those that have not said so yet.

        Returns what to end this one with: where all that are `alive` have said so, or after OFFERS, a refusal for `why`.
        """
        known = [one for one in self.deliveries(run) if first(one.workflow_id) == first(delivery)]
        refused = {
            by,
            *(
                number
                for one in known
                if isinstance(one.output, dict)
                for number in one.output.get("by", ())
            ),
        }
        at = delivery.partition("/")[2]
        following = int(at) + 1 if at.isdecimal() else 1
        if alive <= refused or following > OFFERS:
            return {"refused": why, "by": sorted(refused | alive)}
        self.send(run, asked, piece=piece, delivery=f"{first(delivery)}/{following}")
        return {"offered": following, "by": sorted(refused)}

    def deliveries(self, run: str) -> list[WorkflowStatus]:
        """All deliveries of a run (DBOS's status of each)."""
        return list(
            self._try(
                lambda: self._client.list_workflows(workflow_id_prefix=f"{run}:", load_input=False)
            )
        )

    def pending(self) -> list[WorkflowStatus]:
        """All deliveries that a worker has taken."""
        return list(
            self._try(
                lambda: self._client.list_workflows(
                    status="PENDING", load_input=False, load_output=False
                )
            )
        )

    def open_runs(self) -> set[str]:
        """The runs that a worker has taken, or that wait in a queue."""
        return {_run_of(one) for one in self._listed(OPEN)}

    def forget(self, there: Callable[[], set[str]]) -> int:
        """Deletes ended deliveries whose run or part of a run is not `there` any more."""
        known = self._listed(_ENDED)
        runs = there()  # afterwards: a run is there before anything of it is delivered
        gone = [one.workflow_id for one in known if _run_of(one) not in runs]
        for at in range(0, len(gone), _MANY):
            portion = gone[at : at + _MANY]
            self._try(partial(self._client.delete_workflows, portion))
        return len(gone)

    def _listed(self, statuses: tuple[str, ...]) -> list[Any]:
        return list(
            self._try(
                lambda: self._client.list_workflows(
                    name=_WORK, status=list(statuses), load_input=False, load_output=False
                )
            )
        )

    def give_back(self, deliveries: list[str], queue: str) -> None:
        """Returns deliveries to their queue."""
        self._try(lambda: self._client.resume_workflows(deliveries, queue_name=queue))

    def _try(self, what: Callable[[], Any]) -> Any:
        import sqlalchemy.exc
        from dbos import error

        try:
            return what()
        except (sqlalchemy.exc.SQLAlchemyError, error.DBOSException) as failed:
            raise WorldFailed(
                f"{shown(self._url)}: {' '.join(str(failed).split())[:300]}"
            ) from failed


def serve(
    url: str, executor: str, work: Work, *, workspaces: Sequence[str], runs: int, pieces: int
) -> None:
    """Takes deliveries of some workspaces from now on, on threads: of each at most so many runs and so many pieces at once.

    Raises WorldFailed.

    Two queues, because a run waits for its pieces.
    """
    prepare(url)
    _quiet()
    import sqlalchemy.exc
    from dbos import DBOS

    DBOS(
        config={
            "name": _APPLICATION, "system_database_url": url, "executor_id": executor, "serializer": _json(),
            # Deliveries of this version of what records mean; by default it would be a hash of our source.
            "application_version": str(ENGINE), "sys_db_pool_size": 6, "log_level": "CRITICAL",
            "use_listen_notify": True, "enable_otlp": False, "run_migrations": False,
        }
    )  # fmt: skip

    @DBOS.workflow(name=_WORK)
    def deliver(run: str, asked: dict[str, Any]) -> dict[str, Any]:
        return work(run, asked, DBOS.workflow_id or "")

    queues = {
        queue_of(one, piece=piece): pieces if piece else runs
        for one in workspaces
        for piece in (False, True)
    }
    DBOS.listen_queues(list(queues))
    try:
        DBOS.launch()
        for queue, most in queues.items():
            DBOS.register_queue(queue, worker_concurrency=most, polling_interval_sec=_POLL)
    except sqlalchemy.exc.SQLAlchemyError as failed:
        raise WorldFailed(f"{shown(url)}: {' '.join(str(failed).split())[:300]}") from failed


def _json() -> Any:
    """DBOS stores pickles by default, with which write access to the database would run code in every worker."""
    from dbos import Serializer

    class Json(Serializer):
        def serialize(self, data: Any) -> str:
            return json.dumps(data, default=repr)

        def deserialize(cls, serialized_data: str) -> Any:
            return json.loads(serialized_data)

        def name(self) -> str:
            return "fdc_json"

    return Json()


def _quiet() -> None:
    """DBOS logs to stderr by itself."""
    import logging

    logging.getLogger("dbos").setLevel(logging.CRITICAL)
