"""Several workspaces in one repository, and commands that are typed in another folder than their workspace."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.plans import CLEAN
from tests.support.process import fdc

RAGGED = CLEAN.replace("set_plan ", "set_plan   ")


@pytest.fixture
def mono(tmp_path: Path) -> Path:
    """A repository with the workspaces `one` and `two/deep`; the plan of each reads a file that only its folder has."""
    (tmp_path / ".git").mkdir()
    for name, mark in (("one", "fdc.toml"), ("two/deep", "pyproject.toml")):
        place = tmp_path / name
        (place / "docs").mkdir(parents=True)
        (place / "docs/tea.md").write_text("Tea.\n")
        (place / mark).write_text("[tool.fdc]\n" if mark == "pyproject.toml" else "")
        (place / "go.plan").write_text(CLEAN)
    return tmp_path


def test_without_paths_a_command_outside_means_its_workspace(mono: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "other.plan").write_text(RAGGED.replace("read_file", "raed_file"))
    (mono / "one/go.plan").write_text(RAGGED)
    for cwd, name in ((elsewhere, str(mono / "one")), (mono, "one")):
        for words in ((), ("--no-cache",)):
            done = fdc("lint", "--workspace", name, *words, cwd=cwd)
            assert (done.returncode, done.stdout) == (0, "1 plan proved, no findings\n"), done
        done = fdc("fmt", "--check", "--workspace", name, cwd=cwd)
        assert done.returncode == 1 and "other.plan" not in done.stdout, done
    assert 0 == fdc("fmt", "--workspace", str(mono / "one"), cwd=elsewhere).returncode
    assert (mono / "one/go.plan").read_text() == CLEAN
    assert (elsewhere / "other.plan").read_text().startswith(RAGGED[:20])
    (mono / "one/sub").mkdir()
    done = fdc("lint", "--workspace", "..", cwd=mono / "one/sub")
    assert done.stdout == "no plans found\n", "inside of the workspace the current folder counts"
