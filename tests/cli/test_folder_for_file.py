"""A folder in place of a file is wrong usage, and said to be a folder, by every command that reads the file."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.inside import fdc


@pytest.mark.parametrize(
    "words",
    [
        "analyze dir", "expand dir", "validate dir", "import dir", "diff dir dir",
        "lessons add dir", "registry register x dir", "migrate dir",
    ],
)  # fmt: skip
def test_a_folder_is_said_to_be_one(workspace: Path, words: str) -> None:
    (workspace / "dir").mkdir()
    done = fdc(*words.split(), cwd=workspace)
    assert done.returncode == (1 if words.startswith("registry") else 2), done
    assert "`dir` is a folder" in done.stderr and done.stdout == "", done


def test_a_run_that_is_not_there_is_said_in_one_way(workspace: Path) -> None:
    for command in ("verify", "show", "replay", "cancel", "report"):
        said = fdc(command, "x", cwd=workspace).stderr
        assert said == "fdc: no run begins with `x`; `fdc runs` lists them\n", command
