"""A run belongs to a workspace, and only workers that stand for it drive it (issue 4, "Many machines"; FDC-16)."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from fdc_toolchain.journal.postgres import PgStore
from fdc_toolchain.runs.records import identity

from tests.support import fleet
from tests.support.background import fdc_started, wait_for
from tests.support.database import Workers, database, needs_database, rows
from tests.support.fleet import begun, is_over
from tests.support.process import fdc

pytestmark = [needs_database, pytest.mark.long]


@pytest.fixture
def url() -> Iterator[str]:
    with database() as found:
        yield found


def folder(workspace: Path, name: str) -> Path:
    """Another workspace on this machine."""
    other = workspace.parent / name / "workspace"
    (other / "knowledge_core").mkdir(parents=True)
    return fleet.laid_out(other)


def doctor(workspace: Path, url: str) -> dict[str, list[str]]:
    """What `fdc doctor` says of the fleet, by name."""
    done = fdc("doctor", "--database", url, "--format", "json", cwd=workspace)
    said: dict[str, list[str]] = {}
    for one in json.loads(done.stdout)["found"]:
        said.setdefault(one["name"], []).append(f"{one['grade']}: {one['detail']}")
    return said


def drivers(url: str, name: str) -> list[str]:
    query = "SELECT body::json->>'worker' FROM fdc.record JOIN fdc.run ON run=id WHERE kind='session' AND name=%s"
    found = rows(url, query, name)
    return [worker for (worker,) in found]


def test_a_worker_of_another_folder_takes_nothing_and_doctor_says_who_is_missing(
    workspace: Path, url: str
) -> None:
    ours, theirs = fleet.laid_out(workspace), folder(workspace, "other")
    with Workers(url, theirs) as others, Workers(url, ours) as own:
        others.start()
        wait_for(lambda: others.connected("w1"))
        name = begun(ours, url, "big.plan", "count=2")
        served = begun(theirs, url, "big.plan", "count=2")
        wait_for(lambda: is_over(url, served))
        ours_id = identity.identity(str(ours)).id
        wait_for(
            lambda: f"no worker serves the workspace {ours_id} of the run {name}" in others.log()
        )
        said = doctor(ours, url)
        assert [f"ok: {ours} is the workspace {ours_id}"] == said["workspace"]
        [waiting] = said["waiting"]
        assert waiting.startswith(
            f"bad: runs of the workspace {ours_id}, which no worker serves: {name}; start `fdc worker` in that"
        )
        assert waiting.endswith(f"or `fdc worker --serve {ours_id}` in a folder that stands for it")
        [worker] = said["worker"]
        assert (
            worker.startswith("ok: w1 on ")
            and f"in {theirs} serves {identity.identity(str(theirs)).id}" in worker
        )
        with fdc_started("resume", name, "--database", url, cwd=ours) as client:
            assert client.stderr is not None
            assert (
                f"no worker serves the workspace {ours_id} of this run" in client.stderr.readline()
            )
        assert [("new",)] == rows(url, "SELECT status FROM fdc.run WHERE name=%s", name)
        assert (ours / "witness.log").read_bytes() == b""
        own.count = 1
        own.start()
        wait_for(lambda: is_over(url, name))
        assert ["w2"] == drivers(url, name) and "waiting" not in doctor(ours, url)
    assert 5 == len(fleet.witnessed(ours)) == len(fleet.witnessed(theirs))


def test_a_folder_that_is_said_to_stand_for_another_drives_its_runs(
    workspace: Path, url: str
) -> None:
    ours, theirs = fleet.laid_out(workspace), folder(workspace, "other")
    name = begun(ours, url, "big.plan", "count=20")
    with Workers(url, theirs, "--serve", identity.identity(str(ours)).id) as workers:
        workers.start(2)
        wait_for(lambda: is_over(url, name))
    assert 41 == len(fleet.witnessed(theirs)) and not fleet.witnessed(ours)
    wrong = fdc("worker", "--database", url, "--serve", "nobody", cwd=theirs)
    assert 2 == wrong.returncode and "`--serve nobody`: not the id of a workspace" in wrong.stderr


def test_a_copy_is_noticed_and_a_folder_that_moved_is_not_one(workspace: Path, url: str) -> None:
    ours = fleet.laid_out(workspace)
    own = identity.identity(str(ours)).id
    copy = workspace.parent / "copy"
    shutil.copytree(ours, copy)
    for command in (("worker",), ("run", "big.plan", "count=1")):
        done = fdc(*command, "--database", url, cwd=copy)
        assert (
            1 == done.returncode
            and f"{copy} is a copy of {ours}: both have the identity {own}" in done.stderr
        )
    with Workers(url, copy, "--serve", own) as workers:
        workers.start()
        name = begun(ours, url, "big.plan", "count=1")
        wait_for(lambda: is_over(url, name))
    (copy / ".fdc" / "workspace").unlink()
    assert own != identity.identity(str(copy)).id
    moved = workspace.parent / "moved"
    ours.rename(moved)
    assert identity.Identity(own, None) == identity.identity(str(moved))
    ours.mkdir()  # the tests' own folder


def git(workspace: Path, *arguments: str) -> str:
    who = ("-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false")
    done = subprocess.run(
        ["git", *who, *arguments], cwd=workspace, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def test_another_commit_is_refused_unless_that_is_said(workspace: Path, url: str) -> None:
    ours = fleet.laid_out(workspace)
    git(ours, "init", "-q")
    git(ours, "add", "ask.plan", "big.plan")
    git(ours, "commit", "-qm", "one")
    first = git(ours, "rev-parse", "HEAD")
    name = begun(ours, url, "ask.plan")
    git(ours, "commit", "-qm", "two", "--allow-empty")
    with Workers(url, ours) as workers:
        workers.start()
        refused = fdc("resume", name, "--database", url, cwd=ours)
        assert (
            1 == refused.returncode
            and f"the run {name} began with the commit {first[:12]}" in refused.stderr
        ), refused
        assert [] == drivers(url, name)
        git(ours, "checkout", "-q", first)
        asked = fdc("resume", name, "--database", url, cwd=ours)
        assert 5 == asked.returncode and "question: Which tea?" in asked.stdout, asked
        # What was driven here goes on here, whatever was committed since: that may be the run's own work.
        git(ours, "commit", "-qm", "three", "--allow-empty")
        done = fdc("resume", name, "--database", url, "--answer", "green", cwd=ours)
        assert 0 == done.returncode, done
    other = begun(ours, url, "big.plan", "count=1")
    git(ours, "commit", "-qm", "four", "--allow-empty")
    with Workers(url, ours, "--any-commit") as workers:
        workers.start()
        wait_for(lambda: is_over(url, other))


def test_runs_of_an_older_fdc_wait_for_a_worker_that_is_told_to_take_them(
    workspace: Path, url: str
) -> None:
    """A database of form 1, with a run and a delivery as fdc 0.1.0 left them."""
    ours = fleet.laid_out(workspace)
    kept = begun(ours, url, "big.plan", "count=2")
    store = PgStore(url, fleet.key(ours))
    row = store.run(kept)
    assert row is not None
    older = {name: value for name, value in row.inputs.items() if name != "workspace"}
    store.create("20261001-000000-olde", row.plan, store.program(row), older, 1.0)
    store.close()
    rows(url, "DELETE FROM dbos.workflow_status RETURNING 1")
    rows(url, "DELETE FROM fdc.run WHERE name=%s RETURNING 1", kept)
    with psycopg.connect(url, autocommit=True) as pg:
        pg.execute("DROP TABLE fdc.worker")
        pg.execute("UPDATE fdc.form SET version=1")
    assert [("20261001-000000-olde",)] == rows(url, "SELECT name FROM fdc.run")
    [said] = doctor(ours, url)["waiting"]
    assert (
        "runs of an older fdc, without a workspace, which no worker serves" in said
        and "`fdc worker --serve unnamed`" in said
    )
    assert [(2,)] == rows(url, "SELECT version FROM fdc.form")
    with Workers(url, ours, "--serve", "unnamed") as workers:
        workers.start()
        wait_for(lambda: is_over(url, "20261001-000000-olde"))
    assert 5 == len(fleet.witnessed(ours))
