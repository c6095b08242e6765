"""Files that are not what their names say: refused at once, in one sentence (finding B13)."""

from __future__ import annotations

import os
from pathlib import Path
from subprocess import run

import pytest
from fdc_packs.alphabet import yamltext
from fdc_toolchain.linking.project import regular_file
from fdc_toolchain.linking.project.quiet_git import ask_git
from fdc_toolchain.linking.project.settings import SettingsError, read_settings
from fdc_toolchain.runs.records.identity import commit
from fdc_toolchain.tools.web.http import public

from tests.support.process import fdc

BOMB = "a: &a [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{here}: &{here} [{', '.join([f'*{before}'] * 10)}]\n"
    for before, here in zip("abcdefgh", "bcdefghi", strict=True)
)
"""A thousand million values in less than a thousand characters."""


@pytest.mark.parametrize("name", ["fdc.toml", "pyproject.toml", ".gitignore"])
def test_a_pipe_in_place_of_a_settings_file_is_not_waited_for(workspace: Path, name: str) -> None:
    """A writer never comes; a device never ends. A cache that knows the workspace without it is not an excuse."""
    fdc("lint", ".", cwd=workspace)
    os.mkfifo(workspace / name)
    done = fdc("lint", ".", cwd=workspace)
    if name == ".gitignore":
        assert done.returncode == 0, done.stderr
    else:
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == f"fdc: {name} cannot be read: it is not a regular file\n"


@pytest.mark.parametrize("what", ["a pipe", "damaged data"])
def test_a_pipe_or_damaged_data_in_the_cache_is_not_waited_for(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    cache = workspace / "cache"
    monkeypatch.setenv("FDC_CACHE_DIR", str(cache))
    (workspace / "a.plan").write_text("set_plan x\nplan_step_complete y\nclose_task\nsubmit\n")
    said = fdc("lint", fresh=True, cwd=workspace)
    files = [path for path in cache.rglob("*") if path.is_file()]
    assert said.returncode == 0 and len(files) >= 3
    for path in files:
        path.unlink()
        os.mkfifo(path) if what == "a pipe" else path.write_bytes(b"[" * 200_000)
    again = fdc("lint", fresh=True, cwd=workspace)
    assert (again.returncode, again.stdout, again.stderr) == (0, said.stdout, said.stderr)


@pytest.mark.parametrize(
    "name",
    ["knowledge_core/plan_registry.json", ".fdc/runs.sqlite", ".git/config", "packs/x/pack.toml"],
)
def test_a_pipe_in_place_of_a_record_is_not_waited_for(workspace: Path, name: str) -> None:
    (workspace / "a.plan").write_text(
        "set_plan x\nplan_step_complete y\nmessage_user z\nclose_task\nsubmit\n"
    )
    (workspace / name).parent.mkdir(exist_ok=True, parents=True)
    os.mkfifo(workspace / name)
    for command in (["lint"], ["run", "a.plan", "-q"], ["runs"], ["resume"]):
        done = fdc(*command, cwd=workspace)
        if name == ".fdc/runs.sqlite" and command != ["lint"]:
            assert (done.returncode, done.stdout) == (
                3,
                "",
            ) and "runs.sqlite: not a regular file\n" in done.stderr
        elif name.startswith("packs/") and "s" not in command[0]:
            assert done.returncode == 1 and f" --> {name}:1:1" in done.stdout + done.stderr, done
        else:
            assert done.returncode == (2 if command == ["resume"] else 0), done.stderr


def test_a_pipe_as_the_settings_of_a_repository_is_not_waited_for(workspace: Path) -> None:
    """git waits for it, so git is not started."""
    run(["git", "init", "--quiet"], cwd=workspace, check=True)
    (workspace / ".git" / "config").unlink()
    os.mkfifo(workspace / ".git" / "config")
    said = "`.git/config` is not a regular file, and git would wait for it"
    done = fdc("lint", "--changed", cwd=workspace)
    assert (done.returncode, done.stderr) == (3, f"fdc: git failed to list the changes: {said}\n")
    (workspace / "protocols").mkdir()
    done = fdc("protocols", "diff", "--since", "HEAD", cwd=workspace)
    assert (done.returncode, done.stderr) == (3, f"fdc: git: {said}\n")
    assert said in fdc("doctor", cwd=workspace).stdout
    assert commit(str(workspace)) is None


def test_settings_of_git_that_are_the_null_device_are_read(workspace: Path) -> None:
    """Whoever wants none names it in `GIT_CONFIG_GLOBAL`; git does not wait for it."""
    run(["git", "init", "--quiet"], cwd=workspace, check=True)
    (workspace / "plan.txt").write_text("set_plan a\nplan_step_complete b\nclose_task\nsubmit\n")
    done = fdc("lint", "--changed", cwd=workspace, env={"GIT_CONFIG_GLOBAL": os.devnull})
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    "command", [["fmt"], ["fmt", "--check"], ["migrate"], ["rules", "--check"]]
)
@pytest.mark.parametrize("device", [False, True])
def test_a_pipe_or_a_device_as_an_input_is_refused(
    workspace: Path, command: list[str], device: bool
) -> None:
    path = workspace / "a.plan"
    path.symlink_to("/dev/zero") if device else os.mkfifo(path)
    done = fdc(*command, "a.plan", cwd=workspace)
    assert (done.returncode, done.stderr) == (3, "fdc: it is not a regular file (a.plan)\n")


def test_settings_beyond_a_size_are_refused(workspace: Path) -> None:
    (workspace / "fdc.toml").write_bytes(b"#" * (regular_file.MOST + 1))
    with pytest.raises(
        SettingsError, match=f"fdc.toml cannot be read: it has more than {regular_file.MOST} bytes"
    ):
        read_settings(str(workspace))
    (workspace / "fdc.toml").write_bytes(b"#" * regular_file.MOST)
    read_settings(str(workspace))


@pytest.mark.parametrize(
    "name", ["fdc_tools.json", "a.plan", ".fdc/outside.jsonl", "tooling/fdc_fsm.json"]
)
def test_a_file_with_a_hole_of_any_size_is_not_read(workspace: Path, name: str) -> None:
    """It takes no room on the disk, and all of the machine's memory."""
    plan = "set_plan x\nplan_step_complete y\nclose_task\nsubmit\n"
    (workspace / "a.plan").write_text(plan)
    path = workspace / name
    path.parent.mkdir(exist_ok=True)
    with path.open("ab") as file:
        file.truncate(1 << 42)
    done = fdc("lint", "a.plan", cwd=workspace)
    assert (done.returncode, done.stdout) == (3, "") and f"bytes ({path})" in done.stderr


def test_aliases_that_stand_for_more_than_anybody_reads_are_refused() -> None:
    with pytest.raises(yamltext.NotYaml, match="stand for more than"):
        yamltext.parse(BOMB)
    assert yamltext.parse("a: &a [1, 2]\nb: [*a, '*c']\nc: x * y\n") == {
        "a": [1, 2],
        "b": [[1, 2], "*c"],
        "c": "x * y",
    }
    with pytest.raises(yamltext.NotYaml):
        yamltext.parse("a: &a [*a]\n")


def test_the_host_of_a_rented_machine_is_not_public() -> None:
    """168.63.129.16 answers every machine of one provider, and gives it its settings."""
    assert not public("168.63.129.16") and not public("::ffff:168.63.129.16")
    assert public("168.63.129.17")


@pytest.mark.parametrize("name", ["sub/.gitignore", "sub/deep/.gitattributes"])
def test_a_pipe_in_a_folder_keeps_no_look_at_changes_waiting(workspace: Path, name: str) -> None:
    """`git ls-files --others` reads `.gitignore` in every folder; in a repository within nobody reads it."""
    run(["git", "init", "-q"], cwd=workspace, check=True)
    run(["git", "init", "-q", "within"], cwd=workspace, check=True)
    (workspace / name).parent.mkdir(parents=True)
    os.mkfifo(workspace / "within" / ".gitignore")
    assert 0 == ask_git(str(workspace), "ls-files", "--others", "--exclude-standard").returncode
    os.mkfifo(workspace / name)
    for below in ("", "sub", "sub/deep"):
        with pytest.raises(OSError, match=f"`{name}` is not a regular file"):
            ask_git(str(workspace / below), "ls-files", "--others", "--exclude-standard", seconds=9)
    assert 0 == ask_git(str(workspace), "rev-parse", "--git-dir").returncode
