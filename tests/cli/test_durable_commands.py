"""`fdc fork`, `replay`, `cancel`, `diff` and `verify` as a user meets them: real processes on a real workspace."""

from __future__ import annotations

import json
import os
import pwd
import re
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from fdc_toolchain.cli.run.runs import _inputs

from tests.support.background import PATIENCE, fdc_started, wait_for
from tests.support.process import fdc, working_in

PLAN = """param who = "me"
set_plan x
plan_step_complete x
create_file_with_block a.txt
    hi
x <- read_file a.txt
overwrite_file_with_block b.txt
    {x} {who}
close_task
submit
"""


@pytest.fixture
def done(workspace: Path) -> tuple[Path, str]:
    """A workspace with one run that is finished, and the run's name."""
    (workspace / "p.plan").write_text(PLAN)
    assert fdc("run", "p.plan", cwd=workspace).returncode == 0
    return workspace, runs(workspace)[-1]["run"]


def runs(workspace: Path, *options: str) -> list[dict[str, Any]]:
    found = json.loads(fdc("runs", "--format", "json", *options, cwd=workspace).stdout)["runs"]
    assert isinstance(found, list)
    return found


def test_a_fork_takes_over_what_was_done_and_goes_its_own_way(done: tuple[Path, str]) -> None:
    workspace, old = done
    (workspace / "a.txt").write_text("changed since\n")
    made = fdc("fork", f"{old}@main/5", "who=you", cwd=workspace)
    assert made.returncode == 0 and "4 records taken over" in made.stdout, made
    new = runs(workspace)[-1]["run"]
    one = fdc("fork", f"{old}@main/2", cwd=workspace)
    assert one.stdout.splitlines()[-1].startswith("1 record taken over"), one
    went = fdc("resume", new, cwd=workspace)
    assert went.returncode == 0 and "main/4" not in went.stdout
    assert (workspace / "b.txt").read_text() == "hi\n you\n"  # the file was read before the fork
    for name in (old, new):
        assert fdc("replay", name, cwd=workspace).returncode == 0
        assert fdc("verify", name, cwd=workspace).returncode == 0
    differs = fdc("diff", old, new, cwd=workspace)
    assert differs.returncode == 1
    assert differs.stdout.splitlines()[2:4] == ["input who", "  + you"]
    assert [
        line
        for line in differs.stdout.splitlines()
        if line.startswith(("step", "outcome", "order", "only"))
    ] == [
        "step main/5",
        "outcome main/5",
    ]
    assert fdc("diff", old, old, cwd=workspace).returncode == 0
    found = json.loads(fdc("diff", old, new, "--format", "json", cwd=workspace).stdout)[
        "differences"
    ]
    assert [one["what"] for one in found] == ["input", "step", "outcome"]


@pytest.mark.parametrize(
    "step, more, code, said",
    [
        ("main/99", [], 2, "has no step at `main/99`"),
        ("main/5", ["whom=you"], 2, "the plan has no parameter `whom`"),
        ("", [], 2, "expected RUN@STEP"),
    ],
)
def test_a_fork_that_makes_no_sense_is_one_sentence(
    done: tuple[Path, str], step: str, more: list[str], code: int, said: str
) -> None:
    workspace, old = done
    refused = fdc("fork", f"{old}@{step}" if step else old, *more, cwd=workspace)
    assert refused.returncode == code and said in refused.stderr, refused.stderr
    assert len(runs(workspace)) == 1


@pytest.mark.parametrize("address", ["main/3", "main/3[2]", "main/3[1]/1"])
def test_a_fork_at_a_loop_or_a_call_names_the_first_step_in_it(
    workspace: Path, address: str
) -> None:
    (workspace / "sub.plan").write_text("param x\nmessage_user {x}\n")
    for name in ("a.md", "b.md"):
        (workspace / name).write_text(name)
    (workspace / "p.plan").write_text(
        "set_plan x\nplan_step_complete x\nfor_each_file *.md\n  call_plan sub.plan x={file1}\nclose_task\nsubmit\n"
    )
    assert fdc("run", "p.plan", cwd=workspace).returncode == 0
    old = runs(workspace)[0]["run"]
    refused = fdc("fork", f"{old}@{address}", cwd=workspace)
    first = re.search(r"the first is `(.*)`", refused.stderr)
    assert refused.returncode == 2 and first is not None, refused.stderr
    assert first[1].startswith(address) and first[1].endswith(">sub.plan/1")
    assert fdc("fork", f"{old}@{first[1]}", cwd=workspace).returncode == 0


def test_an_input_that_changes_what_was_done_before_the_step_is_refused(workspace: Path) -> None:
    (workspace / "p.plan").write_text(
        'param who = "me"\nset_plan {who}\nplan_step_complete x\nlist_files\nclose_task\nsubmit\n'
    )
    assert fdc("run", "p.plan", cwd=workspace).returncode == 0
    old = runs(workspace)[0]["run"]
    refused = fdc("fork", f"{old}@main/3", "who=you", cwd=workspace)
    assert (
        refused.returncode == 1
        and "would have taken another path" in refused.stderr
        and "main/1" in refused.stderr
    )
    assert fdc("fork", f"{old}@main/1", "who=you", cwd=workspace).returncode == 0


def test_a_replay_performs_nothing_and_finds_a_record_that_the_program_does_not_make(
    done: tuple[Path, str],
) -> None:
    workspace, name = done
    before = {
        path: path.read_bytes()
        for path in workspace.rglob("*")
        if path.is_file() and ".fdc" not in path.parts
    }
    (workspace / "b.txt").unlink()
    assert fdc("replay", name, cwd=workspace).returncode == 0
    assert (
        not (workspace / "b.txt").exists()
        and (workspace / "a.txt").read_bytes() == before[workspace / "a.txt"]
    )
    with closing(sqlite3.connect(workspace / ".fdc" / "runs.sqlite", isolation_level=None)) as db:
        db.execute("UPDATE record SET body=replace(body, 'hi', 'ho') WHERE address='main/4'")
    differs = fdc("replay", name, cwd=workspace)
    assert (
        differs.returncode == 1
        and "main/5" in differs.stdout
        and "the program's request is" in differs.stdout
    )
    checked = fdc("verify", cwd=workspace)
    assert (
        checked.returncode == 1 and "(outcome of main/4) is not what was written" in checked.stdout
    )


def test_cancel_stops_a_run_that_another_process_drives_and_kills_its_commands(
    workspace: Path,
) -> None:
    (workspace / "p.plan").write_text(
        "set_plan x\nplan_step_complete x\nrun_in_bash_session echo begun > began; exec sleep 987654\n"
        "create_file_with_block never.txt\n    x\nclose_task\nsubmit\n"
    )
    with fdc_started("run", "p.plan", cwd=workspace) as driver:
        wait_for((workspace / "began").exists)
        name = runs(workspace)[0]["run"]
        cancelled = fdc("cancel", name, "--wait", str(PATIENCE), cwd=workspace)
        assert (cancelled.returncode, cancelled.stdout) == (0, f"run {name} is cancelled\n"), (
            cancelled.stderr
        )
        out, err = driver.communicate(timeout=PATIENCE)
        assert driver.returncode == 1 and "cancelled after 2 steps" in out, out + err
    assert runs(workspace)[0]["status"] == "cancelled" and not (workspace / "never.txt").exists()
    wait_for(lambda: not working_in(workspace))
    refused = fdc("resume", name, cwd=workspace)
    assert refused.returncode == 1 and "was cancelled" in refused.stderr
    assert (
        fdc("verify", name, cwd=workspace).returncode
        == fdc("replay", name, cwd=workspace).returncode
        == 0
    )
    forced = fdc("resume", name, "--force", "--all", "--assume", "done", cwd=workspace)
    assert forced.returncode == 0, forced.stderr
    over = fdc("cancel", name, cwd=workspace)
    assert over.returncode == 1 and "has ended (finished)" in over.stderr


def test_cancel_of_a_run_whose_controller_is_gone(workspace: Path) -> None:
    (workspace / "p.plan").write_text(
        "set_plan x\nplan_step_complete x\nrequest_user_input which?\nclose_task\nsubmit\n"
    )
    assert fdc("run", "p.plan", cwd=workspace).returncode == 5
    name = runs(workspace)[0]["run"]
    assert fdc("cancel", name, cwd=workspace).returncode == 0
    assert fdc("cancel", name, cwd=workspace).returncode == 0  # twice is once
    assert runs(workspace)[0]["status"] == "cancelled"
    assert "cancelled after 2 steps" in fdc("show", name, cwd=workspace).stdout
    assert fdc("resume", name, "--answer", "tea", "--force", cwd=workspace).returncode in (0, 2)


def test_the_list_of_runs_can_be_narrowed(done: tuple[Path, str]) -> None:
    workspace, old = done
    (workspace / "q.plan").write_text(
        "set_plan x\nplan_step_complete x\nrequest_user_input a?\nclose_task\nsubmit\n"
    )
    fdc("run", "q.plan", "--budget", "steps=7", cwd=workspace)
    assert [one["run"] for one in runs(workspace, "--status", "finished")] == [old]
    [other] = runs(workspace, "--plan", "q.*")
    assert (other["status"], other["budget"], other["spent"]) == (
        "waiting",
        {"steps": 7},
        {"steps": 3},
    )
    assert "3/7 steps" in fdc("runs", cwd=workspace).stdout


def test_the_longest_input_of_a_run_is_told_first() -> None:
    given = {"broad": "no", "paths": "", "question": "How is tea made?"}
    assert _inputs(given) == " question=How is tea made? broad=no"


def test_a_run_in_a_home_that_cannot_be_written_says_that_it_will_want_trust(
    workspace: Path, tmp_path: Path
) -> None:
    (workspace / "p.plan").write_text(
        "set_plan x\nplan_step_complete x\nrequest_user_input a?\nclose_task\nsubmit\n"
    )
    (tmp_path / "file").write_text("")
    nowhere = {"XDG_STATE_HOME": str(tmp_path / "file")}
    begun = fdc("run", "p.plan", cwd=workspace, env=nowhere)
    assert begun.returncode == 5, begun
    assert "`fdc resume` will need --trust; set XDG_STATE_HOME to a folder" in begun.stderr, begun
    name = runs(workspace)[0]["run"]
    assert fdc("resume", name, "--answer", "x", cwd=workspace).returncode == 1
    assert fdc("resume", name, "--answer", "x", "--trust", cwd=workspace).returncode == 0


def test_what_needs_the_users_folder_says_how_to_name_another(
    workspace: Path, tmp_path: Path
) -> None:
    """`fdc doctor` said that the first run creates the key, `fdc trust` named no file."""
    (tmp_path / "file").write_text("")
    nowhere = {"XDG_STATE_HOME": str(tmp_path / "file")}
    advice = "set XDG_STATE_HOME to a folder outside of the workspace that you can write"
    (workspace / "fdc.toml").write_text(
        '[[allow]]\ncode = "FDC471"\nfiles = "*"\nreason = "a test"\n'
    )
    for words in (("doctor",), ("trust", "--yes")):
        done = fdc(*words, cwd=workspace, env=nowhere)
        assert words == ("doctor",) or 3 == done.returncode
        said = done.stdout + done.stderr
        assert advice in said and f"{tmp_path}/file" in said, said


def test_an_empty_home_is_no_home_and_not_the_top_of_the_disk(workspace: Path) -> None:
    env = {"HOME": "", "FDC_CACHE_DIR": "", "XDG_CACHE_HOME": ""}
    own = pwd.getpwuid(os.getuid()).pw_dir
    said = fdc("cache", "show", cwd=workspace, env=env).stdout
    assert said.startswith(f"{own}/.cache/fdc: ")
