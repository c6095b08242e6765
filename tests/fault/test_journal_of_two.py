"""A journal that two workspaces would write: by a symbolic link, or by a second name of the file."""

from __future__ import annotations

import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.support.process import fdc

PLAN = "set_plan x\nplan_step_complete x\nwho <- request_user_input who?\nmessage_user {who}\nclose_task\nsubmit\n"
WRITES = (
    ["run", "a.plan"],
    ["resume", "last", "--answer", "Ann"],
    ["answer", "last", "Ann"],
    ["fork", "last@main/3"],
    ["cancel", "last"],
    ["runs", "prune", "--older", "0d"],
)


@pytest.fixture
def two(workspace: Path, tmp_path: Path) -> tuple[Path, Path]:
    """A workspace with a run that waits, and one without runs."""
    other = tmp_path / "other"
    for folder in (workspace, other):
        folder.mkdir(exist_ok=True)
        (folder / "knowledge_core").mkdir(exist_ok=True)
        (folder / "a.plan").write_text(PLAN)
    assert fdc("run", "a.plan", cwd=workspace).returncode == 5
    return workspace, other


def contents(journal: Path) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(f"file:{journal}?mode=ro", uri=True)) as db:
        return db.execute("SELECT name, status, epoch, seq FROM run ORDER BY id").fetchall()


@pytest.mark.slow
def test_no_command_records_through_a_link_in_the_place_of_the_records(
    two: tuple[Path, Path],
) -> None:
    """`fdc fork`, `cancel` and `prune` wrote where `fdc run` refused to."""
    workspace, other = two
    (other / ".fdc").symlink_to(workspace / ".fdc")
    before = contents(workspace / ".fdc/runs.sqlite")
    said = f"{other}/.fdc: is a symbolic link, so runs would be recorded outside the workspace"
    for words in WRITES:
        done = fdc(*words, cwd=other)
        assert (done.returncode, done.stderr) == (3, f"fdc: {said}\n"), words
    assert contents(workspace / ".fdc/runs.sqlite") == before
    assert fdc("show", "last", cwd=other).returncode == 0
    assert [line.split(None, 2)[1:] for line in fdc("doctor", cwd=other).stdout.splitlines()
            if line.startswith("bad   runs ")] == [["runs", said]]  # fmt: skip


@pytest.mark.slow
def test_a_journal_with_two_names_is_not_written(two: tuple[Path, Path]) -> None:
    """Each name has a write-ahead log of its own: the runs of one were lost when the other was merged."""
    workspace, other = two
    shutil.copytree(workspace / ".fdc", other / ".fdc")
    journal = other / ".fdc/runs.sqlite"
    journal.unlink()
    os.link(workspace / ".fdc/runs.sqlite", journal)
    before = contents(journal)
    for folder in two:
        for words in WRITES:
            if words[0] == "answer":
                continue  # it writes a file of its own beside the journal
            done = fdc(*words, cwd=folder)
            assert done.returncode == 3, words
            assert f"{folder}/.fdc/runs.sqlite: the file has another name (a hard link)" in done.stderr  # fmt: skip
        assert "the file has another name" in fdc("doctor", cwd=folder).stdout
        assert fdc("show", "last", cwd=folder).returncode == 0
    assert contents(journal) == before
    shutil.copy(journal, other / "copy")
    os.replace(other / "copy", journal)
    for folder in two:
        assert fdc("run", "a.plan", cwd=folder).returncode == 5


@pytest.mark.slow
def test_commands_that_find_no_runs_make_no_records(tmp_path: Path) -> None:
    (tmp_path / "w/knowledge_core").mkdir(parents=True)
    for words in WRITES[1:]:
        fdc(*words, cwd=tmp_path / "w")
        assert not (tmp_path / "w/.fdc").exists(), words
