"""An older copy of the record that is put back, with answers that were used since: told by a note outside of the workspace."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from fdc_toolchain.engine.events import Record
from fdc_toolchain.engine.ports import WorldFailed
from fdc_toolchain.journal import counter, user_key
from fdc_toolchain.journal.counter import Seen
from fdc_toolchain.journal.sqlite import Outdated, Store

from tests.support.background import fdc_started, wait_for
from tests.support.process import fdc
from tests.support.programs import program, step

PAYS = """set_plan x
plan_step_complete x
record_user_approval_for_plan pay once
run_in_bash_session echo paid >> paid.txt
request_user_input more?
close_task
submit
"""
OLDER = "is older than what this machine saw"
ALLOW = {"FDC_ALLOW_UNSANDBOXED": "1"}


def paid(workspace: Path) -> int:
    file = workspace / "paid.txt"
    return file.read_text().count("paid") if file.exists() else 0


def restored(workspace: Path, copy: Path) -> None:
    shutil.rmtree(workspace / ".fdc")
    shutil.copytree(copy, workspace / ".fdc")


@pytest.fixture
def answered(workspace: Path, tmp_path: Path) -> tuple[Path, Path]:
    """A run whose approval lies ready, a copy of its record, and what became of it then: it has paid."""
    (workspace / "p.plan").write_text(PAYS)
    (workspace / "paid.txt").write_text("")
    assert fdc("run", "p.plan", cwd=workspace, env=ALLOW).returncode == 5
    assert fdc("answer", "last", "yes", cwd=workspace).returncode == 0
    shutil.copytree(workspace / ".fdc", tmp_path / "copy")
    assert fdc("resume", "last", cwd=workspace, env=ALLOW).returncode == 5
    assert paid(workspace) == 1
    return workspace, tmp_path / "copy"


def test_an_older_copy_of_the_record_with_its_answer_pays_no_second_time(
    answered: tuple[Path, Path],
) -> None:
    """Finding B10: it was `whole, sealed by your key`, and paid twice on one approval."""
    workspace, copy = answered
    restored(workspace, copy)
    for command, code in (
        (["resume", "last"], 3), (["verify", "last"], 1), (["verify"], 1), (["replay", "last"], 1), (["show", "last"], 0),
        (["answer", "last", "yes"], 3), (["fork", "last@main/3"], 3), (["resume", "last", "--answer", "yes"], 3),
        (["resume", "last", "--trust"], 3), (["cancel", "last"], 3),
    ):  # fmt: skip
        done = fdc(*command, cwd=workspace, env=ALLOW)
        assert done.returncode == code and OLDER in done.stdout + done.stderr, (command, done)
        assert "--accept-older" in done.stdout + done.stderr
    assert paid(workspace) == 1
    assert json.loads(fdc("show", "last", "--format", "json", cwd=workspace).stdout)["journal"][
        "older"
    ]


def test_who_restored_a_backup_on_purpose_says_so_and_used_answers_are_dropped(
    answered: tuple[Path, Path],
) -> None:
    workspace, copy = answered
    restored(workspace, copy)
    accepted = fdc("verify", "last", "--accept-older", cwd=workspace)
    assert accepted.returncode == 0 and "accepted: the record" in accepted.stdout, accepted
    again = fdc("resume", "last", cwd=workspace, env=ALLOW)
    assert (
        again.returncode == 5 and "Do you approve pay once" in again.stdout and paid(workspace) == 1
    )
    assert (
        fdc("resume", "last", "--answer", "yes", cwd=workspace, env=ALLOW).returncode == 5
        and paid(workspace) == 2
    )
    refused = fdc("verify", "last", "--accept-older", cwd=workspace)
    assert refused.returncode == 1 and "is not older" in refused.stderr
    assert fdc("verify", "--accept-older", cwd=workspace).returncode == 2


def test_a_copy_that_was_taken_while_the_run_was_driven_is_told_too(
    workspace: Path, tmp_path: Path
) -> None:
    """The controller is killed after it has paid: nothing was written at the end of driving."""
    plan = PAYS.replace("request_user_input more?", "run_in_bash_session sleep 600")
    waits = "run_in_bash_session echo begun > on; while [ -e gate ]; do sleep 0.05; done; echo"
    (workspace / "p.plan").write_text(plan.replace("run_in_bash_session echo", waits))
    (workspace / "paid.txt").write_text("")
    for name in ("gate", "on"):  # where Landlock is alone, no new ones are made beside them
        (workspace / name).write_text("")
    assert fdc("run", "p.plan", cwd=workspace, env=ALLOW).returncode == 5
    assert fdc("answer", "last", "yes", cwd=workspace).returncode == 0
    with fdc_started("resume", "last", cwd=workspace, env=ALLOW, start_new_session=True) as process:
        wait_for((workspace / "on").read_text)  # the answer was used, nothing is paid
        shutil.copytree(workspace / ".fdc", tmp_path / "copy")
        (workspace / "gate").unlink()
        wait_for(lambda: _begun(workspace, "main/5"))
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    now = tmp_path / "now"
    shutil.copytree(workspace / ".fdc", now)
    restored(workspace, tmp_path / "copy")
    assert (
        OLDER
        in fdc("resume", "last", "--all", "--assume", "not-done", cwd=workspace, env=ALLOW).stderr
    )
    restored(
        workspace, now
    )  # the newest one goes on as ever: a crash leaves nothing that is told as older
    done = fdc("resume", "last", "--all", "--assume", "done", cwd=workspace, env=ALLOW)
    assert done.returncode == 0 and paid(workspace) == 1, done


def _begun(workspace: Path, address: str) -> bool:
    with closing(sqlite3.connect(workspace / ".fdc" / "runs.sqlite")) as db:
        return (
            db.execute(
                "SELECT 1 FROM record WHERE kind='intent' AND address=?", (address,)
            ).fetchone()
            is not None
        )


def test_two_copies_of_a_workspace_do_not_both_go_on(
    answered: tuple[Path, Path], tmp_path: Path
) -> None:
    """Whichever goes on first is the record; the other, and the first one put back after the other was accepted, are told."""
    workspace, _ = answered
    other = tmp_path / "other"
    shutil.copytree(workspace, other)
    assert fdc("resume", "last", "--answer", "a", cwd=workspace, env=ALLOW).returncode == 0
    assert OLDER in fdc("resume", "last", "--answer", "b", cwd=other, env=ALLOW).stderr
    assert fdc("verify", "last", "--accept-older", cwd=other).returncode == 0
    assert fdc("resume", "last", "--answer", "b", cwd=other, env=ALLOW).returncode == 0
    said = fdc("verify", "last", cwd=workspace)
    assert said.returncode == 1 and OLDER in said.stdout


def test_a_state_folder_that_is_gone_or_new_hinders_nobody(answered: tuple[Path, Path]) -> None:
    workspace, _ = answered
    shutil.rmtree(counter.folder())
    assert fdc("resume", "last", "--answer", "a", cwd=workspace, env=ALLOW).returncode == 0
    assert fdc("verify", cwd=workspace).returncode == 0


START, LINK = b"s" * 32, b"l" * 32


def test_a_note_that_a_power_cut_tears_leaves_the_one_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every prefix of the write of every note: what is read is the old or the new one."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    for number in range(1, 5):
        path = Path(counter._path(START))
        before = path.read_bytes() if number > 1 else b""
        counter.advance(START, Seen(1, number, LINK))
        after = path.read_bytes()
        assert counter.read(START) == Seen(1, number, LINK) and len(after) == 2 * counter.SLOT
        if number == 1:
            continue
        at = (
            next(at for at in range(len(after)) if before[at] != after[at])
            // counter.SLOT
            * counter.SLOT
        )
        for end in range(at, at + counter.SLOT):
            path.write_bytes(before[:at] + after[at:end] + before[end:])
            assert counter.read(START) in (Seen(1, number - 1, LINK), Seen(1, number, LINK)), end
        path.write_bytes(after)
    assert (
        path.stat().st_mode & 0o077 == 0o044 & ~_umask() or path.parent.stat().st_mode & 0o077 == 0
    )
    path.write_bytes(b"x" * 400)
    with pytest.raises(WorldFailed, match="--accept-older"):
        counter.read(START)


def _umask() -> int:
    mask = os.umask(0o022)
    os.umask(mask)
    return mask


RECORDS = [
    Record("session", "", 1, "", "", 0.0, {"pid": 1}),
    Record("intent", "main/1", 1, "fire", "r", 0.1, {}),
    Record("outcome", "main/1", 1, "fire", "r", 0.2, {"took": 0.0, "value": "v"}),
    Record(
        "outcome",
        "main/2",
        1,
        "read",
        "r",
        0.3,
        {"took": 0.0, "value": "v", "notes": {"answered": {"by": "x"}}},
    ),
    Record("outcome", "main/3", 1, "read", "r", 0.4, {"took": 0.0, "value": "v"}),
]


def test_at_every_moment_the_note_is_at_the_newest_intent_and_answer_and_never_before_the_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A crash at any moment leaves a record that goes on; every copy from before an intent or an answer is told."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    path = tmp_path / "runs.sqlite"
    key = user_key.key(str(tmp_path / "w"), make=True)
    store = Store(str(path), key, counted=True)
    store.create("a", "p.plan", program(step("read", text="a")), {}, 1.0)
    row = store.run("a")
    assert row is not None
    copies: list[tuple[int, bytes]] = []
    advanced: list[Seen] = []
    real = counter.advance

    def crash(start: bytes, seen: Seen) -> None:
        copies.append((seen.seq, _bytes(path)))  # the record is there, the note is not yet
        real(start, seen)
        advanced.append(seen)

    monkeypatch.setattr(counter, "advance", crash)
    journal = store.claim(row)
    for record in RECORDS:
        journal.append([record])
    assert [seen.seq for seen in advanced] == [0, 2, 4]
    store.close()
    newest = advanced[-1]
    for at, data in copies:
        _put(tmp_path / "other.sqlite", data)
        other: Any = Store(str(tmp_path / "other.sqlite"), key, counted=True)
        checked = other.check(1)
        assert (checked.older == "") == (at >= newest.seq), at
        if checked.older:
            with pytest.raises(Outdated):
                other.claim(row)
        other.close()
    Path(counter._path(_start(path, key))).unlink()
    for at, data in copies:  # what a crash before each note left, with the note of before it
        _put(tmp_path / "other.sqlite", data)
        other = Store(str(tmp_path / "other.sqlite"), key, counted=True)
        assert other.check(1).older == ""
        real(_start(path, key), next(seen for seen in advanced if seen.seq == at))
        assert other.check(1).older == ""
        other.close()


def _start(path: Path, key: bytes | None) -> bytes:
    from fdc_toolchain.journal import hash_chain

    store = Store(str(path), key, readonly=True)
    try:
        return hash_chain.beginning(store._owner(1))
    finally:
        store.close()


def _bytes(path: Path) -> bytes:
    """The database with its log, as one file: what somebody would copy."""
    copy = path.with_name("backup.sqlite")
    copy.unlink(missing_ok=True)
    with closing(sqlite3.connect(path)) as source, closing(sqlite3.connect(copy)) as target:
        source.backup(target)
    return copy.read_bytes()


def _put(path: Path, data: bytes) -> None:
    for name in ("", "-wal", "-shm"):
        Path(f"{path}{name}").unlink(missing_ok=True)
    path.write_bytes(data)


def test_a_home_without_room_stops_the_controller_and_not_the_run(
    answered: tuple[Path, Path],
) -> None:
    """The note cannot be written: nothing that it announces is begun, and the run goes on when it can."""
    workspace, _ = answered
    folder = Path(counter.folder())
    hidden = folder.with_name("hidden")
    folder.rename(hidden)
    folder.write_text("no folder")
    stopped = fdc("resume", "last", "--answer", "a", cwd=workspace, env=ALLOW)
    assert stopped.returncode == 3 and str(folder) in stopped.stderr, stopped
    folder.unlink()
    hidden.rename(folder)
    assert fdc("resume", "last", "--answer", "a", cwd=workspace, env=ALLOW).returncode == 0
