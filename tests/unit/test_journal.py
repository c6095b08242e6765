"""The SQLite journal: durable, fenced, first writer wins, content by its hash."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from fdc_toolchain.engine.events import Record
from fdc_toolchain.engine.ports import Fenced, WorldFailed
from fdc_toolchain.journal.hash_chain import Checked
from fdc_toolchain.journal.run_journal import BLOB_OVER
from fdc_toolchain.journal.sqlite import Store
from fdc_toolchain.program.codec import ProgramError
from fdc_toolchain.workspace import run_folders

from tests.support.programs import everything, program

KEY = b"k" * 32


def outcome(address: str, **body: Any) -> Record:
    return Record("outcome", address, 1, "t", "r", 0.5, body)


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "runs.sqlite")


@pytest.fixture
def store(path: str) -> Iterator[Store]:
    made = Store(path, KEY)
    made.create("a", "a.plan", everything(), {"given": {"x": "ü"}}, 1.0)
    yield made
    made.close()


def test_what_was_appended_is_read_again_by_another_process_in_the_same_order(
    store: Store, path: str
) -> None:
    row = store.run("a")
    assert row is not None and (row.status, row.inputs) == ("new", {"given": {"x": "ü"}})
    journal = store.claim(row)
    records = [outcome(f"main/{n}", value=n) for n in (3, 10, 2, 1)]
    journal.append(records[:1])
    journal.append(records[1:])
    store.close()
    with closing(Store(path, KEY)) as again:
        row = again.run("a")
        assert row is not None and again.records(row) == records
        assert again.program(row) == everything()


def test_the_file_is_a_write_ahead_log_that_survives_a_power_cut(store: Store) -> None:
    assert store._db.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert store._db.execute("PRAGMA synchronous").fetchone() == (2,)  # FULL


def test_a_replaced_controller_can_write_nothing_more(store: Store, path: str) -> None:
    row = store.run("a")
    assert row is not None
    old = store.claim(row)
    old.append([outcome("main/1")])
    other = Store(path, KEY)
    new = other.claim(row)
    for records in (
        [outcome(f"main/{n}") for n in range(2, 2 + many)] for many in (1, 2, 4, 23, 64, 90)
    ):
        with pytest.raises(Fenced):
            old.append(records)
    with pytest.raises(Fenced):
        old.close_run("finished", {}, 2.0)
    new.append([outcome("main/2", mine=True)])
    assert other.records(row) == [outcome("main/1"), outcome("main/2", mine=True)]
    other.close()


def test_the_first_record_of_an_address_stays_and_a_commit_is_whole_or_nothing(
    store: Store,
) -> None:
    row = store.run("a")
    assert row is not None
    journal = store.claim(row)
    journal.append([outcome("main/1", first=True)])
    with pytest.raises(Fenced):
        journal.append([outcome("main/2"), outcome("main/1", second=True)])
    with pytest.raises(Fenced):
        journal.append([outcome("main/1", second=True)])
    for many in (
        4,
        20,
        70,
    ):  # as many statements, the record that is there already in the last of them
        with pytest.raises(Fenced):
            journal.append(
                [
                    *(outcome(f"main/{n}") for n in range(2, 2 + many)),
                    outcome("main/1", second=True),
                ]
            )
        with pytest.raises(Fenced):
            journal.append(
                [
                    outcome("main/1", second=True),
                    *(outcome(f"main/{n}") for n in range(2, 2 + many)),
                ]
            )
    assert store.records(row) == [outcome("main/1", first=True)]
    journal.append([outcome("main/2")])
    assert len(store.records(row)) == 2
    assert store.check(row.id) == Checked((), 2, "ours")


def test_records_that_are_written_together_lie_as_those_that_are_written_one_by_one(
    store: Store,
) -> None:
    large = outcome("main/7", value="x" * (BLOB_OVER + 1))
    for many in (1, 3, 4, 5, 16, 21, 63, 64, 65, 84, 85, 150):
        records = [large if n == 7 else outcome(f"main/{n}", value=n) for n in range(many)]
        found = []
        for name in (f"together-{many}", f"one-by-one-{many}"):
            store.create(name, "a.plan", everything(), {}, 1.0)
            row = store.run(name)
            assert row is not None
            journal = store.claim(row)
            for part in [records] if name.startswith("t") else [[record] for record in records]:
                journal.append(part)
            assert store.records(row) == records
            assert store.check(row.id) == Checked((), many, "ours")
            rows = store._db.execute(
                "SELECT seq, address, body, blob FROM record WHERE run=? ORDER BY seq", (row.id,)
            ).fetchall()
            found.append(rows)
        assert found[0] == found[1]


def test_large_bodies_lie_once_by_their_content(store: Store) -> None:
    row = store.run("a")
    assert row is not None
    journal = store.claim(row)
    big = "ä" * BLOB_OVER
    journal.append([outcome("main/1", value=big)])
    journal.append([outcome("main/2", value=big), outcome("main/3", value="small")])
    assert [len(record.body["value"]) for record in store.records(row)] == [BLOB_OVER, BLOB_OVER, 5]
    blobs = store._db.execute("SELECT count(*) FROM blob").fetchone()
    assert blobs == (2,)  # the program and the one body


def test_content_that_is_not_what_was_written_is_refused(store: Store) -> None:
    row = store.run("a")
    assert row is not None
    store._db.execute("UPDATE blob SET bytes = replace(bytes, 'main', 'niam')")
    with pytest.raises(WorldFailed) as raised:
        store.program(row)
    assert "is not what was written" in str(raised.value)


def test_a_program_of_another_format_is_refused(store: Store) -> None:
    store.create("b", "b.plan", {**program(), "format": 3}, {}, 1.0)
    row = store.run("b")
    assert row is not None
    with pytest.raises(ProgramError) as raised:
        store.program(row)
    assert "format" in str(raised.value)


@pytest.mark.parametrize("damage", [b"this is not a database at all, " * 40, b""])
def test_a_file_that_is_no_journal_is_one_sentence(tmp_path: Path, damage: bytes) -> None:
    path = tmp_path / "runs.sqlite"
    path.write_bytes(damage)
    with pytest.raises(WorldFailed) as raised:
        Store(str(path), readonly=True)
    assert str(path) in str(raised.value) and "\n" not in str(raised.value)


def test_a_torn_log_loses_its_end_and_never_invents_a_record(
    store: Store, path: str, tmp_path: Path
) -> None:
    """Power-loss model: the files as they lay at some moment, the log cut anywhere."""
    row = store.run("a")
    assert row is not None
    journal = store.claim(row)
    written = [outcome(f"main/{n}", value="x" * 50) for n in range(40)]
    for record in written:
        journal.append([record])
    main, log = Path(path).read_bytes(), Path(path + "-wal").read_bytes()
    longest = 0
    for cut in range(0, len(log), max(1, len(log) // 60)):
        copy = tmp_path / f"copy{cut}.sqlite"
        copy.write_bytes(main)
        Path(f"{copy}-wal").write_bytes(log[:cut])
        try:
            found = Store(str(copy), KEY)
        except WorldFailed:
            continue
        again = found.run("a")
        records = [] if again is None else found.records(again)
        assert records == written[: len(records)]
        longest = max(longest, len(records))
        found.close()
    assert longest > 30


def test_bytes_for_a_step_do_not_grow_with_the_length_of_a_run(tmp_path: Path) -> None:
    def bytes_for_a_step(steps: int) -> float:
        path = tmp_path / f"{steps}.sqlite"
        made = Store(str(path), KEY)
        made.create("a", "a.plan", program(), {}, 1.0)
        row = made.run("a")
        assert row is not None
        journal = made.claim(row)
        made._db.execute("PRAGMA synchronous=OFF")
        for start in range(0, steps, 500):
            journal.append(
                [
                    outcome(f"main/2[{n}]/1", value="x" * 40, took=0.1)
                    for n in range(start, start + 500)
                ]
            )
        made._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        made.close()
        return path.stat().st_size / steps

    small, large = bytes_for_a_step(1_000), bytes_for_a_step(4_000)
    assert large <= 1.1 * small


def test_a_second_taker_of_a_lock_hears_who_has_it(tmp_path: Path) -> None:
    import os

    first, second = run_folders.Lock(str(tmp_path)), run_folders.Lock(str(tmp_path))
    assert first.take() is None
    assert second.take() == f"process {os.getpid()}"
    first.release()
    assert second.take() is None


def test_the_folder_of_runs_is_ignored_by_git_and_never_a_link(tmp_path: Path) -> None:
    (tmp_path / "w").mkdir()
    assert Path(run_folders.folder(str(tmp_path / "w")), ".gitignore").read_text() == "*\n"
    (tmp_path / "v").mkdir()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "v" / ".fdc").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(WorldFailed):
        run_folders.folder(str(tmp_path / "v"))
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_names_of_runs_sort_by_time_and_differ(monkeypatch: Any) -> None:
    names = {run_folders.RunIds().run_id() for _ in range(50)}
    assert len(names) > 45 and all(len(name) == 20 for name in names)


def test_only_the_world_fails_where_sqlite_does(store: Store) -> None:
    row = store.run("a")
    assert row is not None
    journal = store.claim(row)
    with pytest.raises(WorldFailed):
        store.create("a", "again", program(), {}, 1.0)
    store.close()
    with pytest.raises((WorldFailed, sqlite3.ProgrammingError)):
        journal.append([outcome("main/1")])


def test_a_damaged_record_is_one_sentence(store: Store) -> None:
    row = store.run("a")
    assert row is not None
    store.claim(row).append([outcome("main/1", value=1)])
    store._db.execute("UPDATE record SET body = 'half a {'")
    with pytest.raises(WorldFailed) as raised:
        store.records(row)
    assert "is damaged" in str(raised.value)


def test_a_run_folder_that_is_a_link_is_not_followed(tmp_path: Path) -> None:
    """Security: a hostile clone may bring `.fdc/runs/NAME` as a link out of the workspace."""
    (tmp_path / ".fdc" / "runs").mkdir(parents=True)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / ".fdc" / "runs" / "r").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(WorldFailed, match="symbolic link"):
        run_folders.run_folder(str(tmp_path), "r")
