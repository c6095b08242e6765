"""Folders into which fdc may not look, as those of somebody whose umask is 077: each is named, and what to do about it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.process import clean_environment, fdc

PLAN = "set_plan x\nplan_step_complete x\nclose_task\nsubmit\n"


def humbly(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """A command of fdc that may not look into every folder. Root may, unless it gave that right away."""
    humble = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"]
    if os.getuid() != 0:
        humble = []
    elif not shutil.which("setpriv"):
        pytest.skip("there is no `setpriv`")
    return subprocess.run(
        [*humble, Path(sys.executable).parent / "fdc", *words], cwd=folder, env=clean_environment(),
        capture_output=True, text=True,
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("words", [("runs",), ("show", "last"), ("report", "last"), ("doctor",)])
def test_a_closed_folder_is_named(tmp_path: Path, words: tuple[str, ...]) -> None:
    (tmp_path / "a.plan").write_text(PLAN)
    assert fdc("run", "a.plan", cwd=tmp_path).returncode == 0
    records = tmp_path / ".fdc"
    records.chmod(0)
    try:
        done = humbly(tmp_path, *words)
    finally:
        records.chmod(0o755)
    said = f"{records}/runs.sqlite: permission denied"
    if words == ("doctor",):
        assert f"bad   runs                    {said}" in done.stdout, done
    else:
        assert (3, "", f"fdc: {said}\n") == (done.returncode, done.stdout, done.stderr), done


@pytest.mark.slow
def test_the_runs_in_a_folder_that_takes_no_new_file_can_be_read(tmp_path: Path) -> None:
    """SQLite cannot make the file that its readers share; the runs could be read only where the journal was closed, too."""
    (tmp_path / "a.plan").write_text(PLAN)
    assert fdc("run", "a.plan", cwd=tmp_path).returncode == 0
    records = tmp_path / ".fdc"
    records.chmod(0o500)
    try:
        for words in (("runs",), ("show", "last"), ("verify", "last")):
            done = humbly(tmp_path, *words)
            assert (done.returncode, done.stderr) == (0, ""), done
        done = humbly(tmp_path, "run", "a.plan")
        said = f"fdc: {records}/runs.sqlite: attempt to write a readonly database (its folder cannot be written)\n"
        assert (done.returncode, done.stderr) == (3, said)
    finally:
        records.chmod(0o755)


@pytest.mark.slow
@pytest.mark.skipif(os.getuid() != 0, reason="only root gives files away")
@pytest.mark.parametrize("words", [("runs",), ("run", "a.plan"), ("resume", "last")])
def test_whose_runs_they_are_is_said_in_a_folder_of_several_users(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    """It said only that the database cannot be opened, and not what to do."""
    (tmp_path / "a.plan").write_text(PLAN)
    assert fdc("run", "a.plan", cwd=tmp_path).returncode == 0
    for path in (tmp_path / ".fdc").glob("runs.sqlite*"):
        os.chown(path, 54321, 54321)
    done = humbly(tmp_path, *words)
    assert done.returncode == 3, done
    assert "(permission denied: the runs are those of the user `54321`, and private;" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("words", [("lint",), ("run", "a.plan")])
def test_the_notes_of_text_from_outside_of_another_user_are_named(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    """It said only that permission was denied, and not what to do."""
    (tmp_path / "a.plan").write_text(PLAN)
    assert fdc("run", "a.plan", cwd=tmp_path).returncode == 0
    table = tmp_path / ".fdc/outside.jsonl"
    table.write_text("")
    table.chmod(0)
    done = humbly(tmp_path, *words)
    said = "it may not be read, so it is unknown which files hold text from outside: work in a clone of your own"
    assert (done.returncode, done.stderr) == (3, f"fdc: {said} ({table})\n")


@pytest.mark.slow
@pytest.mark.parametrize("words", [("lint",), ("lint", "--no-cache"), ("fmt", "--check")])
def test_a_closed_folder_below_can_be_left_out(tmp_path: Path, words: tuple[str, ...]) -> None:
    """As a database in a container leaves one. The message did not say what to do, and no plan was checked."""
    (tmp_path / "a.plan").write_text(PLAN)
    (tmp_path / "data").mkdir(mode=0)
    try:
        done = humbly(tmp_path, *words)
        assert 3 == done.returncode and done.stderr.startswith("fdc: a folder may not be read; to")
        assert done.stderr.endswith(
            f"`exclude` in the settings, or to .gitignore ({tmp_path}/data)\n"
        )
        (tmp_path / "fdc.toml").write_text('exclude = ["data/"]\n')
        assert humbly(tmp_path, *words).returncode == 0
    finally:
        (tmp_path / "data").chmod(0o755)
