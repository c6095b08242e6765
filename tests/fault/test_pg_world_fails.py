"""Failure tests 8, 9 and 10 of the engines' study on PostgreSQL: a server that loses power, a full, read-only or locked
database, clocks that jump (issue 4, "Many machines"). What they say of a file is in test_world_fails.py.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest
from fdc_toolchain.engine.drive import Ports, drive
from fdc_toolchain.engine.events import Record
from fdc_toolchain.engine.fold import fold
from fdc_toolchain.engine.ports import WorldFailed
from fdc_toolchain.journal import postgres
from fdc_toolchain.journal.postgres import PgStore
from fdc_toolchain.journal.run_journal import RunJournal
from fdc_toolchain.journal.sqlite import RunRow
from fdc_toolchain.runs.workers.liveness import Session
from fdc_toolchain.testing import FakeClock, Silence

from tests.support import process
from tests.support.background import PATIENCE
from tests.support.database import database, needs_database, rows
from tests.support.process import fdc
from tests.support.programs import iterate, program, step
from tests.support.repository import ROOT
from tests.support.witness import Witness

pytestmark = [needs_database, pytest.mark.slow]
KEY = b"k" * 32
HOUR = 3600.0


@pytest.fixture
def url() -> Iterator[str]:
    with database() as found:
        yield found


def begun(store: PgStore, name: str) -> RunRow:
    store.create(
        name, "p.plan", program(iterate(4, step("put"), step("fire")), step("read")), {}, 5.5
    )
    row = store.run(name)
    assert row is not None
    return row


def do(url: str, *statements: str) -> None:
    with psycopg.connect(url, autocommit=True) as pg:
        for statement in statements:
            pg.execute(statement)  # type: ignore[arg-type]


def outcome(number: int) -> Record:
    return Record("outcome", f"main/{number}", 1, "read", "r", 0.25, {"value": "x" * 400})


@contextmanager
def own_server() -> Iterator[tuple[str, str]]:
    """A server that may crash: its URL, and the folder for `.ci/postgres`."""
    outer = Path(tempfile.mkdtemp())
    outer.chmod(0o711)  # the server has a user of its own
    script, folder = str(ROOT / ".ci" / "postgres"), str(outer / "postgres")
    started = process.run([script, "start", folder], cwd=outer)
    try:
        if started.returncode:
            pytest.skip(started.stderr)
        yield started.stdout.strip(), folder
    finally:
        process.run([script, "stop", folder], cwd=outer)
        shutil.rmtree(outer)


def crashed(folder: str, when: threading.Event) -> None:
    when.wait(PATIENCE)
    process.run([str(ROOT / ".ci" / "postgres"), "crash", folder], cwd="/")


@pytest.mark.long
@pytest.mark.parametrize("crashes", [2, pytest.param(25, marks=pytest.mark.soak)])
def test_what_was_said_to_be_recorded_survives_a_power_cut_and_nothing_is_invented(
    crashes: int,
) -> None:
    """Failure test 8: 8: the server ends without a checkpoint in the middle of commits; its log brings back a whole prefix."""
    with own_server() as (url, folder):
        written = 0
        with closing(PgStore(url, KEY)) as store:
            begun(store, "a")
        for _ in range(crashes):
            with closing(PgStore(url, KEY)) as store:
                row = store.run("a")
                assert row is not None and () == store.check(row.id).faults
                journal = store.claim(row)
                assert [
                    outcome(number) for number in range(len(journal.records))
                ] == journal.records
                assert (
                    written <= len(journal.records) <= written + 3
                )  # a commit may have been made and not answered
                written = first = len(journal.records)
                reached = threading.Event()
                crash = threading.Thread(target=crashed, args=(folder, reached))
                crash.start()
                with pytest.raises(WorldFailed):
                    while True:
                        size = 1 + written % 3
                        journal.append([outcome(written + number) for number in range(size)])
                        written += size
                        if written > first + 150:
                            reached.set()
                crash.join()
                assert store.lost
        with closing(PgStore(url, KEY)) as store:
            row = store.run("a")
            assert row is not None and ((), "ours") == store.check(row.id)[::2]
            assert written <= len(store.records(row)) <= written + 3


def sees(url: str, folder: Path) -> bool:
    """Whether the server finds a file that is made in a folder: it may be in another mount namespace."""
    (folder / "seen").touch()
    try:
        with psycopg.connect(url) as pg:
            pg.execute("SELECT pg_stat_file(%s)", [str(folder / "seen")])
    except psycopg.Error:
        return False
    finally:
        (folder / "seen").unlink()
    return True


@pytest.mark.long
def test_a_database_whose_disk_is_full_stops_the_controller_and_not_the_run(
    tmp_path: Path, url: str
) -> None:
    """Failure test 9: 9: the table of records lies on a file system of one megabyte."""
    if os.geteuid():
        pytest.skip("only root can mount a small disk for the server")
    disk = Path(tempfile.mkdtemp())
    if subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m,mode=755", "none", str(disk)], capture_output=True
    ).returncode:
        pytest.skip("no file system can be mounted here")
    space = f"small_{os.getpid()}"
    try:
        shutil.chown(disk, "postgres")
        if not sees(url, disk):
            pytest.skip("the server does not see what is mounted here")
        with closing(PgStore(url, KEY)) as store:
            row = begun(store, "a")
            do(url, f"CREATE TABLESPACE {space} LOCATION '{disk}'")
            do(url, f"ALTER TABLE fdc.record SET TABLESPACE {space}")
            journal = store.claim(row)
            written = 0
            with pytest.raises(WorldFailed, match="No space left on device"):
                for written in range(10_000):
                    journal.append([outcome(written)])
            assert 100 < written and not store.lost
            with pytest.raises(
                WorldFailed
            ):  # and again: nothing of the first attempt is in the way
                journal.append([outcome(written)])
            do(url, "ALTER TABLE fdc.record SET TABLESPACE pg_default")
            journal.append([outcome(written)])
            assert [outcome(number) for number in range(written + 1)] == store.records(row)
            assert ((), "ours") == store.check(row.id)[::2]
    finally:
        do(url, "ALTER TABLE fdc.record SET TABLESPACE pg_default")
        do(url, f"DROP TABLESPACE IF EXISTS {space}")
        subprocess.run(["umount", "-l", str(disk)], check=True, capture_output=True)
        disk.rmdir()


def test_a_database_that_may_only_be_read_is_one_sentence_and_later_goes_on(
    workspace: Path, url: str
) -> None:
    """Failure test 9: 9: a standby, or a server out of its administrator's favour."""
    (workspace / "p.plan").write_text("set_plan x\nplan_step_complete x\nclose_task\nsubmit\n")
    assert 0 == fdc("run", "--detach", "p.plan", "--database", url, cwd=workspace).returncode
    name = urlsplit(url).path[1:]
    do(url, f"ALTER DATABASE {name} SET default_transaction_read_only=on")
    for command in (("run", "--detach", "p.plan"), ("worker",)):
        done = fdc(*command, "--database", url, cwd=workspace)
        assert (
            3 == done.returncode and done.stderr.count("\n") == 1 and "read-only" in done.stderr
        ), done
    assert (
        "whole, sealed by your key" in fdc("show", "last", "--database", url, cwd=workspace).stdout
    )
    with closing(PgStore(url, KEY)) as store, pytest.raises(WorldFailed, match="read-only"):
        begun(store, "a")
    do(
        url,
        "SET default_transaction_read_only=off",
        f"ALTER DATABASE {name} RESET default_transaction_read_only",
    )
    with closing(PgStore(url, KEY)) as store:
        assert "new" == begun(store, "a").status
        assert 2 == len(store.runs())


def test_a_record_that_somebody_has_locked_is_waited_for_and_not_for_ever(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Failure test 9: 9: as a locked file: some patience, then a sentence, and the next attempt finds all as it was."""
    monkeypatch.setattr(postgres, "LOCK_MS", 200)
    with closing(PgStore(url, KEY)) as store:
        row = begun(store, "a")
        journal: RunJournal = store.claim(row)
        journal.append([outcome(0)])
        with psycopg.connect(url) as rude:
            rude.execute("LOCK TABLE fdc.record IN ACCESS EXCLUSIVE MODE")
            with pytest.raises(WorldFailed, match="lock timeout"):
                journal.append([outcome(1)])
            assert not store.lost
        journal.append([outcome(1), outcome(2)])
        assert 3 == len(store.records(row)) and () == store.check(row.id).faults


def test_who_freezes_inside_of_a_commit_holds_nobody_up(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stopped process keeps its locks, and no session that is silent ends inside of a transaction."""
    monkeypatch.setattr(postgres, "IDLE_MS", 200)
    with closing(PgStore(url, KEY)) as frozen, closing(PgStore(url, KEY)) as other:
        row = begun(frozen, "a")
        late = frozen.claim(row)
        frozen._pg.execute("BEGIN")
        frozen._pg.execute("SELECT 1 FROM run WHERE id=%s FOR UPDATE", (row.id,))
        journal = other.claim(row)
        journal.append([outcome(0)])
        with pytest.raises(WorldFailed):
            late.append([outcome(1)])
        assert (
            frozen.lost and [outcome(0)] == other.records(row) and () == other.check(row.id).faults
        )


@pytest.mark.parametrize("tick", [-0.5, -3600.0, 3600.0])
def test_clocks_that_jump_change_no_outcome_and_hide_no_run(url: str, tick: float) -> None:
    """Failure test 10: 10: the controller's clock, and the server's, by which the watchdog looks."""
    with closing(PgStore(url, KEY)) as store:
        found = []
        for name, clock in (("calm", FakeClock()), ("jumping", FakeClock(1e9, tick))):
            row = begun(store, name)
            journal = store.claim(row)
            made = store.program(row)
            ending = drive(
                made, fold(made, {}, []), Ports(journal, Witness(), clock, Silence()), room=1
            )
            found.append((ending, [record[:5] for record in store.records(row)]))
            times = [record.at for record in store.records(row)]
            assert times == sorted(times) and times[0] >= 0
        assert found[0] == found[1]
        assert [] == store.stalled(HOUR)  # both were left just now
        rows(
            url,
            "UPDATE fdc.run SET touched = clock_timestamp() + %s * interval '1 second' RETURNING 1",
            tick * 10_000,
        )
        assert ["calm", "jumping"] == [row.name for row in store.stalled(HOUR)]
        session = Session(url, "w", lambda why: None, 60.0)
        session.start()
        try:
            assert session.hold(row.id)
            assert ["calm"] == [
                row.name for row in store.stalled(HOUR)
            ]  # no time of day takes it from who drives it
        finally:
            session.stop()
