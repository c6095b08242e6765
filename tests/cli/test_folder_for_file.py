"""A folder in place of a file is wrong usage, and said to be a folder, by every command that reads the file."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.inside import fdc


@pytest.mark.parametrize(
    "words",
    [
        "analyze dir", "expand dir", "certify dir", "run dir", "validate dir", "import dir", "diff dir dir",
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


@pytest.mark.parametrize(
    "words",
    ["certify a.plan --output dir", "lint a.plan --output dir", "graph a.plan --output dir"],
)
def test_a_folder_in_place_of_what_is_written_is_named(workspace: Path, words: str) -> None:
    """The message named the temporary file beside it."""
    (workspace / "dir").mkdir()
    (workspace / "a.plan").write_text("set_plan x\nplan_step_complete y\nclose_task\nsubmit\n")
    done = fdc(*words.split(), cwd=workspace)
    assert done.returncode in (2, 3) and "dir" in done.stderr and ".tmp" not in done.stderr, done
    assert ["a.plan", "dir"] == sorted(
        path.name for path in workspace.iterdir() if path.name in ("a.plan", "dir") or ".tmp" in path.name
    )  # fmt: skip


def test_a_new_folder_that_cannot_be_made_is_named(workspace: Path) -> None:
    (workspace / "file").write_text("")
    (workspace / "theirs/alphabet/primitives").mkdir(parents=True)
    index = workspace / "theirs/alphabet/primitives/index.yaml"
    index.write_text("primitives: [{id: P001, label: one}]\n")
    done = fdc("alphabet", "import", "theirs", "--into", "/proc/mine", cwd=workspace)
    assert 3 == done.returncode and done.stderr.startswith("fdc: /proc/mine: "), done
