"""`fdc worker`: drives the runs that `fdc run --database` puts into a PostgreSQL database."""

from __future__ import annotations

import os
import threading
from functools import partial
from typing import TYPE_CHECKING

import click

from ...console.options import (
    count_option,
    flag_option,
    number_option,
    root_of,
    text_option,
    workspace_option,
)
from ...console.run_options import database_option, tell_weakness
from ...exits import CLEAN, WORLD, Refused, UsageError
from ...runs.workers.signals import Asked, Requests
from ...upgraded import START_AGAIN

if TYPE_CHECKING:
    from ...runs.workers.worker_config import Place

_LEAVING = 4.0
"""Seconds, beyond the time for running effects, after which a worker that was asked to end has ended."""


@click.command(
    epilog="Exit codes: 0 asked to end, 2 wrong usage, 3 the database cannot be reached, or fdc was upgraded meanwhile."
)
@database_option
@text_option(
    "--name", "NAME", "The worker's name, unique among running workers. [default: a new name]"
)
@count_option("--runs most", 1, 64, "Maximum number of runs at the same time.", default=4)
@count_option(
    "--pieces", 1, 64, "Maximum number of parts of large forks at the same time.", default=2
)
@count_option("--jobs", 1, 256, "Maximum number of branches of a run at the same time.", default=8)
@number_option(
    "--patience",
    1,
    3600,
    "How long this worker may be silent before others take its runs.",
    default=15.0,
)
@flag_option("--trust", "Drive every run of the database, whatever key sealed it.")
@text_option(
    "--serve serves",
    "ID",
    "Also drive runs of the workspace ID in this folder (`fdc doctor --database` lists the ids); `unnamed`: for "
    "runs of an older fdc, without a workspace.",
    many=True,
)
@flag_option(
    "--any-commit", "Drive runs that started with another commit than is checked out here."
)
@number_option("--shell-timeout", 0.1, None, "Time limit of each command.")
@flag_option("--allow-unsandboxed", "Run commands even if no sandbox is available.")
@flag_option("--allow-weak-sandbox", "Run commands in a weaker sandbox; fdc prints what it lacks.")
@flag_option("--allow-network", "Let commands reach the network where the plan allows it.")
@text_option(
    "--model", "NAME", "The model that answers prompts (else FDC_MODEL; none: embedded functions)."
)
@workspace_option
def command(
    database: str | None,
    name: str | None,
    most: int,
    pieces: int,
    jobs: int,
    patience: float,
    trust: bool,
    serves: tuple[str, ...],
    any_commit: bool,
    shell_timeout: float | None,
    allow_unsandboxed: bool,
    allow_weak_sandbox: bool,
    allow_network: bool,
    model: str | None,
    workspace: str | None,
) -> int:
    """Take runs from a database and drive them in this workspace, until Ctrl-C or SIGTERM.

    You can start any number of workers on any number of machines. When one fails, freezes or loses the database,
    the others continue its runs. A worker takes the runs of its workspace, and those of the workspaces in --serve.
    All workers need the same key (docs/workers.md).
    """
    from ...engine.drive import GRACE
    from ...journal import user_key as keys
    from ...journal.postgres import PgStore, shown
    from ...runs.nested_run import Driver
    from ...runs.records import identity
    from ...runs.workers import dispatch, within
    from ...runs.workers.janitor import Janitor
    from ...runs.workers.liveness import Session
    from ...runs.workers.remote import needed
    from ...runs.workers.worker_config import Fleet
    from ...runs.workers.worker_loop import work
    from ...workspace.operator import Operator

    url = needed(database)
    root = root_of(workspace)
    name = name or f"{os.uname().nodename}-{os.getpid()}-{os.urandom(3).hex()}"
    requests = Requests(GRACE + _LEAVING)
    try:
        key = keys.key(root, make=True)
        place = place_of(root, serves, any_commit)
        dispatch.prepare(url, say)
        store = PgStore(url, key)
        session = Session(url, name, fatal, patience)
        session.announce(
            os.uname().nodename, os.path.realpath(root), place.serves, identity.commit(root)
        )
        session.start()
        sender = dispatch.Sender(url, say)
        operator = Operator.of_environment(
            allow_unsandboxed, allow_network, model, weak=allow_weak_sandbox
        )
        tell_weakness(operator, root)
        fleet = Fleet(
            url,
            root,
            key,
            session,
            sender,
            fatal,
            jobs,
            shell_timeout,
            operator,
            trust,
            pieces,
            place,
            requests.end,
        )
        fleet.driver = Driver(fleet.journal, partial(within.drive, fleet))
        dispatch.serve(
            url, name, partial(work, fleet), workspaces=place.serves, runs=most, pieces=pieces
        )
        janitor = Janitor(session, store, sender, say)
        janitor.start(fatal)
        requests.serving()
    except Asked:
        say(f"worker {name} ends; it had not taken a run")
        os._exit(CLEAN)  # a thread of DBOS may exist already and would block the exit
    say(
        f"worker {name} takes runs from {shown(url)} and drives them in {root}, for the workspace {' and '.join(place.serves)}"
    )
    requests.wait()
    fleet.leaving.set()
    janitor.stop()
    left = threading.Event()
    for _ in range(int((GRACE + 1) / 0.05)):
        if not fleet.under_way:
            break
        left.wait(0.05)
    ends = f"worker {name} ends; other workers take over its runs"
    say(f"{ends}: {START_AGAIN}" if requests.own else ends)
    session.stop()
    # DBOS would wait for its threads, and mark what they hold as done.
    os._exit(WORLD if requests.own else CLEAN)


def place_of(root: str, serves: tuple[str, ...], any_commit: bool) -> Place:
    """The workspaces whose runs this folder serves: its own, and those of --serve. Raises UsageError, Refused, WorldFailed."""
    from ...runs.records import identity
    from ...runs.workers.worker_config import Place

    for one in serves:
        if not identity.is_id(one):
            raise UsageError(
                f"`--serve {one}`: not the id of a workspace; list the ids with `fdc doctor --database URL`"
            )
    own = identity.identity(root)
    if own.copied is not None and own.id not in serves:
        raise Refused(
            f"{identity.copied(own, root)}, or add `--serve {own.id}` to serve that workspace too"
        )
    folder = own.id if own.copied is None else f"{own.id}@{os.path.realpath(root)}"
    return Place(tuple(dict.fromkeys((own.id, *serves))), folder, any_commit)


def say(text: str) -> None:
    """Prints a line about the worker."""
    from ...report.terminal.terminal_text import visible

    click.echo(visible(text), err=True)


def fatal(why: str) -> None:
    """Ends the process at once: other workers may hold its runs now, and it cannot record its steps."""
    try:
        os.write(
            2,
            f"fdc: the connection to the database is lost, so this worker ends: {' '.join(why.split())}\n".encode(),
        )
    finally:
        os._exit(WORLD)
