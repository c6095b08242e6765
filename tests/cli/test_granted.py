"""What a plan needs of this machine and its operator is looked at before the first step: a run does not begin without it."""

import json
import os
import shutil
from pathlib import Path

import pytest

from tests.cli.test_run import run_name, write
from tests.support.process import fdc

ALLOW = "allow run *\nallow net *\n"


def there(workspace: Path) -> list[str]:
    return sorted(str(path.relative_to(workspace)) for path in workspace.rglob("*"))


def test_all_that_is_absent_is_said_at_once_and_nothing_is_written(workspace: Path) -> None:
    write(
        workspace,
        "_x <- google_search tea",
        "run_in_bash_session unheard-of --all",
        "reply_to_pr_comments hello",
        head=ALLOW,
    )
    assert fdc("lint", "a.plan", cwd=workspace).returncode == 0
    before = there(workspace)
    done = fdc("run", "a.plan", cwd=workspace)
    assert (done.returncode, done.stdout) == (3, "")
    head, *lines = done.stderr.splitlines()
    assert (
        head
        == "fdc: the run cannot begin, because this machine or its operator does not provide what the plan needs:"
    )
    assert [line.split(",")[0].split(":")[0] for line in lines] == [
        "  an implementation of `reply_to_pr_comments`", "  the program `unheard-of`", "  the web", "  a search provider",
    ]  # fmt: skip
    assert there(workspace) == before and "no run" in fdc("runs", cwd=workspace).stdout


def test_what_is_granted_is_not_asked_for(workspace: Path) -> None:
    write(workspace, "_x <- google_search tea", head="allow net *\n")
    granted = {"FDC_ALLOW_WEB": "1", "FDC_SEARXNG_URL": "http://127.0.0.1:9"}
    done = fdc("run", "a.plan", cwd=workspace, env=granted)
    assert (
        done.returncode == 1 and "no search provider answered" in done.stdout
    )  # that is known by asking only


def test_a_step_that_may_never_be_reached_counts(workspace: Path) -> None:
    write(
        workspace,
        "answer <- request_user_input Search?",
        'if answer == "yes"',
        "  _x <- google_search tea",
    )
    done = fdc("run", "a.plan", cwd=workspace)
    assert done.returncode == 3 and "the web, for `google_search`" in done.stderr


def test_a_simulated_run_needs_nothing_and_a_dry_run_says_what_a_run_would(workspace: Path) -> None:
    write(workspace, "google_search tea", "run_in_bash_session unheard-of", head=ALLOW)
    (workspace / "script.json").write_text('{"format": 1}')
    done = fdc("run", "a.plan", "--simulate", "script.json", cwd=workspace)
    assert done.returncode == 0, done.stderr
    before = there(workspace)
    dry = fdc("run", "a.plan", "--dry-run", cwd=workspace)
    assert (
        dry.returncode == 0
        and "the run cannot begin without the program `unheard-of`" in dry.stdout
    )
    assert there(workspace) == before


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """A program on the PATH that somebody can take away."""
    folder = tmp_path / "programs"
    folder.mkdir()
    (folder / "steep").write_text("#!/bin/sh\necho steeped\n")
    (folder / "steep").chmod(0o755)
    return folder / "steep"


def test_a_run_goes_on_without_what_only_its_past_needed(workspace: Path, program: Path) -> None:
    env = {"PATH": f"{program.parent}:{os.environ['PATH']}"}
    write(
        workspace,
        "run_in_bash_session steep",
        "answer <- request_user_input Good?",
        "message_user {answer}",
    )
    done = fdc("run", "a.plan", cwd=workspace, env=env)
    assert done.returncode == 5 and "Good?" in done.stdout, done.stderr
    program.unlink()
    done = fdc("resume", run_name(done.stdout), "--answer", "very", cwd=workspace, env=env)
    assert done.returncode == 0 and "very" in done.stdout


def test_a_run_does_not_go_on_without_what_is_left_of_it_needs(
    workspace: Path, program: Path
) -> None:
    env = {"PATH": f"{program.parent}:{os.environ['PATH']}"}
    write(
        workspace,
        "answer <- request_user_input Good?",
        "run_in_bash_session steep",
        "message_user {answer}",
    )
    name = run_name(fdc("run", "a.plan", cwd=workspace, env=env).stdout)
    kept = program.with_name("kept")
    program.rename(kept)
    record = fdc("show", name, "--format", "json", cwd=workspace).stdout
    done = fdc("resume", name, "--answer", "very", cwd=workspace, env=env)
    assert done.returncode == 3
    assert done.stderr.startswith(
        f"fdc: the run {name} cannot continue, because this machine or its operator"
    )
    assert "  the program `steep`, which a command names" in done.stderr
    assert fdc("show", name, "--format", "json", cwd=workspace).stdout == record
    kept.rename(program)
    assert fdc("resume", name, "--answer", "very", cwd=workspace, env=env).returncode == 0


def test_a_failed_step_that_is_tried_again_counts_as_what_is_left(
    workspace: Path, program: Path
) -> None:
    env = {"PATH": f"{program.parent}:{os.environ['PATH']}"}
    write(workspace, "run_in_bash_session steep && test -e go")
    name = run_name(fdc("run", "a.plan", cwd=workspace, env=env).stdout)
    program.unlink()
    done = fdc("resume", name, "--retry", cwd=workspace, env=env)
    assert done.returncode == 3 and "the program `steep`" in done.stderr


def test_a_program_that_the_run_itself_may_install_is_looked_for_when_it_is_used(
    workspace: Path,
) -> None:
    (workspace / "bin").mkdir()
    write(workspace, r"run_in_bash_session printf '#!/bin/sh\necho made\n' > bin/made && chmod +x bin/made",
          "run_in_bash_session made", head="allow write bin/**\nallow run *\n")  # fmt: skip
    done = fdc(
        "run", "a.plan", cwd=workspace, env={"PATH": f"{workspace}/bin:{os.environ['PATH']}"}
    )
    assert "on the PATH of this machine" not in done.stderr and done.returncode != 3, (
        done.stdout + done.stderr
    )


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_a_program_of_a_tool_is_one_of_them(workspace: Path, tmp_path: Path) -> None:
    write(workspace, "git_add a.plan")
    bare = tmp_path / "bare"
    bare.mkdir()
    for name in ("bash", "bwrap", "true"):
        if (found := shutil.which(name)) is not None:
            (bare / name).symlink_to(found)
    done = fdc("run", "a.plan", cwd=workspace, env={"PATH": str(bare)})
    assert done.returncode == 3 and "the program `git`, for `git_add`" in done.stderr


def test_json_says_it_on_stderr_too(workspace: Path) -> None:
    write(workspace, "google_search tea")
    done = fdc("run", "a.plan", "--format", "json", cwd=workspace)
    assert done.returncode == 3 and "the web" in done.stderr
    assert "the web" in json.loads(done.stdout)["error"]["message"]
    assert json.loads(fdc("runs", "--format", "json", cwd=workspace).stdout)["runs"] == []
