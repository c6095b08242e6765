"""Workers and clients that all start at once on an empty database, which none of them has prepared (issue 4, "Many machines")."""

from __future__ import annotations

import signal
import time
from pathlib import Path

import psycopg
import pytest
from fdc_toolchain.journal.postgres_setup import LOCK

from tests.support import fleet, profiles
from tests.support.background import PATIENCE, fdc_started, wait_for
from tests.support.database import Workers, database, ended, needs_database, rows
from tests.support.process import fdc

pytestmark = [needs_database, pytest.mark.slow]
WORKERS, CLIENTS = 3, 2


@pytest.mark.long
@pytest.mark.parametrize(
    "turn", [1, *(pytest.param(turn, marks=pytest.mark.soak) for turn in range(2, 23))]
)
def test_any_number_of_workers_and_clients_start_at_once_on_an_empty_database(
    workspace: Path, turn: int
) -> None:
    """They all come up, every run is driven once to its end, and whoever is asked to end then does.

    Workers first or clients first: by turns in the soak, and from commit to commit.
    """
    workers_first = (turn + profiles.seed()) % 2
    fleet.laid_out(workspace)
    with database(empty=True) as url, Workers(url, workspace) as workers:
        if workers_first:
            workers.start(WORKERS)
        clients = [
            fdc_started("run", "--database", url, "-q", "big.plan", "count=3", cwd=workspace)
            for _ in range(CLIENTS)
        ]
        processes = [client.__enter__() for client in clients]
        if not workers_first:
            workers.start(WORKERS)
        try:
            for process in processes:
                said = process.communicate(timeout=PATIENCE)
                assert 0 == process.returncode, (said, workers.log())
        finally:
            for client in clients:
                client.__exit__(None, None, None)
        wait_for(lambda: all(workers.connected(name) for name in workers.living))
        assert [("finished",)] * CLIENTS == rows(
            url, "SELECT status FROM fdc.run WHERE parent IS NULL"
        )
        assert [] == rows(url, "SELECT 1 FROM pg_index WHERE NOT indisvalid")
        assert [0] * WORKERS == [
            ended(workers.send(name, signal.SIGTERM)) for name in list(workers.living)
        ], workers.log()


@pytest.mark.long
@pytest.mark.parametrize("asked", [signal.SIGTERM, signal.SIGINT])
def test_who_waits_for_another_that_prepares_says_so_and_ends_when_asked(
    workspace: Path, asked: signal.Signals
) -> None:
    """Somebody holds the preparation for ever: workers and clients wait, say for whom, and hear requests to end."""
    fleet.laid_out(workspace)
    with (
        database(empty=True) as url,
        psycopg.connect(url, autocommit=True, application_name="a slow one") as other,
    ):
        other.execute("SELECT pg_advisory_lock(%s)", (LOCK,))
        with (
            fdc_started("worker", "--database", url, cwd=workspace) as worker,
            fdc_started("run", "--database", url, "big.plan", "count=1", cwd=workspace) as client,
        ):
            assert worker.stderr is not None and client.stderr is not None
            for process in (worker, client):
                line = process.stderr.readline() if process.stderr is not None else ""
                assert (
                    "another process (the server's process" in line and "of a slow one" in line
                ), line
                began = time.monotonic()
                process.send_signal(asked)
                code = process.wait(PATIENCE)
                assert time.monotonic() - began < 20
                assert code in ((0,) if process is worker else (130, -asked))


def test_a_worker_that_hears_nothing_from_the_server_ends_when_asked(workspace: Path) -> None:
    """A server that takes connections and is silent."""
    import socket

    fleet.laid_out(workspace)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"postgresql://u:p@127.0.0.1:{silent.getsockname()[1]}/none"
        with fdc_started("worker", "--database", url, cwd=workspace) as worker:
            silent.settimeout(PATIENCE)
            taken, _ = silent.accept()
            worker.send_signal(signal.SIGTERM)
            assert 0 == worker.wait(PATIENCE)
            taken.close()


@pytest.mark.long
def test_what_a_killed_process_left_half_made_is_made_whole(workspace: Path) -> None:
    """Whoever prepared was killed in the middle of it, again and again."""
    fleet.laid_out(workspace)
    with database(empty=True) as url:
        for tables in (1, 3, 6, 9):
            with fdc_started("worker", "--database", url, cwd=workspace) as worker:
                wait_for(lambda tables=tables: worker.poll() is not None or tables <= rows(
                    url, "SELECT count(*) FROM pg_tables WHERE schemaname='dbos'")[0][0])  # fmt: skip
                worker.kill()
        with Workers(url, workspace) as workers:
            workers.start(2)
            done = fdc("run", "--database", url, "-q", "big.plan", "count=3", cwd=workspace)
            assert 0 == done.returncode, (done, workers.log())
        assert [] == rows(url, "SELECT 1 FROM pg_index WHERE NOT indisvalid")
