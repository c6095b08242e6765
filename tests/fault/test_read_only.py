"""A workspace on a file system that is mounted read-only: what was done there can be read."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.process import fdc

PLAN = "set_plan x\nplan_step_complete x\nclose_task\nsubmit\n"


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[Path]:
    """A workspace with a run, on a file system that is then mounted read-only."""
    folder = tmp_path / "kept"
    folder.mkdir()
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=8m", "none", str(folder)], capture_output=True
    )
    if made.returncode:
        pytest.skip("no file system can be mounted here")
    try:
        (folder / "knowledge_core").mkdir()
        (folder / "a.plan").write_text(PLAN)
        assert fdc("run", "a.plan", cwd=folder).returncode == 0
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True, capture_output=True)


@pytest.mark.slow
def test_the_runs_of_a_read_only_workspace_can_be_read(kept: Path, tmp_path: Path) -> None:
    """SQLite cannot make the file that its readers share there; nobody could see a run on such a disk."""
    subprocess.run(["mount", "-o", "remount,ro", str(kept)], check=True, capture_output=True)
    for words in (["runs"], ["show", "last"], ["verify", "last"], ["replay", "last"],
                  ["report", "last", "--output", str(tmp_path / "r.html")]):  # fmt: skip
        done = fdc(*words, cwd=kept)
        assert (done.returncode, done.stderr) == (0, ""), words
    done = fdc("run", "a.plan", cwd=kept)
    said = f"fdc: {kept}/.fdc/runs.sqlite: unable to open database file (read-only file system)\n"
    assert (done.returncode, done.stderr) == (3, said)


@pytest.mark.slow
def test_what_sqlite_has_not_merged_yet_is_not_passed_over(kept: Path) -> None:
    """Without the log beside it the journal would be an older one: then nothing is read."""
    path = kept / ".fdc/runs.sqlite"
    script = (
        "import os, sqlite3, sys\ndb = sqlite3.connect(sys.argv[1])\n"
        "db.execute('PRAGMA wal_autocheckpoint=0')\ndb.execute('CREATE TABLE x(y)')\ndb.commit()\n"
        "os.unlink(sys.argv[1] + '-shm')\nos._exit(0)\n"
    )
    subprocess.run(["python3", "-c", script, str(path)], check=True)
    assert os.path.getsize(f"{path}-wal")
    subprocess.run(["mount", "-o", "remount,ro", str(kept)], check=True, capture_output=True)
    done = fdc("runs", cwd=kept)
    assert (done.returncode, done.stdout) == (3, "")
    assert "unable to open database file (read-only file system)" in done.stderr


@pytest.mark.slow
def test_a_journal_for_which_the_system_makes_no_file_says_why(kept: Path) -> None:
    """A quota, or a file system without room for one more file: SQLite says the same of all."""
    subprocess.run(["mount", "-o", "remount,nr_inodes=64", str(kept)], check=True)
    for number in range(64):
        try:
            (kept / f"more{number}").touch()
        except OSError:
            break
    done = fdc("runs", cwd=kept)
    said = f"fdc: {kept}/.fdc/runs.sqlite: unable to open database file (no space left on device)\n"
    assert (done.returncode, done.stderr) == (3, said)


def test_a_workspace_whose_path_is_too_long_for_sqlite_is_told_so(tmp_path: Path) -> None:
    top = tmp_path / ("a" * 200)
    for size, code in ((487, 0), (488, 3)):
        rest = size - len(os.fsencode(top)) - 2
        folder = top / ("b" * (rest - 10 - rest // 2)) / ("c" * (10 + rest // 2))
        (folder / "knowledge_core").mkdir(parents=True)
        assert len(os.fsencode(folder)) == size
        (folder / "a.plan").write_text(PLAN)
        done = fdc("run", "a.plan", "-q", cwd=folder)
        assert done.returncode == code, done
    said = "unable to open database file (its path has 505 bytes, and SQLite opens a file with at most 504: move the workspace)"
    assert said in done.stderr
