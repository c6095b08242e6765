"""What a command makes that no command makes, where fdc is killed with the command: the next fdc takes it away."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from fdc_toolchain.sandbox import views
from fdc_toolchain.tools import under_way
from fdc_toolchain.tools.under_way import FOLDER
from fdc_toolchain.workspace.files import Root

from tests.support.background import fdc_started, wait_for
from tests.support.process import fdc
from tests.unit.test_workspace_packs import put

HEAD = "allow write {globs}\nallow run *\nset_plan Wait\nplan_step_complete begun\n"
MAKES = "mkdir -p sub/lib && git init -q sub/lib && echo evil > sub/.envrc && touch sub/begun; while [ ! -e sub/go ]; do :; done"


def write(workspace: Path, name: str, command: str, globs: str = "sub/**") -> None:
    (workspace / name).write_text(
        f"{HEAD.format(globs=globs)}run_in_bash_session {command}\nclose_task\nsubmit\n"
    )


@pytest.fixture
def prepared(workspace: Path) -> Path:
    (workspace / "sub").mkdir()
    (workspace / ".git").mkdir()
    write(workspace, "wait.plan", MAKES)
    write(workspace, "look.plan", "ls -A sub")
    return workspace


def kept(workspace: Path) -> set[str]:
    return {path.name.partition("-")[2] for path in workspace.glob(".fdc/runs/*/refused/*")}


def test_the_next_run_takes_away_what_a_killed_one_left_and_says_so(prepared: Path) -> None:
    with fdc_started("run", "wait.plan", cwd=prepared) as killed:
        wait_for((prepared / "sub/begun").exists)
        killed.send_signal(signal.SIGKILL)
        killed.wait()
    assert (prepared / "sub/.envrc").exists() and (prepared / "sub/lib/.git").exists()
    done = fdc("run", "look.plan", cwd=prepared)
    assert done.returncode == 0 and ".envrc" not in done.stdout
    assert (
        "a command that was killed with its fdc had created the protected `sub/.envrc`, `sub/lib/.git`"
        in done.stderr
    )
    assert not (prepared / "sub/.envrc").exists() and not (prepared / "sub/lib/.git").exists()
    assert (prepared / "sub/begun").exists() and kept(prepared) == {".envrc", ".git"}
    assert os.listdir(prepared / FOLDER) == []
    assert fdc("run", "look.plan", cwd=prepared).stderr == ""


def test_settings_in_a_pyproject_that_a_killed_command_changed_are_as_before(
    prepared: Path,
) -> None:
    (prepared / "pyproject.toml").write_text("[project]\n")
    changes = (
        "echo [tool.fdc] >> pyproject.toml; touch sub/begun; while [ ! -e sub/go ]; do :; done"
    )
    write(prepared, "wait.plan", changes, "**")
    with fdc_started("run", "wait.plan", cwd=prepared) as killed:
        wait_for((prepared / "sub/begun").exists)
        killed.send_signal(signal.SIGKILL)
        killed.wait()
    assert (prepared / "pyproject.toml").read_text() == "[project]\n[tool.fdc]\n"
    done = fdc("run", "look.plan", cwd=prepared)
    assert done.returncode == 0 and "`pyproject.toml`" in done.stderr
    assert (prepared / "pyproject.toml").read_text() == "[project]\n"
    assert kept(prepared) == {"pyproject.toml"}


def test_a_pipe_among_the_notes_makes_no_run_wait(prepared: Path) -> None:
    (prepared / FOLDER).mkdir(parents=True)
    os.mkfifo(prepared / FOLDER / "note")
    root = Root(str(prepared))
    assert under_way.cleared(root) == [] and os.listdir(prepared / FOLDER) == []
    root.close()


def test_what_fdc_itself_made_for_a_killed_command_goes_without_a_word(prepared: Path) -> None:
    """A workspace without `.git` has an empty one while a command is under way, which no one may use."""
    (prepared / ".git").rmdir()
    write(prepared, "sleep.plan", "touch sub/begun; while [ ! -e sub/go ]; do :; done", "**")
    with fdc_started("run", "sleep.plan", cwd=prepared) as killed:
        wait_for((prepared / "sub/begun").exists)
        assert (prepared / ".git").is_dir()
        killed.send_signal(signal.SIGKILL)
        killed.wait()
    done = fdc("run", "look.plan", cwd=prepared)
    assert (0, "") == (done.returncode, done.stderr)
    assert set() == kept(prepared) and not (prepared / ".git").exists()


def test_resume_does_so_before_anything_else(prepared: Path) -> None:
    with fdc_started("run", "wait.plan", cwd=prepared) as killed:
        wait_for((prepared / "sub/begun").exists)
        killed.send_signal(signal.SIGKILL)
        killed.wait()
    done = fdc("resume", "last", cwd=prepared)
    assert done.returncode == 5 and "--assume" in done.stdout and "`sub/.envrc`" in done.stderr
    assert not (prepared / "sub/.envrc").exists()


def test_what_a_command_makes_that_is_under_way_is_its_own_run_to_refuse(prepared: Path) -> None:
    with fdc_started("run", "wait.plan", cwd=prepared) as living:
        wait_for((prepared / "sub/begun").exists)
        done = fdc("run", "look.plan", cwd=prepared)
        assert "killed with its fdc" not in done.stderr
        (prepared / "sub/go").touch()
        said, _ = living.communicate()
        assert living.returncode == 1, said
    assert not (prepared / "sub/.envrc").exists() and ".envrc" in kept(prepared)
    assert os.listdir(prepared / FOLDER) == []


@pytest.mark.parametrize(
    "said",
    [
        '{"entries": {',
        "{}",
        "",
        '{"entries": {}, "environments": [], "grants": [], "into": "../elsewhere"}',
    ],
    ids=["torn", "empty object", "empty", "of a clone"],
)
@pytest.mark.parametrize("seal", ["", "0" * 64 + "\n"], ids=["bare", "forged"])
def test_a_note_that_this_user_has_not_sealed_takes_nothing_away(
    prepared: Path, said: str, seal: str
) -> None:
    (prepared / FOLDER).mkdir(parents=True)
    (prepared / FOLDER / "torn").write_text(seal + said)
    (prepared / "sub/.envrc").write_text("mine\n")
    assert fdc("run", "look.plan", cwd=prepared).returncode == 0
    assert (prepared / "sub/.envrc").read_text() == "mine\n" and os.listdir(prepared / FOLDER) == []


def test_a_link_in_the_place_of_the_notes_has_nothing_deleted_where_it_leads(
    prepared: Path, tmp_path: Path
) -> None:
    """A clone may bring it. All files there were taken for notes of nobody."""
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs/letter").write_text("dear\n")
    (prepared / ".fdc").mkdir()
    (prepared / FOLDER).symlink_to(tmp_path / "theirs")
    done = fdc("run", "look.plan", cwd=prepared)
    assert done.returncode == 1 and f"{FOLDER}: not a directory" in done.stdout, done
    assert os.listdir(tmp_path / "theirs") == ["letter"]


def test_a_record_that_another_controller_clears_before_it_is_locked_is_made_again(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Several workers on one workspace: one begins a command while another one looks for what killed controllers left."""
    run = workspace / ".fdc" / "runs" / "r"
    run.mkdir(parents=True)
    lock, seen = under_way.fcntl.flock, []

    def flock(handle: int, how: int) -> None:
        if not seen:
            seen.append(os.listdir(workspace / FOLDER))
            under_way.cleared(root)
            assert [] == os.listdir(workspace / FOLDER)
        lock(handle, how)

    root = Root(str(workspace))
    monkeypatch.setattr(under_way.fcntl, "flock", flock)
    with under_way.noted(root, "main/1", str(run), views.Before({}, frozenset()), (), ()):
        [name] = os.listdir(workspace / FOLDER)
        assert [[f"{name}.new"]] == seen and [] == under_way.cleared(root)
        assert [name] == os.listdir(workspace / FOLDER)
    assert [] == os.listdir(workspace / FOLDER)


def test_what_a_function_of_a_pack_kept_for_its_run_outlives_a_kill(prepared: Path) -> None:
    """Such a file may be the mark by which the function knows that its effect happened."""
    code = (
        "import os, time\ndef pour(args, context):\n    mark = os.path.join(context.run_folder, 'mark')\n"
        "    if os.path.exists(mark):\n        return open(mark).read()\n"
        "    open(mark, 'w').write('poured')\n    open('sub/begun', 'w').close()\n"
        "    while not os.path.exists('sub/go'):\n        time.sleep(0.01)\n"
    )
    put(prepared, code=code, access={"write": ["sub/**"]})
    with fdc_started("run", "a.plan", cwd=prepared) as killed:
        wait_for((prepared / "sub/begun").exists)
        killed.send_signal(signal.SIGKILL)
        killed.wait()
    done = fdc("resume", "last", "--shell-timeout", "20", cwd=prepared)
    assert 0 == done.returncode and "\npoured\n" in done.stdout, done
    assert [] == os.listdir(prepared / FOLDER)
