"""`run_plan` under the workers of a database: killed in the outer run and within, and nothing is done twice (issue 13)."""

from __future__ import annotations

import json
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from fdc_toolchain.journal.postgres import PgStore
from fdc_toolchain.runs.records.identity import identity

from tests.fault.test_kill import said
from tests.fault.test_nested_kill import INNER, deeds, laid_out
from tests.support.background import wait_for
from tests.support.database import Workers, database, ended, needs_database, rows
from tests.support.fleet import begun, key
from tests.support.process import fdc

pytestmark = [needs_database, pytest.mark.slow]


@pytest.fixture
def url() -> Iterator[str]:
    with database() as found:
        yield found


@pytest.fixture
def home(workspace: Path) -> Path:
    laid_out(workspace)
    (workspace / "witness.log").write_text("")
    return workspace


def found(url: str) -> dict[str, tuple[str, str]]:
    """Name and status of the one outer run, and of the one within."""
    got = rows(url, "SELECT plan, name, status FROM fdc.run")
    assert len({plan for plan, *_ in got}) == len(got) <= 2, got
    return {
        "outer" if plan == "outer.plan" else "inner": (name, status) for plan, name, status in got
    }


def stands(url: str, which: str, *statuses: str) -> bool:
    return found(url).get(which, ("", ""))[1] in statuses


def killed(workers: Workers, home: Path) -> None:
    """Kills the one worker, where it waits to be."""
    wait_for(lambda: said(home / "reached"))
    [name] = workers.living
    assert -signal.SIGKILL == ended(workers.send(name, signal.SIGKILL))
    (home / "reached").unlink(missing_ok=True)


def worker(workers: Workers, kill_at: str = "") -> None:
    workers.env["KILL_AT"] = kill_at
    workers.start()


@pytest.mark.long
def test_workers_die_within_and_the_next_one_goes_on_with_the_same_run(
    home: Path, url: str
) -> None:
    """Kill -9 within, before and after what happens once; then in the outer run, when the run within has ended."""
    with Workers(url, home) as workers:
        worker(workers, "before one")
        outer = begun(home, url, "outer.plan")
        killed(workers, home)
        inner = found(url)["inner"][0]
        worker(workers, "after two")
        killed(workers, home)
        worker(workers)
        wait_for(lambda: stands(url, "outer", "waiting"))
        hint = fdc("resume", outer, "--database", url, cwd=home)
        assert (
            5 == hint.returncode
            and f"`fdc resume {inner} --assume main/4=done` (or " in hint.stdout
        ), hint
        assert "find out whether it happened" in hint.stdout and "--answer" not in hint.stdout
        settled = fdc("resume", inner, "--assume", "main/4=done", "--database", url, cwd=home)
        assert 0 == settled.returncode, (settled, workers.log())
        assert {"before": 1, "one": 1, "two": 1, "three": 1} == deeds(home)
        [name] = workers.living
        assert 0 == ended(workers.send(name, signal.SIGTERM))
        worker(workers, "after after")
        following = begun_again(home, url, outer)
        killed(workers, home)
        worker(workers)
        wait_for(lambda: stands(url, "outer", "finished"))
        assert following is None
    assert {"before": 1, "one": 1, "two": 1, "three": 1} == {
        name: n for name, n in deeds(home).items() if name != "after"
    }
    assert {"outer": (outer, "finished"), "inner": (inner, "finished")} == found(url)
    listed = fdc("runs", "--database", url, cwd=home).stdout
    assert outer in listed and inner in listed and not (home / ".fdc" / "runs.sqlite").exists()
    assert (
        0
        == fdc("verify", inner, "--database", url, cwd=home).returncode
        == fdc("replay", outer, "--database", url, cwd=home).returncode
    )


def begun_again(home: Path, url: str, run: str) -> None:
    """Has a worker go on with a run that waits; no one follows it."""
    from fdc_toolchain.runs.workers import remote

    store = PgStore(url, key(home))
    row = store.run(run)
    store.close()
    assert row is not None
    remote.wake(url, str(home), row)


@pytest.mark.long
def test_an_answer_and_another_folder_and_the_budget_go_on_within(
    home: Path, url: str, tmp_path: Path
) -> None:
    (home / "inner.txt").write_text(
        INNER.format("colour <- request_user_input which colour?\n").replace(
            "keep three", "keep {colour}"
        )
    )
    copy = tmp_path / "copy"
    with Workers(url, home) as workers:
        worker(workers, "after one")
        outer = begun(home, url, "outer.plan", "--budget", "steps=11")
        wait_for(lambda: stands(url, "outer", "waiting"))
        inner = found(url)["inner"][0]
        [(inputs,)] = rows(url, "SELECT inputs FROM fdc.run WHERE name=%s", inner)
        assert {"steps": 11 - 5} == json.loads(inputs)["budget"] and outer == json.loads(inputs)[
            "within"
        ]
        shutil.copytree(home, copy, ignore=shutil.ignore_patterns("runs"))
        answered = fdc("answer", outer, "blue", "--database", url, cwd=home)
        assert 0 == answered.returncode, answered
        killed(workers, home)
        workers.workspace = copy
        workers.options = ("--serve", identity(str(home)).id)
        worker(workers)
        wait_for(lambda: stands(url, "outer", "waiting", "stopped", "finished"))
        if stands(url, "outer", "waiting"):  # the answer was taken by the worker that died
            assert 0 == fdc("answer", outer, "blue", "--database", url, cwd=home).returncode
            wait_for(lambda: stands(url, "outer", "stopped", "finished"))
        assert stands(url, "outer", "stopped") and stands(url, "inner", "stopped"), (
            found(url),
            workers.log(),
        )
        more = fdc("resume", outer, "--retry", "--budget", "steps=30", "--database", url, cwd=home)
        assert 0 == more.returncode, (more, workers.log())
    assert {"outer": (outer, "finished"), "inner": (inner, "finished")} == found(url)
    both = deeds(home) + deeds(copy)
    assert {"two": 1, "blue": 1, "after": 1} == {
        name: both[name] for name in ("two", "blue", "after")
    }


def test_the_run_within_is_cancelled_with_the_outer_one(home: Path, url: str) -> None:
    with Workers(url, home, HELD="two") as workers:
        worker(workers)
        outer = begun(home, url, "outer.plan")
        wait_for(lambda: deeds(home)["one"])
        rows(url, "UPDATE fdc.run SET cancel=TRUE WHERE name=%s RETURNING 1", outer)
        wait_for(
            lambda: (
                stands(url, "outer", "cancelled", "finished")
                and stands(url, "inner", "cancelled", "finished")
            )
        )
    if stands(url, "outer", "cancelled"):
        assert "after" not in deeds(home)


@pytest.mark.long
@pytest.mark.parametrize("lost", [False, True])
def test_a_run_within_that_waits_or_was_lost_is_cancelled_with_the_outer_one(
    home: Path, url: str, lost: bool
) -> None:
    """It stayed, waiting, when the outer run was over, and kept both from being removed."""
    if not lost:
        (home / "inner.txt").write_text(INNER.format("request_user_input which colour?\n"))
    with Workers(url, home) as workers:
        worker(workers, "before two" if lost else "")
        outer = begun(home, url, "outer.plan")
        if lost:
            killed(workers, home)
            rows(url, "UPDATE fdc.run SET cancel=TRUE WHERE name=%s RETURNING 1", outer)
            worker(workers)  # what `fdc cancel` asked, when there was no worker
        else:
            wait_for(lambda: stands(url, "outer", "waiting"))
            done = fdc("cancel", outer, "--database", url, cwd=home)
            assert 0 == done.returncode, (done, workers.log())
        wait_for(lambda: stands(url, "outer", "cancelled") and stands(url, "inner", "cancelled"))
        pruned = fdc("runs", "prune", "--older", "0d", "--database", url, cwd=home)
        assert "2 runs removed" in pruned.stdout, (pruned, workers.log())
