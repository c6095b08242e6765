"""`fdc runs prune` on a database: with workers and other prunes at work, and killed in the middle (issue 12).

What a run needs stays, on a file too: families of runs are made at random and held against what "needs" means.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from fdc_toolchain.engine.events import Record
from fdc_toolchain.engine.ports import Fenced, Gone
from fdc_toolchain.journal.postgres import PgStore
from fdc_toolchain.journal.sqlite import Store
from fdc_toolchain.runs.records import prune as removing
from fdc_toolchain.runs.records.identity import identity
from fdc_toolchain.runs.workers import dispatch, pruning
from fdc_toolchain.workspace.run_folders import journal_path, run_folder

from tests.support import fleet, profiles
from tests.support.background import wait_for
from tests.support.database import Workers, database, needs_database, rows
from tests.support.process import fdc

LARGE = "tea, " * 20_000
STATUSES = ("finished", "stopped", "cancelled", "waiting", "running", "broken", "new")
OVER = STATUSES[:3]
FILES = (
    "runs/records/prune.py",
    "runs/workers/pruning.py",
    "runs/workers/dispatch.py",
    "journal/postgres.py",
    "journal/sqlite.py",
)


@pytest.fixture
def url() -> Iterator[str]:
    with database() as found:
        yield found


@pytest.fixture
def place(workspace: Path) -> Path:
    return fleet.laid_out(workspace)


def opened(url: str, place: Path) -> PgStore:
    return PgStore(url, fleet.key(place))


def made(
    store: Store, place: Path, name: str, status: str = "finished", *, content: str = "x",
    origin: str | None = None, **inputs: Any,
) -> None:  # fmt: skip
    """A run as if it had been driven to `status`, long ago."""
    about = {"workspace": {"id": identity(str(place)).id, "commit": None}, **inputs}
    came = None if origin is None else {"run": origin, "address": "main/1"}
    store.create(name, f"{name}.plan", {"root": content[:3]}, about, 1.0, origin=came)
    if status == "new":
        return
    row = store.run(name)
    assert row is not None
    journal = store.claim(row)
    journal.append(
        [
            Record(
                "outcome",
                "main/1",
                1,
                "tool",
                "r",
                0.0,
                {"value": content + name * (content != "x")},
            )
        ]
    )
    if status != "running":
        journal.close_run(status, {}, 2.0)


def names(store: Store) -> set[str]:
    return {row.name for row in store.runs()}


def law(store: Store, place: Path, seed: int) -> None:
    """What is pruned needs nothing that is not over, and is needed by nothing that is not; all else that is over goes."""
    rng = random.Random(seed)
    needs: dict[str, set[str]] = {}
    status: dict[str, str] = {}
    for number in range(60):
        name = f"r{number}"
        status[name] = rng.choice(STATUSES if rng.random() < 0.5 else OVER)
        other = f"r{rng.randrange(number)}" if number and rng.random() < 0.6 else ""
        kind = rng.choice(["within", "folder", "origin"])
        given: dict[str, Any] = {"builtin": {"run": f"runs/{name}"}}
        if other and kind == "within":
            given["within"] = other
        elif other:
            given["builtin"] = {"run": f"runs/{other}"}
        made(
            store,
            place,
            name,
            status[name],
            origin=other if other and kind == "origin" else None,
            **given,
        )
        needs[name] = {other} - {""}
        if other and kind != "origin":
            needs[other].add(
                name
            )  # a run and the runs within it need each other; a fork is not needed
    stays = {name for name in needs if status[name] not in OVER}
    while more := {other for name in stays for other in needs[name]} - stays:
        stays |= more
    removed = removing.prune(store, str(place), time.time())
    assert stays == names(store)
    assert set(needs) - stays == {row.name for row in removed.rows}
    assert {name for name in stays if status[name] in OVER} == {row.name for row, _ in removed.kept}


def test_what_a_run_needs_stays_whatever_the_families(workspace: Path) -> None:
    for seed in range(6):
        store = Store(str(workspace / f"{seed}.sqlite"), b"k" * 32)
        law(store, workspace, seed)
        store.close()


@needs_database
def test_the_same_in_a_database(place: Path, url: str) -> None:
    store = opened(url, place)
    law(store, place, 1)
    store.close()


@needs_database
@pytest.mark.slow
def test_a_run_goes_whole_and_other_workspaces_keep_theirs(place: Path, url: str) -> None:
    store = opened(url, place)
    made(store, place, "shared", content=LARGE)
    made(store, place, "asked")
    made(store, place, "foreign", workspace={"id": "0" * 16, "commit": None})
    made(store, place, "waits", "waiting", content=LARGE)
    for name in ("shared", "waits"):
        (place / "runs" / name).mkdir(parents=True)
        run_folder(str(place), name)
    sender = dispatch.Sender(url)
    for name in ("shared", "asked", "gone~1.1.1"):
        sender.send(name, {}, delivery=f"{name}:first")
    rows(
        url,
        "UPDATE dbos.workflow_status SET status='SUCCESS' WHERE workflow_uuid <> 'asked:first' RETURNING 1",
    )
    said = [
        fdc("runs", "prune", "--older", "0h", *more, "--database", url, cwd=place)
        for more in (["--dry-run"], [])
    ]
    assert [(0, ""), (0, "")] == [(one.returncode, one.stderr) for one in said], said
    assert (
        "would remove shared  finished   shared.plan\n" in said[0].stdout
        and "1 run would be removed, about" in said[0].stdout
    )
    assert (
        "removed shared  finished   shared.plan\nkept asked: a request to it waits for a worker\n1 run removed, "
        in said[1].stdout
    )
    assert {"asked", "foreign", "waits"} == names(store) and 0 == store.strays()
    assert [("asked:first",)] == rows(url, "SELECT workflow_uuid FROM dbos.workflow_status")
    kept = rows(url, "SELECT count(*) FROM fdc.blob")
    assert [(3,)] == kept, "two programs, and one content"
    assert ["waits"] == os.listdir(place / "runs") == os.listdir(place / ".fdc" / "runs")
    for row in store.runs():
        assert ((), "ours") == store.check(row.id)[::2]
    sender.close()
    store.close()


@needs_database
def test_a_controller_that_slept_cannot_write_into_the_run_that_has_the_number_now(
    place: Path, url: str
) -> None:
    fleet.key(place)
    (place / ".fdc").mkdir(exist_ok=True)
    for store in (opened(url, place), Store(journal_path(str(place)), fleet.key(place))):
        made(store, place, "old", "running")
        old = store.run("old")
        assert old is not None
        sleeper = store.claim(old)
        store._db.execute("UPDATE run SET status='finished', ended=2.0 WHERE name='old'")
        assert {"old"} == {row.name for row in removing.prune(store, str(place), time.time()).rows}
        made(store, place, "young", "running")
        young = store.run("young")
        assert young is not None and young.id == old.id
        assert store.claim(young).epoch == sleeper.epoch
        for many in (1, 4):
            with pytest.raises(Fenced):
                sleeper.append(
                    [
                        Record("outcome", f"main/{number}", 1, "tool", "r", 0.0, {})
                        for number in range(2, 2 + many)
                    ]
                )
        with pytest.raises(Fenced):
            sleeper.close_run("finished", {}, 3.0)
        with pytest.raises(Gone):
            store.claim(old)
        assert () == store.check(young.id).faults
        store.close()


@needs_database
def test_a_run_that_is_taken_over_while_it_is_looked_at_stays_whole(place: Path, url: str) -> None:
    """The caller over first wins: prune finds it changed, or the other one finds it gone. So does who forks it."""
    store, other = opened(url, place), opened(url, place)
    for turn in range(6):
        made(store, place, f"run{turn}", content=LARGE)
        row = other.run(f"run{turn}")
        assert row is not None
        said: list[str] = []

        def takes(row: Any = row, said: list[str] = said) -> None:
            try:
                other.claim(row)
                said.append("taken")
            except Gone:
                said.append("gone")

        thread = threading.Thread(target=takes)
        removed = [] if turn % 2 else removing.prune(store, str(place), time.time()).rows
        thread.start()
        removed += removing.prune(store, str(place), time.time()).rows
        thread.join()
        assert (said == ["gone"]) == (len(removed) == 1), (said, removed)
        for left in store.runs():
            assert () == store.check(left.id).faults
    with pytest.raises(Gone):
        made(store, place, "fork", origin="run0")
    store.close()
    other.close()


def dies(work: Callable[[], Any], at: int) -> int:
    """Does it in a process that kills itself with SIGKILL at a moment; how it ended: -1 where it came to no such moment."""
    child = os.fork()
    if child == 0:
        count = 0

        def reach(frame: Any, event: str, argument: Any) -> None:
            nonlocal count
            if event in ("c_call", "c_return", "call") and frame.f_code.co_filename.endswith(FILES):
                count += 1
                if count == at:
                    os.kill(os.getpid(), signal.SIGKILL)

        sys.setprofile(reach)
        try:
            work()
            os._exit(0)
        finally:
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@pytest.mark.long
@needs_database
def test_a_kill_at_any_moment_leaves_what_the_next_call_takes_away(place: Path, url: str) -> None:
    kills = 60 if profiles.SOAK else 10
    rng = random.Random(7)
    work = lambda: pruning.prune(url, str(place), time.time(), (), dry_run=False)  # noqa: E731
    for turn in range(kills):
        store = opened(url, place)
        for name in (f"a{turn}", f"b{turn}"):
            made(store, place, name, content=LARGE)
            run_folder(str(place), name)
        made(store, place, f"w{turn}", "waiting", content=LARGE)
        store.close()
        rows(url, "INSERT INTO dbos.workflow_status(workflow_uuid, status, name) VALUES(%s, 'SUCCESS', 'fdc.work') RETURNING 1",
             f"a{turn}:first")  # fmt: skip
        assert dies(work, rng.randrange(1, 1500)) in (-signal.SIGKILL, 0)
        store = opened(url, place)
        for row in store.runs():
            assert () == store.check(row.id).faults
        store.close()
    assert 0 == dies(work, 0)
    store = opened(url, place)
    assert {f"w{turn}" for turn in range(kills)} == names(store) and 0 == store.strays()
    store.close()
    assert [(kills + 1,)] == rows(url, "SELECT count(*) FROM fdc.blob") and [] == rows(
        url, "SELECT 1 FROM dbos.workflow_status"
    )
    assert [] == os.listdir(place / ".fdc" / "runs") and not list((place / ".fdc").glob("pruning*"))


@pytest.mark.long
@needs_database
def test_two_prunes_and_a_worker_at_once(place: Path, url: str) -> None:
    """The worker drives runs to their ends, large contents and all, while two processes remove what is over."""
    expected = fleet.on_sqlite(place, "big.plan", "count=8")
    over = threading.Event()
    said: list[Any] = []

    def pruned() -> None:
        while not over.is_set():
            said.append(fdc("runs", "prune", "--older", "0h", "--database", url, cwd=place))

    with Workers(url, place, "--jobs", "4") as workers:
        workers.start()
        waits = fleet.begun(place, url, "ask.plan")
        wait_for(
            lambda: rows(url, "SELECT 1 FROM fdc.run WHERE name=%s AND status='waiting'", waits)
        )
        (place / fleet.HELD).write_text("")
        held = fleet.begun(place, url, "big.plan", "count=8")
        threads = [threading.Thread(target=pruned) for _ in range(2)]
        for thread in threads:
            thread.start()
        quick = [fleet.begun(place, url, "big.plan", "count=4") for _ in range(2)]
        (place / fleet.HELD).unlink()
        wait_for(
            lambda: not rows(url, "SELECT 1 FROM fdc.run WHERE name = ANY(%s)", [held, *quick])
        )
        over.set()
        for thread in threads:
            thread.join()
        answered = fdc("resume", waits, "--answer", "green", "--database", url, cwd=place)
        assert 0 == answered.returncode, (answered, workers.log())
        assert ["w1"] == list(workers.living) and workers.living["w1"].poll() is None, workers.log()
    assert {(0, "")} == {(one.returncode, one.stderr) for one in said}, said
    removed = [
        line.split()[1]
        for one in said
        for line in one.stdout.splitlines()
        if line.startswith("removed ")
    ]
    assert sorted([held, *quick]) == sorted(removed), "each of them by one of the two"
    deeds = fleet.witnessed(place)
    assert {1} == set(deeds.values())
    for name, count in ((held, 8), *((one, 4) for one in quick)):
        assert 2 * count + 1 == sum(key.startswith(name) for key in deeds)
    assert (
        json.loads(fdc("runs", "--format", "json", "--database", url, cwd=place).stdout)["runs"][0][
            "run"
        ]
        == waits
    )
    assert sum(expected.values())
