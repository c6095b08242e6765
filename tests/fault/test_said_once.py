"""What a person said about a lost step is for that loss: not for another one, after the worker that heard it died, too."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fault.test_nested_kill import END, HEAD, INNER, deeds, laid_out
from tests.fault.test_nested_workers import killed, worker
from tests.support.background import fdc_started, wait_for
from tests.support.database import Workers, database, ended, needs_database, rows
from tests.support.fleet import begun
from tests.support.process import fdc

pytestmark = [needs_database, pytest.mark.long]


@pytest.fixture
def url() -> Iterator[str]:
    with database() as found:
        yield found


@pytest.fixture
def home(workspace: Path) -> Path:
    laid_out(workspace)
    (workspace / "alone.plan").write_text(f"{HEAD}keep one\ndeed two\nkeep three\n{END}")
    (workspace / "witness.log").write_text("")
    return workspace


def status(url: str, run: str) -> str:
    return str(rows(url, "SELECT status FROM fdc.run WHERE name=%s", run)[0][0])


@pytest.mark.parametrize(
    ("plan", "said"),
    [
        ("alone.plan", ["--all", "--assume", "not-done"]),
        ("alone.plan", ["--assume", "main/4=not-done"]),
        ("outer.plan", ["--all", "--assume", "not-done"]),
    ],
)
def test_a_step_that_is_lost_once_more_is_asked_about_once_more(
    home: Path, url: str, plan: str, said: list[str]
) -> None:
    """The queue delivered the words again, and the next worker did a third time what happens once."""
    with Workers(url, home) as workers:
        worker(workers, "after two")
        run = begun(home, url, plan)
        killed(workers, home)
        worker(workers, "after two")
        wait_for(lambda: status(url, run) == "waiting")
        assert 1 == deeds(home)["two"]
        with fdc_started("resume", run, *said, "--database", url, cwd=home) as follower:
            killed(workers, home)
            assert 2 == deeds(home)["two"]
            worker(workers)
            assert 5 == ended(follower), workers.log()
        assert (2, "waiting") == (deeds(home)["two"], status(url, run))
        done = fdc("resume", run, "--all", "--assume", "done", "--database", url, cwd=home)
        assert 0 == done.returncode, (done, workers.log())
    assert {"one": 1, "two": 2, "three": 1}.items() <= deeds(home).items()
    assert 0 == fdc("replay", run, "--database", url, cwd=home).returncode


def test_who_continues_the_outer_run_begins_what_a_worker_stopped_within(
    home: Path, url: str
) -> None:
    """A worker that was asked to end stops the command, and knows that it did not reach its end (docs/runs.md)."""
    command = "run_in_bash_session echo x >> x.log; test -e go || sleep 600"
    (home / "inner.txt").write_text(INNER.format(f"{command}\n"))
    with Workers(url, home) as workers:
        workers.start()
        run = begun(home, url, "outer.plan")
        wait_for(lambda: (home / "x.log").exists())
        assert 0 == ended(workers.send("w1", signal.SIGTERM))
        workers.start()
        wait_for(lambda: status(url, run) == "waiting")
        (home / "go").write_text("")
        done = fdc("resume", run, "--database", url, cwd=home)
        assert 0 == done.returncode, (done, workers.log())
    assert (home / "x.log").read_text() == "x\nx\n"
