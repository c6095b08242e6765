"""The chain of a journal: every changed byte, and every record taken out, put in or moved, is found; and whose it is."""

from __future__ import annotations

import json
import math
import sqlite3
import struct
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from fdc_toolchain.engine.events import Record
from fdc_toolchain.engine.ports import WorldFailed
from fdc_toolchain.journal import hash_chain, tables, user_key
from fdc_toolchain.journal.run_journal import ANCHOR_EVERY, BLOB_OVER
from fdc_toolchain.journal.sqlite import Damaged, Store, Untrusted

from tests.support.process import fdc
from tests.support.programs import program, step

KEY = b"k" * 32
OTHER = b"o" * 32


def outcome(address: str, value: Any = "v") -> Record:
    return Record("outcome", address, 1, "read", "r", 0.25, {"took": 0.001, "value": value})


RECORDS = [
    Record("session", "", 1, "", "", 0.0, {"pid": 1}),
    outcome("main/1"),
    Record("intent", "main/2", 1, "fire", "r", 0.3, {}),
    outcome("main/2", "x" * (BLOB_OVER + 1)),
    outcome("main/3", {"a": [1, 2]}),
]


@pytest.fixture
def path(tmp_path: Path) -> str:
    """Two runs: `a` has ended, `b` was left while it ran."""
    made = str(tmp_path / "runs.sqlite")
    with closing(Store(made, KEY)) as store:
        for name in "ab":
            store.create(
                name, "p.plan", program(step("read", text="a")), {"given": {"x": name}}, 5.5
            )
            row = store.run(name)
            assert row is not None
            journal = store.claim(row)
            for record in RECORDS:
                journal.append([record])
            if name == "a":
                journal.close_run("finished", {"stop": None, "steps": 3}, 6.5)
    return made


@pytest.fixture
def db(path: str) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(path, isolation_level=None)) as found:
        yield found


def faults(path: str, key: bytes | None = KEY) -> list[str]:
    """Everything that is wrong with any run of a file."""
    with closing(Store(path, key, readonly=True)) as store:
        names = store.numbers()
        found = [fault for number in names for fault in store.check(number).faults]
        other = [
            number
            for number in names
            if key is not None and store.check(number).signature != "ours"
        ]
        return found + ["stray"] * store.strays() + [f"seal of {number}" for number in other]


def flips(value: Any) -> Iterator[Any]:
    """A value with one of its bytes changed, for every byte (of a long one, for every 97th)."""
    if value is None:
        return
    if isinstance(value, int):
        yield from (value ^ (1 << bit) for bit in range(0, 56, 8))
    elif isinstance(value, float):
        data = struct.pack("<d", value)
        found = (
            struct.unpack("<d", data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])[0]
            for at in range(8)
        )
        yield from (one for one in found if not math.isnan(one))
    else:
        data = value if isinstance(value, bytes) else value.encode()
        for at in range(0, len(data), 1 if len(data) < 2000 else 97):
            changed = data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]
            yield changed if isinstance(value, bytes) else changed.decode("utf-8")


@pytest.mark.long
def test_every_changed_byte_of_every_column_and_every_content_is_found(
    path: str, db: sqlite3.Connection
) -> None:
    """FDC: the journal's hash chain. One bit of each byte is turned, one at a time, and turned back."""
    assert faults(path) == []
    keys = {"run": ("id",), "record": ("run", "address", "kind", "turn"), "blob": ("hash",)}
    tried = 0
    with closing(Store(path, KEY, readonly=True)) as store:
        for table, key in keys.items():
            columns = [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
            for row in db.execute(f"SELECT * FROM {table}").fetchall():
                at = dict(zip(columns, row, strict=True))
                for column in columns:
                    for changed in flips(at[column]):
                        where = " AND ".join(f"{name}=?" for name in key)
                        now = [changed if name == column else at[name] for name in key]
                        try:
                            db.execute(
                                f"UPDATE {table} SET {column}=? WHERE {where}",
                                (changed, *(at[n] for n in key)),
                            )
                        except sqlite3.IntegrityError:
                            continue  # a name or a key that is taken
                        tried += 1
                        found = [f for n in store.numbers() for f in store.check(n).faults]
                        seals = [n for n in store.numbers() if store.check(n).signature != "ours"]
                        assert found or seals or store.strays(), (
                            table,
                            column,
                            at[column],
                            changed,
                        )
                        db.execute(
                            f"UPDATE {table} SET {column}=? WHERE {where}", (at[column], *now)
                        )
    assert faults(path) == []
    assert tried > 2_500


TAMPERINGS: dict[str, tuple[str, str]] = {
    "a record taken out": (
        "DELETE FROM record WHERE run=1 AND seq=3",
        "record 3 is missing, before record 4 (outcome of main/2)",
    ),
    "the last record taken out": (
        "DELETE FROM record WHERE run=1 AND seq=5",
        "record 5 is missing at the end: the run's row knows of 5",
    ),
    "all records taken out": (
        "DELETE FROM record WHERE run=1",
        "records 1 to 5 are missing at the end: the run's row knows of 5",
    ),
    "two records swapped": (
        "UPDATE record SET seq = 7 - seq WHERE run=1 AND seq IN (3, 4)",
        "record 3 (outcome of main/2) is not what was written",
    ),
    "a record put in": (
        "INSERT INTO record SELECT run,'main/9',kind,turn,6,tool,request,at,body,blob,link FROM record WHERE seq=5 AND run=1",
        "record 6 (outcome of main/9) is not what was written",
    ),
    "a record moved to another run": (
        "UPDATE record SET run=2, address='main/8' WHERE run=1 AND seq=4",
        "record 4 is missing, before record 5 (outcome of main/3)",
    ),
    "the end denied": (
        "UPDATE run SET status='running', ending=NULL WHERE id=1",
        "the run's own row is not what",
    ),
    "another plan": (
        "UPDATE run SET program=(SELECT hash FROM blob LIMIT 1) WHERE id=1",
        "the run's own row is not",
    ),
    "a content gone": (
        "DELETE FROM blob WHERE length(bytes) > 60000",
        "the content of record 4 (outcome of main/2) is",
    ),
}


@pytest.mark.parametrize("name", TAMPERINGS)
def test_what_was_done_to_the_records_is_said_with_its_place(
    path: str, db: sqlite3.Connection, name: str
) -> None:
    change, said = TAMPERINGS[name]
    db.execute(change)
    with closing(Store(path, KEY)) as store:
        found = store.check(1).faults
        assert any(said in fault for fault in found), found
        row = store.run("a")
        assert row is not None
        with pytest.raises(Damaged):
            store.claim(row, trust=True)  # no option makes a damaged run go on


def test_a_lost_tail_is_told_by_the_head_up_to_its_newest_anchor(
    path: str, db: sqlite3.Connection
) -> None:
    """The head is anchored with every intent, every 32nd record and every end; docs/decisions/0004 says why."""
    with closing(Store(path, KEY)) as store:
        row = store.run("b")
        assert row is not None
        journal = store.claim(row)
        for number in range(ANCHOR_EVERY + 3):
            journal.append([outcome(f"main/4[{number}]/1")])
    last = db.execute("SELECT max(seq) FROM record WHERE run=2").fetchone()[0]
    anchored = db.execute("SELECT seq FROM run WHERE id=2").fetchone()[0]
    assert last - ANCHOR_EVERY < anchored < last
    for cut in range(last, anchored - 1, -1):
        db.execute("DELETE FROM record WHERE run=2 AND seq=?", (cut,))
        assert bool(faults(path)) == (cut <= anchored), cut


def forged(path: str, key: bytes | None, change: Callable[[sqlite3.Connection], None]) -> None:
    """Changes a run and makes its chain anew all along, as somebody would who knows this code."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        change(db)
        owner = hash_chain.Owner(
            *db.execute(f"SELECT {tables.OWNER} FROM run WHERE id=1").fetchone()
        )
        link = hash_chain.beginning(owner)
        for row in db.execute(
            f"SELECT {tables.ROW} FROM record WHERE run=1 ORDER BY seq"
        ).fetchall():
            link = hash_chain.link(link, row, key)
            db.execute("UPDATE record SET link=? WHERE run=1 AND seq=?", (link, row[3]))
        owner = owner._replace(
            head=link, digest=hash_chain.digest_of(owner._replace(head=link), key)
        )
        db.execute("UPDATE run SET head=?, digest=? WHERE id=1", owner[13:15])


@pytest.mark.parametrize("key, signature", [(None, "none"), (OTHER, "other")])
def test_a_whole_chain_made_anew_lacks_the_seal_of_the_users_key(
    path: str, key: bytes | None, signature: str
) -> None:
    forged(
        path,
        key,
        lambda db: db.execute('UPDATE record SET body=\'{"value":"evil"}\' WHERE run=1 AND seq=2'),
    )
    with closing(Store(path, KEY)) as store:
        checked = store.check(1)
        assert (checked.faults, checked.signature) == ((), signature)
        row = store.run("a")
        assert row is not None
        with pytest.raises(Untrusted):
            store.claim(row)
        store.claim(row, trust=True)
        assert store.check(1).signature == "ours"  # whoever vouches for it seals it


def test_records_behind_the_anchor_need_the_seal_too(path: str) -> None:
    with closing(Store(path, KEY)) as store:
        row = store.run("b")
        assert row is not None
        store.claim(row).append([outcome("main/4")])
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        row = db.execute(f"SELECT {tables.ROW} FROM record WHERE run=2 AND seq=6").fetchone()
        before = db.execute("SELECT link FROM record WHERE run=2 AND seq=5").fetchone()[0]
        changed = (*row[:7], '{"value":"evil"}', *row[8:])
        db.execute(
            "UPDATE record SET body=?, link=? WHERE run=2 AND seq=6",
            (changed[7], hash_chain.link(before, changed, OTHER)),
        )
    with closing(Store(path, KEY)) as store:
        assert (store.check(2).faults, store.check(2).signature) == ((), "other")


def test_a_byte_changed_anywhere_in_the_file_never_makes_another_record_look_whole(
    path: str, tmp_path: Path
) -> None:
    def content(name: str) -> Any:
        with closing(Store(name, KEY, readonly=True)) as store:
            rows = store.runs()
            return rows, [store.records(row) for row in rows], [store.program(row) for row in rows]

    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        db.execute("PRAGMA journal_mode=DELETE")
    good, data = content(path), Path(path).read_bytes()
    copy = tmp_path / "copy.sqlite"
    found = 0
    for at in range(0, len(data), 331):
        copy.write_bytes(data[:at] + bytes([data[at] ^ 4]) + data[at + 1 :])
        try:
            whole = faults(str(copy)) == []
        except WorldFailed:
            whole = False
        found += not whole
        assert not whole or content(str(copy)) == good, (
            at
        )  # what was changed is not part of any run
    assert found > 100


def test_a_check_that_meets_a_controller_sees_all_as_it_was_at_one_moment(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run's own row is read, then somebody takes the run up, then its records are read: nothing is damaged."""
    with closing(Store(path, KEY, readonly=True)) as store, closing(Store(path, KEY)) as other:
        [number] = [number for number, name in store.numbers().items() if name == "a"]
        chained = store._chained

        def meanwhile(run: int) -> Any:
            row = other.run("a")
            assert row is not None
            other.claim(row).append([outcome(f"main/{row.epoch + 9}")])
            return chained(run)

        monkeypatch.setattr(store, "_chained", meanwhile)
        assert (hash_chain.Checked((), len(RECORDS), "ours")) == store.check(number)
        monkeypatch.undo()
        assert (hash_chain.Checked((), len(RECORDS) + 1, "ours")) == store.check(number)


# Older, newer and strange files


def older(path: Path) -> None:
    """A journal as version 0.1 wrote it."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        for table in tables._FIRST.values():
            db.execute(table)
        from fdc_toolchain.program.codec import canonical, digest, encode

        made = program(step("read", text="a"))
        db.execute("INSERT INTO blob VALUES(?,?)", (digest(made), encode(made)))
        db.execute(
            "INSERT INTO run VALUES(1,'old',1,'p.plan',?,'{}',2,'interrupted',NULL,1.5,NULL)",
            (digest(made),),
        )
        for seq, record in enumerate(RECORDS[:3], 1):
            kind, address, turn, tool, request, at, body = record
            values = (1, address, kind, turn, seq * 2, tool, request, at, canonical(body), None)
            db.execute(f"INSERT INTO record VALUES({','.join('?' * 10)})", values)


def test_an_older_journal_is_brought_up_to_date_in_place_and_sealed_by_nobody(
    tmp_path: Path,
) -> None:
    older(tmp_path / "runs.sqlite")
    path = str(tmp_path / "runs.sqlite")
    with pytest.raises(tables.Older):
        Store(path, KEY, readonly=True)
    with closing(Store(path, KEY)) as store:
        row = store.run("old")
        assert row is not None and (row.epoch, row.status, row.started) == (2, "interrupted", 1.5)
        assert store.records(row) == RECORDS[:3]
        assert store.check(1) == hash_chain.Checked((), 3, "none")
        with pytest.raises(Untrusted):
            store.claim(row)
    assert faults(path, None) == []


@pytest.mark.parametrize(
    "change, said",
    [
        ("PRAGMA user_version=3", "written by a newer fdc (journal 3, this one knows 2)"),
        (
            "CREATE TRIGGER t AFTER INSERT ON record BEGIN DELETE FROM run; END",
            "this is not a journal of fdc",
        ),
        ("ALTER TABLE run ADD COLUMN more", "this is not a journal of fdc"),
    ],
)
def test_a_newer_or_a_strange_journal_is_refused_by_a_sentence(
    path: str, db: sqlite3.Connection, change: str, said: str
) -> None:
    db.execute(change)
    for readonly in (True, False):
        with pytest.raises(WorldFailed, match=said.replace("(", r"\(").replace(")", r"\)")):
            Store(path, KEY, readonly=readonly)


def test_an_older_file_with_a_trigger_is_not_touched(tmp_path: Path) -> None:
    older(tmp_path / "runs.sqlite")
    with closing(sqlite3.connect(tmp_path / "runs.sqlite")) as db:
        db.execute("CREATE TRIGGER t AFTER INSERT ON record BEGIN DELETE FROM run; END")
    before = (tmp_path / "runs.sqlite").read_bytes()
    with pytest.raises(WorldFailed, match="not a journal of fdc"):
        Store(str(tmp_path / "runs.sqlite"), KEY)
    with closing(sqlite3.connect(tmp_path / "runs.sqlite")) as db:
        assert db.execute("PRAGMA user_version").fetchone() == (0,)
        assert db.execute("SELECT count(*) FROM record").fetchone() == (3,)
    assert len(before) == (tmp_path / "runs.sqlite").stat().st_size


def test_a_journal_that_is_a_link_is_refused(path: str, tmp_path: Path) -> None:
    (tmp_path / "link.sqlite").symlink_to(path)
    with pytest.raises(WorldFailed, match="symbolic link"):
        Store(str(tmp_path / "link.sqlite"), KEY)


# The key


def test_the_key_is_made_once_for_its_owner_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    root = str(tmp_path / "w")
    assert user_key.key(root, make=False) is None
    made = user_key.key(root, make=True)
    assert (
        made is not None
        and len(made) == 32
        and user_key.key(root, make=True) == made
        and user_key.lasts()
    )
    path = Path(user_key.key_path())
    assert path.stat().st_mode & 0o777 == 0o600 and path.parent.stat().st_mode & 0o077 == 0
    assert [one.name for one in path.parent.iterdir()] == ["key"]


@pytest.mark.parametrize("fault", ["others may read", "no key", "in the workspace", "a link"])
def test_a_key_that_cannot_be_trusted_is_refused_by_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    user_key.key(str(tmp_path / "w"), make=True)
    path, root = Path(user_key.key_path()), tmp_path / "w"
    if fault == "others may read":
        path.chmod(0o640)
    elif fault == "no key":
        path.write_bytes(b"short")
    elif fault == "a link":
        path.rename(path.with_name("elsewhere"))
        path.symlink_to(path.with_name("elsewhere"))
    else:
        root = tmp_path
    with pytest.raises(WorldFailed) as raised:
        user_key.key(str(root), make=True)
    assert str(path) in str(raised.value)


def test_a_run_that_came_with_a_clone_does_not_go_on_unless_the_user_vouches_for_it(
    workspace: Path, tmp_path: Path
) -> None:
    """Threat: a hostile clone ships .fdc/runs.sqlite with a run of its own that waits to be resumed."""
    (workspace / "p.plan").write_text(
        "set_plan x\nplan_step_complete x\nrequest_user_input go on?\ncreate_file_with_block evil.txt\n    x\n"
        "close_task\nsubmit\n"
    )
    stranger = {"XDG_STATE_HOME": str(tmp_path / "stranger")}
    assert fdc("run", "p.plan", cwd=workspace, env=stranger).returncode == 5
    name = json.loads(fdc("runs", "--format", "json", cwd=workspace).stdout)["runs"][0]["run"]
    for command in (
        ["resume", name, "--answer", "yes"],
        ["fork", f"{name}@main/3"],
        ["cancel", name],
    ):
        done = fdc(*command, cwd=workspace)
        assert done.returncode == 1 and "was not started by you on this machine" in done.stderr, (
            command
        )
    assert not (workspace / "evil.txt").exists()
    assert "sealed by another key" in fdc("verify", name, cwd=workspace).stdout
    done = fdc("resume", name, "--answer", "yes", "--trust", cwd=workspace)
    assert (done.returncode, done.stderr) == (0, "") and (workspace / "evil.txt").exists()
    assert "sealed by your key" in fdc("verify", name, cwd=workspace).stdout
