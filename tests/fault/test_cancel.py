"""A client of `fdc cancel` that is killed after it asked: its request is met all the same (issue 4, "Durable"; FDC-31)."""

from __future__ import annotations

import signal
from pathlib import Path

import psycopg
import pytest
from fdc_toolchain.journal.postgres import PgStore
from fdc_toolchain.runs.workers import liveness
from fdc_toolchain.runs.workers.dispatch import OPEN
from fdc_toolchain.workspace import run_folders

from tests.support import fleet
from tests.support.background import PATIENCE, fdc_started, wait_for
from tests.support.database import Workers, database, needs_database, rows
from tests.support.process import fdc


def _waiting(workspace: Path) -> str:
    """A run that waits for an answer."""
    fleet.laid_out(workspace)
    done = fdc("run", "ask.plan", "-q", cwd=workspace)
    assert 5 == done.returncode, done
    [folder] = (workspace / ".fdc" / "runs").iterdir()
    return folder.name


def _killed_cancel(workspace: Path, name: str) -> None:
    """`fdc cancel` dies of SIGKILL while it waits for the run's controller, its request made."""
    lock = run_folders.Lock(run_folders.run_folder(str(workspace), name))
    assert lock.take() is None
    try:
        with fdc_started("cancel", name, "--wait", str(PATIENCE), cwd=workspace) as client:
            wait_for(lambda: run_folders.cancel_asked(str(workspace), name))
            client.kill()
            assert -signal.SIGKILL == client.wait(PATIENCE)
    finally:
        lock.release()
    assert run_folders.cancel_asked(str(workspace), name)
    assert "waiting" in fdc("runs", cwd=workspace).stdout


@pytest.mark.parametrize("command", [("resume", "--answer", "green"), ("resume", "--trust")])
def test_whoever_takes_the_run_up_next_cancels_it(
    workspace: Path, command: tuple[str, ...]
) -> None:
    name = _waiting(workspace)
    _killed_cancel(workspace, name)
    refused = fdc(command[0], name, *command[1:], cwd=workspace)
    assert (1, "") == (refused.returncode, refused.stdout.partition("\n")[2]), refused
    assert f"the run {name} was cancelled" in refused.stderr
    assert not run_folders.cancel_asked(str(workspace), name)
    assert "cancelled" in fdc("runs", cwd=workspace).stdout and not fleet.witnessed(workspace)
    assert (
        0
        == fdc("verify", name, cwd=workspace).returncode
        == fdc("replay", name, cwd=workspace).returncode
    )
    assert f"run {name} is cancelled\n" == fdc("cancel", name, cwd=workspace).stdout


def test_a_request_that_came_too_late_changes_nothing(workspace: Path) -> None:
    name = _waiting(workspace)
    assert 0 == fdc("resume", name, "--answer", "green", "-q", cwd=workspace).returncode
    run_folders.ask_to_cancel(
        str(workspace), name, 1.0
    )  # as by a client that was killed when the run had just ended
    again = fdc("resume", name, cwd=workspace)
    assert 0 == again.returncode and "finished" in again.stdout, again
    assert not run_folders.cancel_asked(str(workspace), name)


@needs_database
@pytest.mark.long
def test_in_a_database_a_worker_cancels_it_without_being_asked_twice(workspace: Path) -> None:
    """The client dies after its request and before it has sent for a worker; the watchdog finds the request."""
    fleet.laid_out(workspace)
    with database() as url, Workers(url, workspace) as workers:
        workers.start()
        name = fleet.begun(workspace, url, "ask.plan")
        wait_for(lambda: rows(url, "SELECT 1 FROM fdc.run WHERE status='waiting'"))
        with psycopg.connect(url) as pg:
            pg.execute(
                "LOCK TABLE dbos.workflow_status IN EXCLUSIVE MODE"
            )  # nothing can be put into a queue
            with fdc_started("cancel", name, "--database", url, cwd=workspace) as client:
                wait_for(lambda: rows(url, "SELECT 1 FROM fdc.run WHERE cancel"))
                client.kill()
                assert -signal.SIGKILL == client.wait(PATIENCE)
        wait_for(lambda: rows(url, "SELECT 1 FROM fdc.run WHERE status='cancelled'"))
        store = PgStore(url, fleet.key(workspace))
        row = store.run(name)
        assert row is not None and ((), "ours") == store.check(row.id)[::2] and not store.stalled(0)
        store.close()
    assert not fleet.witnessed(workspace)


@needs_database
@pytest.mark.long
def test_in_a_database_without_a_worker_the_request_is_stored_at_once(workspace: Path) -> None:
    """It waited half a minute for nobody, and an answer 5 seconds."""
    fleet.laid_out(workspace)
    with database() as url, Workers(url, workspace) as workers:
        workers.start()
        name = fleet.begun(workspace, url, "ask.plan")
        wait_for(lambda: rows(url, "SELECT 1 FROM fdc.run WHERE status='waiting'"))
        of_open = "SELECT 1 FROM dbos.workflow_status WHERE status = ANY(%s)"
        wait_for(lambda: not rows(url, of_open, list(OPEN)))  # its delivery ends after the run
        workers.send("w1", signal.SIGTERM).wait(PATIENCE)
        wait_for(lambda: not liveness.workers(url))
        lacking = "no worker is connected to the database; the run waits for `fdc worker`"
        for number in (1, 2):
            given = fdc("answer", name, f"green {number}", "--database", url, cwd=workspace)
            assert 0 == given.returncode and f"fdc: {lacking}\n" in given.stderr, given
            assert ("an earlier request for" in given.stderr) == (number == 2), given
        for wait in ((), ("--wait", "0.5")):
            refused = fdc("cancel", name, "--database", url, *wait, cwd=workspace)
            assert 3 == refused.returncode, refused
            said = f"fdc: the request to cancel {name} is stored, but {lacking}, which then"
            assert said in refused.stderr and bool(wait) == ("has not cancelled" in refused.stderr)
        workers.start()
        wait_for(lambda: rows(url, "SELECT 1 FROM fdc.run WHERE status='cancelled'"))
    assert not fleet.witnessed(workspace)
