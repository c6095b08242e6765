"""Two runs in one workspace, as real processes: those that may write the same paths are kept apart, the others are not
(`runs.records.claims`; issue 12). A tool of the workspace stands still until there is a file `go`.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from fdc_toolchain import durable
from fdc_toolchain.engine.ports import WorldFailed
from fdc_toolchain.program.write_set import NOTHING, WriteSet, Written
from fdc_toolchain.runs.records import claims
from fdc_toolchain.workspace.run_folders import ask_to_cancel, cancel_asked

from tests.support import fleet
from tests.support.background import PATIENCE, fdc_started, wait_for
from tests.support.database import Workers, database, needs_database, rows
from tests.support.process import fdc, run
from tests.support.repository import ROOT

TOOL = """
import os, time

def hold():
    while not os.path.exists("go"):
        time.sleep(0.01)
    return "gone on"
"""
ROW = {
    "summary": "stand still", "action": "step_op", "effect": "read", "trust": "trusted", "parameters": [], "result": "text",
    "run": {"python": "own_hold:hold"},
}  # fmt: skip
PLAN = "{head}set_plan P\nplan_step_complete planned\n{body}close_task\nsubmit\n"
WRITE = "overwrite_file_with_block {}\n    x\n"


@pytest.fixture
def shop(workspace: Path) -> Path:
    """A workspace with plans: `NAME.plan` writes as its name says, and `held-NAME.plan` stands still before that."""
    (workspace / "fdc_tools.json").write_text(
        json.dumps({"format": 1, "name": "own", "tools": {"hold": ROW}})
    )
    (workspace / "own_hold.py").write_text(TOOL)
    bodies = {
        "a": ("", WRITE.format("out/a.md")), "b": ("", WRITE.format("out/b.md")),
        "glob": ("param of = \"\"\n", "x <- request_user_input X?\n" + WRITE.format("out/{x}.md")),
        "command": ("", "run_in_bash_session true > made\n"), "other-command": ("", "run_in_bash_session true\n"),
        "built": ("allow run *\nallow read **\nallow write build/**\n", "run_in_bash_session true\n"),
        "own": ("", WRITE.format("{run}/a.md")), "reads": ("", "read_file fdc_tools.json\n"),
        "param": ("param to\n", WRITE.format("out/{to}.md")),
    }  # fmt: skip
    (workspace / "made").write_text("")
    for name, (head, body) in bodies.items():
        (workspace / f"{name}.plan").write_text(PLAN.format(head=head, body=body))
        (workspace / f"held-{name}.plan").write_text(PLAN.format(head=head, body=f"hold\n{body}"))
    return workspace


@contextmanager
def driven(shop: Path, *arguments: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A run that stands still while somebody drives it, and its name."""
    before = {path.name for path in (shop / ".fdc" / "runs").glob("*")}
    with fdc_started("run", *arguments, "-q", "--allow-unsandboxed", cwd=shop) as process:

        def found() -> list[str]:
            assert process.poll() is None, process.communicate()
            journal = fdc("runs", "--format", "json", cwd=shop)
            return [
                one["run"] for one in json.loads(journal.stdout)["runs"]
                if one["run"] not in before and one["status"] == "running" and one["steps"] >= 2
            ]  # fmt: skip

        wait_for(found)
        yield process, found()[0]


def go(shop: Path) -> None:
    (shop / "go").write_text("")


MEET = [("held-a", "a"), ("held-glob", "a"), ("held-command", "a"), ("held-a", "other-command"),
        ("held-command", "other-command")]  # fmt: skip
APART = [("held-a", "b"), ("held-own", "own"), ("held-command", "own"), ("held-own", "command"), ("held-command", "reads"),
         ("held-built", "a"), ("held-reads", "command")]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("one", "two"), MEET)
def test_a_run_that_may_write_what_a_driven_one_may_write_is_refused(
    shop: Path, one: str, two: str
) -> None:
    with driven(shop, f"{one}.plan") as (process, name):
        refused = fdc("run", f"{two}.plan", cwd=shop)
        assert (3, "") == (refused.returncode, refused.stdout), refused
        assert (
            f"the run {name} (process {process.pid}) may write" in refused.stderr
            and "--wait" in refused.stderr
        )
        assert 1 == len(refused.stderr.splitlines())
        assert 1 == len(json.loads(fdc("runs", "--format", "json", cwd=shop).stdout)["runs"]), (
            "nothing was put on record"
        )


@pytest.mark.long
@pytest.mark.parametrize(("one", "two"), APART)
def test_runs_that_write_other_paths_go_on_side_by_side(shop: Path, one: str, two: str) -> None:
    with driven(shop, f"{one}.plan"):
        done = fdc("run", f"{two}.plan", "--allow-unsandboxed", cwd=shop)
        assert 0 == done.returncode, done


@pytest.mark.slow
def test_parameters_tell_runs_of_one_plan_apart(shop: Path) -> None:
    with driven(shop, "held-param.plan", "to=one"):
        assert 0 == fdc("run", "param.plan", "to=two", cwd=shop).returncode
        refused = fdc("run", "param.plan", "to=one", cwd=shop)
        assert 3 == refused.returncode and "`out/one.md`" in refused.stderr, refused


@pytest.mark.slow
def test_who_waits_begins_when_the_other_one_has_ended(shop: Path) -> None:
    with (
        driven(shop, "held-a.plan") as (process, name),
        fdc_started("run", "a.plan", "--wait", cwd=shop) as waits,
    ):
        wait_for(lambda: len(list((shop / ".fdc" / "runs").iterdir())) == 2)
        assert waits.stderr is not None and f"waiting: the run {name} " in waits.stderr.readline()
        assert not (shop / "out" / "a.md").exists()
        go(shop)
        assert 0 == process.wait(PATIENCE) == waits.wait(PATIENCE)
    assert (shop / "out" / "a.md").exists() and [] == [
        path.name for path in (shop / ".fdc" / "claims").glob("[!.]*")
    ]


@pytest.mark.slow
def test_a_run_that_waits_for_another_one_can_be_cancelled(shop: Path) -> None:
    with driven(shop, "held-a.plan"), fdc_started("run", "a.plan", "--wait", cwd=shop) as waits:
        assert waits.stderr is not None and "waiting" in waits.stderr.readline()
        second = json.loads(fdc("runs", "--format", "json", cwd=shop).stdout)["runs"][1]["run"]
        cancelled = fdc("cancel", second, cwd=shop)
        assert 0 == cancelled.returncode, cancelled
        assert 1 == waits.wait(PATIENCE)


@pytest.mark.slow
def test_a_cancelled_run_that_is_refused_stays_cancelled(shop: Path) -> None:
    """`fdc resume --force` goes on with a run that somebody wants cancelled, unless it cannot go on at all now."""
    assert 5 == fdc("run", "glob.plan", "-q", cwd=shop).returncode
    name = json.loads(fdc("runs", "--format", "json", cwd=shop).stdout)["runs"][0]["run"]
    ask_to_cancel(str(shop), name, 0.0)  # the caller was killed before they could do it
    with driven(shop, "held-a.plan") as (process, other):
        refused = fdc("resume", name, "--force", "--answer", "c", cwd=shop)
        assert 3 == refused.returncode and f"the run {other} " in refused.stderr, refused
        assert cancel_asked(str(shop), name)
        go(shop)
        assert 0 == process.wait(PATIENCE)
    assert 0 == fdc("resume", name, "--force", "--answer", "c", cwd=shop).returncode
    assert not cancel_asked(str(shop), name)


@pytest.mark.slow
def test_a_claim_ends_with_its_process(shop: Path) -> None:
    with driven(shop, "held-a.plan") as (process, name):
        assert 3 == fdc("run", "a.plan", cwd=shop).returncode
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        assert [name] == [path.name for path in (shop / ".fdc" / "claims").glob("[!.]*")], (
            "it lies there and counts for nothing"
        )
        assert 0 == fdc("run", "a.plan", cwd=shop).returncode
        go(shop)
        assert 0 == fdc("resume", name, "--all", "--assume", "not-done", cwd=shop).returncode


@pytest.mark.slow
def test_a_run_that_waits_for_a_person_holds_nothing_and_takes_its_claim_again(shop: Path) -> None:
    assert 5 == fdc("run", "glob.plan", "-q", cwd=shop).returncode
    name = json.loads(fdc("runs", "--format", "json", cwd=shop).stdout)["runs"][0]["run"]
    with driven(shop, "held-a.plan") as (process, other):
        refused = fdc("resume", name, "--answer", "c", cwd=shop)
        assert 3 == refused.returncode and f"the run {other} " in refused.stderr, refused
        assert "waiting" in fdc("runs", "--status", "waiting", cwd=shop).stdout, (
            "it stands where it stood"
        )
        go(shop)
        assert 0 == process.wait(PATIENCE)
    assert 0 == fdc("resume", name, "--answer", "c", cwd=shop).returncode
    assert (shop / "out" / "c.md").exists()


def _set(*names: str, folder: str = "runs/x") -> WriteSet:
    return WriteSet(Written(frozenset(names), frozenset()), NOTHING, folder)


def test_what_one_process_drives_is_not_kept_apart_but_for_a_worker(workspace: Path) -> None:
    root = str(workspace)
    first, second = claims.Claim(root, "first", _set("a")), claims.Claim(root, "second", _set("a"))
    assert None is first.take() is second.take()
    worker = claims.Claim(root, "third", _set("a"), alone=True)
    other = worker.take()
    assert other is not None and ("first", "a") == (other.run, other.path)
    first.release()
    second.release()
    assert None is worker.take()
    fourth = claims.Claim(root, "fourth", _set("a"), alone=True)
    assert fourth.take() is not None
    piece, inner = (
        claims.Claim(root, name, _set("a"), within="third", alone=True)
        for name in ("third~1", "inner")
    )
    assert None is piece.take() is inner.take()
    for one in (worker, fourth, piece, inner):
        one.release()
    assert None is fourth.take()
    fourth.release()


@pytest.mark.long
def test_what_a_run_or_a_driving_process_starts_is_of_its_kin(workspace: Path) -> None:
    """`fdc research` is begun by commands of runs and by `fdc agent`."""
    root, script = str(workspace), "import sys; from fdc_toolchain.runs.records import claims\n"
    script += "from tests.fault.test_two_runs import _set\n"
    script += (
        "other = claims.Claim(sys.argv[1], 'inner', _set('a')).take(); print(other and other.run)"
    )
    outer = claims.Claim(root, "outer", _set("a"))
    assert outer.take() is None
    for env, said in (
        ({}, "outer"),
        ({"FDC_RUN": "outer"}, "None"),
        ({claims.KIN: claims.kin()}, "None"),
    ):
        env = {"PYTHONPATH": f"{ROOT}:{ROOT / 'tooling'}", **env}
        done = run([sys.executable, "-c", script, root], cwd=ROOT, env=env)
        assert (0, f"{said}\n") == (done.returncode, done.stdout), done
    outer.release()


def test_two_folders_are_two_workspaces(tmp_path: Path) -> None:
    held = [
        claims.Claim(str(tmp_path / name), "run", _set("a"), alone=True) for name in ("one", "two")
    ]
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    assert [None, None] == [claim.take() for claim in held]
    for claim in held:
        claim.release()


def test_a_folder_of_claims_that_a_clone_brought_is_not_followed(
    workspace: Path, tmp_path: Path
) -> None:
    (workspace / ".fdc").mkdir()
    (tmp_path / "elsewhere").mkdir()
    (workspace / ".fdc" / "claims").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(WorldFailed, match="symbolic link"):
        claims.Claim(str(workspace), "run", _set("a")).take()
    (workspace / ".fdc" / "claims").unlink()
    (workspace / ".fdc" / "claims").mkdir()
    (workspace / ".fdc" / "claims" / "stale").write_text("no claim")
    claim = claims.Claim(str(workspace), "run", _set("a"))
    assert claim.take() is None and not (workspace / ".fdc" / "claims" / "stale").exists()
    claim.release()


@needs_database
@pytest.mark.long
def test_workers_drive_runs_that_meet_one_after_the_other_and_those_of_other_folders_at_once(
    workspace: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    (other / "knowledge_core").mkdir(parents=True)
    for folder in (workspace, other):
        fleet.laid_out(folder)
        (folder / fleet.HELD).write_text("")
    with database() as url, Workers(url, workspace) as here, Workers(url, other) as there:
        first = fleet.begun(workspace, url, "big.plan", "count=2")
        here.start(2)
        wait_for(lambda: "start last" in (workspace / "witness.log").read_text())
        second = fleet.begun(workspace, url, "big.plan", "count=2")
        wait_for(lambda: f"the run {second} waits: the run {first} (process " in here.log())
        elsewhere = fleet.begun(other, url, "big.plan", "count=2")
        there.count = 9
        there.start()
        wait_for(lambda: "start last" in (other / "witness.log").read_text())
        assert second not in (workspace / "witness.log").read_text()
        for folder in (workspace, other):
            (folder / fleet.HELD).unlink()
        wait_for(
            lambda: (
                3
                == len(
                    rows(url, "SELECT 1 FROM fdc.run WHERE status='finished' AND parent IS NULL")
                )
            )
        )
    order = [
        line.split()[2].partition(":")[0]
        for line in (workspace / "witness.log").read_text().splitlines()
    ]
    assert order == sorted(order) and {first, second} == set(order) and elsewhere not in order


@pytest.mark.long
@needs_database
def test_a_run_that_waits_in_a_worker_is_cancelled(workspace: Path) -> None:
    fleet.laid_out(workspace)
    (workspace / fleet.HELD).write_text("")
    with database() as url, Workers(url, workspace) as workers:
        workers.start()
        fleet.begun(workspace, url, "big.plan", "count=1")
        wait_for(lambda: "start last" in (workspace / "witness.log").read_text())
        second = fleet.begun(workspace, url, "big.plan", "count=1")
        wait_for(lambda: f"the run {second} waits" in workers.log())
        assert 0 == fdc("cancel", second, "--database", url, cwd=workspace).returncode
        (workspace / fleet.HELD).unlink()
    assert second not in (workspace / "witness.log").read_text()


def test_what_is_no_claim_keeps_nobody_out(workspace: Path) -> None:
    """A clone can bring anything in `.fdc/claims`."""
    folder = workspace / ".fdc/claims"
    folder.mkdir(parents=True)
    (folder / "20260101-000000-text").write_text("x")
    (folder / "20260101-000000-link").symlink_to("/etc/passwd")
    (folder / "20260101-000000-none").symlink_to("nowhere")
    (folder / "20260101-000000-folder").mkdir()
    os.mkfifo(folder / "20260101-000000-pipe")
    (workspace / "ls.plan").write_text(
        "set_plan x\nplan_step_complete y\nrun_in_bash_session ls\nclose_task\nsubmit\n"
    )
    done = fdc("run", "ls.plan", cwd=workspace)
    assert 0 == done.returncode, done.stderr
    assert {"20260101-000000-folder"} == {
        path.name for path in folder.iterdir() if path.name[0] != "."
    }


def test_of_runs_that_begin_at_once_those_that_are_refused_leave_no_record(shop: Path) -> None:
    """Each looked for a run in its way, found none, and recorded itself; `fdc resume` would have begun them later."""
    assert fdc("run", "a.plan", cwd=shop).returncode == 0
    before = set((shop / ".fdc/runs").iterdir())

    def new() -> list[str]:
        found = json.loads(fdc("runs", "--format", "json", cwd=shop).stdout)["runs"]
        return [row["run"] for row in found if row["status"] in ("new", "interrupted", "running")]

    with ExitStack() as stack:
        with durable.exclusive(str(shop / ".fdc/claims/all")):  # nobody takes a claim meanwhile
            started = [stack.enter_context(fdc_started("run", "held-a.plan", cwd=shop)) for _ in range(3)]  # fmt: skip
            wait_for(lambda: len(new()) == 3)
        wait_for(lambda: sum(one.poll() is not None for one in started) == 2)
        [driven] = new()
        (shop / "go").write_text("")
        assert sorted(one.wait(timeout=PATIENCE) for one in started) == [0, 3, 3]
    assert [driven] == [path.name for path in (shop / ".fdc/runs").iterdir() if path not in before]
    assert fdc("verify", cwd=shop).stdout.count("whole") == 2
