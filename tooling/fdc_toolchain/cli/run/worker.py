"""`fdc worker`: drives the runs that `fdc run --database` puts into a PostgreSQL database."""

from __future__ import annotations

import os
import threading
from functools import partial
from typing import TYPE_CHECKING

import click

from ...console.options import workspace_option
from ...console.run_options import database_option, root_of, tell_weakness
from ...exits import CLEAN, WORLD, Refused, UsageError, WorldError
from ...runs.workers.signals import Asked, Requests

if TYPE_CHECKING:
    from ...runs.workers.worker_config import Place

_LEAVING = 4.0
"""Seconds beyond what effects under way get, in which a worker that was asked to end has ended."""


@click.command(
    epilog="Exit codes: 0 asked to end, 2 wrong usage, 3 the database is not there, or was lost.",
    context_settings={"help_option_names": ["-h", "--help"]},
)
@database_option
@click.option(
    "--name",
    metavar="NAME",
    help="The worker's name, unique among running workers. [default: a new name]",
)
@click.option(
    "--runs",
    "most",
    type=click.IntRange(1, 64),
    default=4,
    show_default=True,
    help="Maximum number of runs at the same time.",
)
@click.option(
    "--pieces",
    type=click.IntRange(1, 64),
    default=2,
    show_default=True,
    help="Maximum number of pieces of large forks at the same time.",
)
@click.option(
    "--jobs",
    type=click.IntRange(1, 256),
    default=8,
    show_default=True,
    help="Maximum number of branches of a run at the same time.",
)
@click.option("--patience", type=click.FloatRange(1, 3600), default=15.0, show_default=True, metavar="SECONDS",
              help="How long this worker may be silent before others take its runs.")  # fmt: skip
@click.option(
    "--trust",
    is_flag=True,
    help="Drive every run of the database, whatever key sealed it.",
)
@click.option("--serve", "serves", multiple=True, metavar="ID",
              help="Say that this folder stands for the workspace ID (`fdc doctor --database` shows them), too; `unnamed`: for "
              "runs of an older fdc, without a workspace.")  # fmt: skip
@click.option(
    "--any-commit",
    is_flag=True,
    help="Drive runs that started with another commit than is checked out here.",
)
@click.option(
    "--shell-timeout",
    type=click.FloatRange(0.1),
    metavar="SECONDS",
    help="Time limit of a command.",
)
@click.option(
    "--allow-unsandboxed", is_flag=True, help="Run commands even if no sandbox is available."
)
@click.option(
    "--allow-weak-sandbox",
    is_flag=True,
    help="Run commands in a weaker sandbox; fdc prints what it lacks.",
)
@click.option(
    "--allow-network", is_flag=True, help="Let commands reach the network where the plan allows it."
)
@click.option(
    "--model",
    metavar="NAME",
    help="The model that answers prompts (else FDC_MODEL; none: what is embedded).",
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
    """Take runs from a database and drive them in this workspace, until it is asked to end (Ctrl-C, SIGTERM).

    Start as many as you like, on as many machines. When one dies, freezes or loses the database, the others go on
    with its runs. A worker takes the runs that were begun in its workspace, and with --serve those of others that its
    folder stands for; workers need one key (docs/workers.md).
    """
    from ...engine.drive import GRACE
    from ...engine.ports import WorldFailed
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
        tell_weakness(operator)
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
        )
        fleet.driver = Driver(partial(within.journal, fleet), partial(within.drive, fleet))
        dispatch.serve(
            url, name, partial(work, fleet), workspaces=place.serves, runs=most, pieces=pieces
        )
        janitor = Janitor(session, store, sender, say)
        janitor.start(fatal)
        requests.serving()
    except WorldFailed as failed:
        raise WorldError(str(failed)) from failed
    except Asked:
        say(f"worker {name} ends; it had taken no run yet")
        os._exit(CLEAN)  # a thread of DBOS may be there already, and would be waited for
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
    say(f"worker {name} ends; what it drove goes to the others")
    session.stop()
    # DBOS would wait for its threads, and mark what they hold as done.
    os._exit(CLEAN)


def place_of(root: str, serves: tuple[str, ...], any_commit: bool) -> Place:
    """Which workspaces this folder stands for: its own, and those of --serve. Raises UsageError, Refused, WorldFailed."""
    from ...runs.records import identity
    from ...runs.workers.worker_config import Place

    for one in serves:
        if not identity.is_id(one):
            raise UsageError(
                f"`--serve {one}`: that is not a workspace; `fdc doctor --database URL` shows the ids"
            )
    own = identity.identity(root)
    if own.copied is not None and own.id not in serves:
        raise Refused(
            f"{identity.copied(own, root)}, or say `--serve {own.id}`: this folder stands for it, too"
        )
    folder = own.id if own.copied is None else f"{own.id}@{os.path.realpath(root)}"
    return Place(tuple(dict.fromkeys((own.id, *serves))), folder, any_commit)


def say(text: str) -> None:
    """A line about the worker itself."""
    from ...report.terminal.terminal_text import visible

    click.echo(visible(text), err=True)


def fatal(why: str) -> None:
    """Ends the process at once: others may hold its runs by now, and nothing that it does could be put on record."""
    try:
        os.write(
            2,
            f"fdc: the database is lost, and this worker with it: {' '.join(why.split())}\n".encode(),
        )
    finally:
        os._exit(WORLD)
