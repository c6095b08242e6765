"""The world fails under a run: a torn log, a full disk, a clock that goes back, a process that is killed between two commits."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import struct
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from fdc_toolchain.engine.events import Record
from fdc_toolchain.engine.ports import WorldFailed
from fdc_toolchain.journal.sqlite import Store
from fdc_toolchain.testing import FakeClock, MemoryJournal, run

from tests.support.background import fdc_started, wait_for
from tests.support.killing import killed_at
from tests.support.process import fdc, working_in
from tests.support.process import run as run_process
from tests.support.programs import iterate, loop, program, step
from tests.support.witness import Witness

KEY = b"k" * 32
PLAN = (
    "set_plan x\nplan_step_complete x\ncreate_file_with_block a.txt\n    one\niterate max 3\n"
    "    x <- read_file a.txt\n    overwrite_file_with_block a.txt\n        {x}+\nrename_file a.txt b.txt\n"
    "close_task\nsubmit\n"
)


def test_a_log_torn_at_every_frame_and_between_loses_its_end_and_nothing_else(
    tmp_path: Path,
) -> None:
    """Failure test 8: power-loss model: the log cut at each frame's boundary, one byte beside it, and inside of a frame."""
    path = tmp_path / "runs.sqlite"
    written = [
        Record("outcome", f"main/{n}", 1, "read", "r", 0.5, {"value": "x" * 60}) for n in range(24)
    ]
    with closing(Store(str(path), KEY)) as store:
        store.create("a", "a.plan", program(step("read", text="a")), {}, 1.0)
        row = store.run("a")
        assert row is not None
        journal = store.claim(row)
        for record in written:
            journal.append([record])
        main, log = path.read_bytes(), Path(f"{path}-wal").read_bytes()
    page = struct.unpack(">I", log[8:12])[0]
    frame = page + 24
    frames = (len(log) - 32) // frame
    assert frames >= 24
    longest = 0
    for cut in sorted(
        {32 + frame * n + off for n in range(frames + 1) for off in (-1, 0, 1, frame // 2)}
        | {0, 31}
    ):
        copy = tmp_path / "copy.sqlite"
        for tail in ("", "-wal", "-shm"):
            Path(f"{copy}{tail}").unlink(missing_ok=True)
        copy.write_bytes(main)
        Path(f"{copy}-wal").write_bytes(log[:cut])
        try:
            found = Store(str(copy), KEY)
        except WorldFailed:
            continue
        with closing(found):
            again = found.run("a")
            if again is None:
                continue
            records = found.records(again)
            assert records == written[: len(records)]
            checked = found.check(again.id)
            assert (checked.faults, checked.signature) == ((), "ours"), (
                cut
            )  # what is left is whole, and ours
            if records:
                found.claim(again).append([written[len(records)]] if len(records) < 24 else [])
            longest = max(longest, len(records))
    assert longest == 24


@pytest.mark.parametrize("tick", [-0.5, -1e6, 3600.0])
def test_a_clock_that_jumps_changes_no_outcome_and_never_makes_the_run_younger(tick: float) -> None:
    """Failure test 10."""
    made = program(iterate(4, step("put"), step("fire")), step("read"))
    calm, jumping = MemoryJournal(), MemoryJournal()
    expected = run(made, Witness(), journal=calm)
    clock = FakeClock(1e9, tick)
    assert run(made, Witness(), journal=jumping, clock=clock) == expected
    times = [record.at for record in jumping.records]
    assert times == sorted(times) and times[0] >= 0
    assert all(record.body["took"] >= 0 for record in jumping.records if record.kind == "outcome")
    assert [record[:5] for record in jumping.records] == [record[:5] for record in calm.records]


BEFORE_1970 = """
import sys, time
real = time.time
time.time = lambda: real() - 3e9
from fdc_toolchain.cli.fast_path import entry
entry()
"""


def test_a_clock_before_1970_hides_no_run(workspace: Path) -> None:
    """Failure test 10: what such a clock wrote is shown, and later runs are not held up."""
    (workspace / "a.plan").write_text(PLAN)
    old = run_process([sys.executable, "-c", BEFORE_1970, "run", "a.plan"], cwd=workspace)
    assert (0, "") == (old.returncode, old.stderr)
    (workspace / "b.txt").unlink()
    assert 0 == fdc("run", "a.plan", cwd=workspace).returncode
    listed = json.loads(fdc("runs", "--format", "json", cwd=workspace).stdout)["runs"]
    assert ["19", "20"] == [row["started"][:2] for row in listed]


class Signal:
    """A connection during whose `number`-th statement a signal comes: Python raises when the statement has been done."""

    def __init__(self, db: Any, number: int) -> None:
        self.db, self.number = db, number

    def __getattr__(self, name: str) -> Any:
        return getattr(self.db, name)

    def execute(self, *given: Any) -> Any:
        done = self.db.execute(*given)
        self.number -= 1
        if not self.number:
            raise KeyboardInterrupt
        return done


def test_a_signal_during_any_statement_damages_no_record_and_loses_no_outcome(
    tmp_path: Path,
) -> None:
    """Ctrl-C comes most often while a commit waits for the disk; the record is there, and nobody told the journal so."""
    made = program(
        step("read", "xs", what="items"), loop("fork", "x", "{xs}", step("fire")), step("fire")
    )
    path, number, struck = tmp_path / "runs.sqlite", 0, True
    while struck:
        number, struck, witness = number + 1, False, Witness()
        with closing(Store(str(path), KEY)) as store:
            store.create(str(number), "a.plan", made, {}, 1.0)
            row = store.run(str(number))
            assert row is not None
            journal = store.claim(row)
            journal._db = store._db = Signal(store._db, number)  # type: ignore[assignment]
            try:
                assert run(made, witness, journal=journal).status == "finished"
            except KeyboardInterrupt:
                struck = True
                journal.close_run("interrupted", {}, 2.0)
        with closing(Store(str(path), KEY)) as store:
            assert store.check(row.id).faults == (), number
            journal = store.claim(row)
            again = run(made, witness, journal=journal)
            assert again.status == "finished", (number, again)
            assert witness.repeated("once") == [] and witness.times("main/3") == 1, number
    assert number > 10


@contextlib.contextmanager
def small_disk(folder: Path, size: str) -> Iterator[Path]:
    """A file system with so little room that it is soon full."""
    folder.mkdir()
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size}", "none", str(folder)], capture_output=True
    )
    if made.returncode:
        pytest.skip(
            "no file system can be mounted here; tests/fault/test_kill.py fills one by a limit"
        )
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True, capture_output=True)


@pytest.mark.slow
def test_a_disk_that_is_really_full_stops_the_controller_and_not_the_run(tmp_path: Path) -> None:
    """Failure test 9."""
    with small_disk(tmp_path / "disk", "1m") as disk:
        (disk / "knowledge_core").mkdir()
        (disk / "p.plan").write_text(PLAN)
        ballast = disk / "ballast"
        ends = []
        for room in (0, 60_000, 200_000):
            free = os.statvfs(disk)
            ballast.write_bytes(b"x" * max(0, free.f_bavail * free.f_bsize - room))
            done = fdc("run", "p.plan", cwd=disk)
            assert "Traceback" not in done.stdout + done.stderr
            assert done.returncode in (0, 3), (room, done.stdout, done.stderr)
            ends.append(done.returncode)
            ballast.unlink()
            listed = fdc("runs", "--format", "json", cwd=disk)
            assert listed.returncode == 0, listed.stderr
            for one in json.loads(listed.stdout)["runs"]:
                if one["status"] in ("broken", "interrupted", "new"):
                    went = fdc("resume", one["run"], cwd=disk)
                    assert went.returncode == 0, went.stdout + went.stderr
                assert fdc("verify", one["run"], cwd=disk).returncode == 0
            if (disk / "b.txt").exists():
                assert (disk / "b.txt").read_text() == "one\n+\n+\n+\n"
                (disk / "b.txt").unlink()
        assert 3 in ends


@pytest.mark.slow
def test_where_the_disk_gets_full_the_end_says_what_resume_will_ask(
    tmp_path: Path,
) -> None:
    """Failure test 9: a command fills the disk; soon after it an announcement or an outcome cannot be recorded."""
    plan = (
        "set_plan x\nplan_step_complete x\nrun_in_bash_session head -c 9m /dev/zero > big; true\n"
        "iterate max 14\n    run_in_bash_session true\nclose_task\nsubmit\n"
    )
    with small_disk(tmp_path / "disk", "1m") as disk:
        (disk / "knowledge_core").mkdir()
        (disk / "p.plan").write_text(plan)
        free = os.statvfs(disk)
        ballast = disk / "ballast"
        ballast.write_bytes(b"x" * free.f_bavail * free.f_bsize)
        done = fdc("run", "p.plan", cwd=disk)
        assert (done.returncode, done.stderr.count("\n")) == (3, 1), done.stderr
        ballast.unlink()
        done = fdc("run", "p.plan", cwd=disk)
        assert (disk / ".fdc/.gitignore").read_text() == "*\n"
        assert done.returncode == 3, done.stdout + done.stderr
        (disk / "big").unlink()
        shown = json.loads(fdc("show", "last", "--format", "json", cwd=disk).stdout)
        steps = sum(record["kind"] == "outcome" for record in shown["records"])
        assert f"stopped after {steps} steps, " in done.stdout
        went = fdc("resume", "last", cwd=disk)
        assert ("all steps are recorded" in done.stdout) == (went.returncode == 0)
        assert ("no outcome: " in done.stdout) == (went.returncode == 5)
        assert fdc("resume", "last", "--all", "--assume", "done", cwd=disk).returncode == 0


@pytest.mark.parametrize(
    ("command", "code", "said"),
    [
        ("fdc --version > /dev/full", 3, "fdc: No space left on device (stdout)\n"),
        ("fdc runs > /dev/full", 3, "fdc: No space left on device (stdout)\n"),
        ("fdc run absent 2> /dev/full", 3, ""),
        ("fdc run p.plan >&-", 0, ""),
        ("fdc run p.plan <&- >&- 2>&-", 0, ""),
    ],
)
def test_a_stream_that_is_full_or_closed_gives_a_documented_code(
    workspace: Path, command: str, code: int, said: str
) -> None:
    (workspace / "p.plan").write_text("set_plan x\nplan_step_complete x\nclose_task\nsubmit\n")
    path = f"{Path(sys.executable).parent}:/usr/bin:/bin"
    done = run_process(["bash", "-c", command], cwd=workspace, env={"PATH": path})
    assert (done.returncode, done.stderr) == (code, said)


@pytest.mark.long
def test_a_real_process_that_is_killed_around_its_commits_goes_on(workspace: Path) -> None:
    """Failure test 2: SIGKILL before and after appends and effects of a real `fdc run`; the soak takes every moment."""
    every(workspace, 13)


@pytest.mark.soak
def test_a_real_process_that_is_killed_at_any_moment_goes_on(workspace: Path) -> None:
    every(workspace, 1)


def every(workspace: Path, stride: int) -> None:
    (workspace / "p.plan").write_text(PLAN)
    calm = killed_at(0, workspace, "run", "p.plan")
    assert calm.returncode == 0, calm.stderr
    moments = int(calm.stderr.split()[-1])
    expected = (workspace / "b.txt").read_bytes()
    for number in range(1, moments + 1, stride):
        (workspace / "b.txt").unlink(missing_ok=True)
        assert killed_at(number, workspace, "run", "p.plan").returncode == -signal.SIGKILL
        name = json.loads(fdc("runs", "--format", "json", cwd=workspace).stdout)["runs"][-1]["run"]
        done = fdc("resume", name, cwd=workspace)
        assert done.returncode == 0, (number, done.stdout, done.stderr)
        assert (workspace / "b.txt").read_bytes() == expected and not (workspace / "a.txt").exists()
    assert fdc("verify", cwd=workspace).returncode == 0


@pytest.mark.slow
def test_the_commands_of_a_killed_controller_die_with_it(workspace: Path) -> None:
    """SIGKILL leaves the controller no time to end anything; also what a command left in the background dies."""
    (workspace / "p.plan").write_text(
        "set_plan x\nplan_step_complete x\nrun_in_bash_session (sleep 987651 &); echo > began; sleep 987652\n"
        "close_task\nsubmit\n"
    )
    (workspace / "began").write_text("")
    with fdc_started("run", "p.plan", cwd=workspace) as driver:
        wait_for(lambda: (workspace / "began").read_text() and working_in(workspace))
        driver.kill()
        wait_for(lambda: not working_in(workspace))
