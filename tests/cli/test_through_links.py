"""A workspace that a link leads to (`/tmp` on macOS is one): its plans are those of the workspace, however they are named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.process import fdc

GOOD = "set_plan x\nplan_step_complete x\nclose_task\nsubmit\n"


@pytest.fixture
def linked(tmp_path: Path) -> Path:
    """The path of a workspace through a link above it."""
    (tmp_path / "real/work/knowledge_core").mkdir(parents=True)
    (tmp_path / "link").symlink_to("real")
    work = tmp_path / "link/work"
    (work / "plans").mkdir()
    (work / "plans/a.plan").write_text("raed_file a.md\n")
    (work / "plans/ignored.plan").write_text("raed_file a.md\n")
    (work / ".gitignore").write_text("plans/ignored.plan\n")
    (work / "good.plan").write_text(GOOD)
    return work


@pytest.mark.parametrize("named", ["plans/a.plan", "plans", ""])
@pytest.mark.parametrize("more", [[], ["--no-cache"]], ids=["", "no cache"])
def test_a_code_host_gets_the_path_from_the_top_of_the_repository(
    linked: Path, named: str, more: list[str]
) -> None:
    """It got the absolute path, by which it finds no file; and of a folder also what `.gitignore` leaves out."""
    (linked / ".git").mkdir()
    for folder in (linked, linked / "plans", linked.parent):
        options = ["--workspace", str(linked)] if folder == linked.parent else []
        done = fdc("lint", "-f", "gitlab", str(linked / named), *options, *more, cwd=folder)
        paths = {row["location"]["path"] for row in json.loads(done.stdout)}
        assert (done.returncode, paths) == (1, {"plans/a.plan"}), folder


def test_a_run_is_of_the_plan_by_its_path_in_the_workspace(linked: Path) -> None:
    assert fdc("run", str(linked / "good.plan"), cwd=linked).returncode == 0
    listed = json.loads(fdc("runs", "--format", "json", cwd=linked).stdout)
    assert [row["plan"] for row in listed["runs"]] == ["good.plan"]


def test_plans_behind_a_link_out_of_the_workspace_are_said_and_not_passed_over(tmp_path: Path):
    """`no plans found`, exit 0, without a word."""
    for name in ("work/own", "common"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "a.plan").write_text("raed_file a.md\n")
    work = tmp_path / "work"
    (work / "own/a.plan").write_text(GOOD)
    (work / "again").symlink_to("own")
    for _ in range(2):
        done = fdc("lint", cwd=work)
        assert (done.returncode, done.stdout, done.stderr) == (
            0,
            "1 plan proved, no findings\n",
            "",
        )
    (work / "plans").symlink_to("../common")
    for more in ((), (), ("--no-cache",)):
        done = fdc("lint", *more, cwd=work)
        assert (done.returncode, done.stdout) == (0, "1 plan proved, no findings\n")
        assert done.stderr == (
            "fdc: warning: the plans in plans were not checked: it is a link, which a search does not follow;"
            " name it: fdc lint plans\n"
        )
    assert fdc("lint", "--strict", cwd=work).returncode == 1
    done = fdc("lint", "plans", cwd=work)
    assert (done.returncode, done.stderr) == (1, "")
    (work / ".gitignore").write_text("plans\n")
    assert fdc("lint", cwd=work).stderr == ""


def test_settings_behind_a_link_that_leads_nowhere_are_not_those_by_default(tmp_path: Path):
    """A plan was proved without the rules of the settings that its workspace names."""
    (tmp_path / "a.plan").write_text(GOOD)
    assert fdc("lint", cwd=tmp_path).returncode == 0
    (tmp_path / "fdc.toml").symlink_to("not-checked-out/fdc.toml")
    for words in (["lint"], ["run", "a.plan"], ["fmt", "--check"]):
        done = fdc(*words, cwd=tmp_path)
        assert (done.returncode, done.stderr) == (
            2,
            "fdc: fdc.toml cannot be read: it is a link that leads nowhere\n",
        ), words
