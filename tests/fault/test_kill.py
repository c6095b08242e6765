"""Real processes, real SIGKILL, real SQLite: what was recorded is not done again, and nothing is lost.

The plan's tools are Python functions of the workspace that write to a witness file. Told by the environment, one of them
says that it has come to right before or right after its deed, and waits to be killed with its controller; or waits for a file.
"""

from __future__ import annotations

import json
import os
import random
import re
import resource
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from fdc_toolchain.journal.sqlite import Store
from fdc_toolchain.workspace.run_folders import journal_path

from tests.support.background import PATIENCE, fdc_started, wait_for
from tests.support.process import clean_environment, fdc, working_in
from tests.support.repository import ROOT

OWN_TOOLS = """
import os, time

def _note(word, name, key):
    handle = os.open("witness.log", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    os.write(handle, f"{word} {name} {key}\\n".encode())
    os.close(handle)

def _die(moment):
    if os.environ.get("KILL_AT") == moment:
        open("reached", "w").write(moment)
        while True:
            time.sleep(0.01)

def deed(name, idempotency_key):
    _die(f"before {name}")
    while os.environ.get("HELD") == name and not os.path.exists("go"):
        time.sleep(0.01)
    time.sleep(float(os.environ.get("DEED_SECONDS", "0")))
    _note("effect", name, idempotency_key)
    _die(f"after {name}")
    return {"name": name, "list": ["x", "y", "z"]}

look = keep = deed
"""


def declared(effect: str, function: str) -> dict[str, Any]:
    return {
        "summary": "a deed", "action": "step_op", "effect": effect, "trust": "trusted",
        "parameters": [{"name": "name", "kind": "word"}], "result": {"name": "text", "list": "list"},
        "run": {"python": f"own_deeds:{function}"},
        "access": {"write": ["witness.log", "reached"], "env": ["KILL_AT", "HELD", "DEED_SECONDS"]},
    }  # fmt: skip


PLAN = """set_plan Deeds
plan_step_complete begun
first <- deed one
create_file_with_block out.txt
    {first.name}
for_each_file *.in
    look look-{file1}
    deed do-{file1}
call_plan inner.plan who=inside
got <- fork x in {first.list} max 3
    done <- deed branch-{x}
    keep keep-{x}
    yield {done.name}
iterate max 2
    run_in_bash_session echo shell >> shell.log
overwrite_file_with_block out.txt
    {got}
close_task
submit
"""
INNER = """param who
deed {who}
keep kept-{who}
"""

DEEDS = ["one", "do-a.in", "do-b.in", "inside", "branch-x", "branch-y", "branch-z"]
KEPT = ["kept-inside", "keep-x", "keep-y", "keep-z"]
SEEN = ["look-a.in", "look-b.in"]


@pytest.fixture
def deeds(workspace: Path) -> Path:
    tools = {
        "deed": declared("once", "deed"),
        "look": declared("read", "look"),
        "keep": declared("idempotent", "keep"),
    }
    (workspace / "fdc_tools.json").write_text(
        json.dumps({"format": 1, "name": "own", "tools": tools})
    )
    (workspace / "own_deeds.py").write_text(OWN_TOOLS)
    (workspace / "p.plan").write_text(PLAN)
    (workspace / "inner.plan").write_text(INNER)
    for name in ("a.in", "b.in", "shell.log"):
        (workspace / name).write_text("")
    return workspace


def said(path: Path) -> str:
    """A file's text; empty without the file. A sandbox makes a declared file that is not there, and takes it away again."""
    try:
        return path.read_text()
    except FileNotFoundError:
        return ""


def killed_at(workspace: Path, moment: str) -> None:
    """`fdc run p.plan`, killed when a deed has come to a moment; nothing that it began goes on."""
    with fdc_started(
        "run", "p.plan", cwd=workspace, env={"KILL_AT": moment}, stdout=subprocess.DEVNULL
    ) as process:
        wait_for(lambda: moment == said(workspace / "reached"))
        process.kill()
        assert -signal.SIGKILL == process.wait()
    wait_for(lambda: not working_in(workspace))
    (workspace / "reached").unlink()


def witnessed(workspace: Path) -> Counter[str]:
    """How often each deed really happened."""
    try:
        lines = (workspace / "witness.log").read_text().splitlines()
    except FileNotFoundError:
        lines = []
    return Counter(line.split()[1] for line in lines)


def keys(workspace: Path) -> dict[str, set[str]]:
    """The idempotency keys that each deed was given."""
    out: dict[str, set[str]] = {}
    for line in (workspace / "witness.log").read_text().splitlines():
        _, name, key = line.split()
        out.setdefault(name, set()).add(key)
    return out


def recorded(workspace: Path) -> set[str]:
    """The deeds whose outcome is in the journal."""
    store = Store(journal_path(str(workspace)))
    try:
        [row] = store.runs()
        return {
            record.body["value"]["name"]
            for record in store.records(row)
            if record.kind == "outcome" and record.tool in ("deed", "look", "keep")
        }
    finally:
        store.close()


def the_run(workspace: Path) -> dict[str, Any]:
    [one] = json.loads(fdc("runs", "--format", "json", cwd=workspace).stdout)["runs"]
    return dict(one)


def finish(workspace: Path) -> None:
    """Resumes until the run ends; where a person is asked what happened, they look at the witness."""
    name = the_run(workspace)["run"]
    words: list[str] = []
    for _ in range(6):
        done = fdc("resume", name, "--format", "json", *words, cwd=workspace)
        end = json.loads(done.stdout)
        if end["status"] != "waiting":
            assert (done.returncode, end["status"]) == (0, "finished"), end
            return
        words = []
        for question in end["questions"]:
            word = "not-done"
            if question["tool"] == "deed":
                name_of = question["args"]["name"]
                if witnessed(workspace)[name_of]:
                    brought = json.dumps({"name": name_of, "list": ["x", "y", "z"]})
                    word = f"done:{brought}" if question["bound"] else "done"
            elif expected_shell(workspace, question["address"]):
                word = "done"
            words += ["--assume", f"{question['address']}={word}"]
    raise AssertionError("the run does not end")


def expected_shell(workspace: Path, address: str) -> bool:
    """Whether the shell step of a round has left its line."""
    round_number = int(re.findall(r"\[(\d)\]", address)[-1])
    lines = (
        (workspace / "shell.log").read_text().splitlines()
        if (workspace / "shell.log").exists()
        else []
    )
    return len(lines) >= round_number


def check_finished(workspace: Path) -> None:
    counts = witnessed(workspace)
    assert {name: counts[name] for name in DEEDS} == dict.fromkeys(DEEDS, 1)
    assert all(counts[name] >= 1 for name in KEPT + SEEN)
    assert all(len(found) == 1 for found in keys(workspace).values())
    assert (workspace / "out.txt").read_text() == '["branch-x","branch-y","branch-z"]\n'
    assert (workspace / "shell.log").read_text() == "shell\nshell\n"
    assert sorted(path.name for path in workspace.iterdir() if path.name.endswith(".tmp")) == []


MOMENTS = [
    "before one", "after one", "after look-a.in", "before do-b.in", "after do-b.in", "after inside",
    "after kept-inside", "before branch-y", "after branch-z", "after keep-x",
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(
    "moment",
    [
        *MOMENTS[3:5],
        *(pytest.param(one, marks=pytest.mark.long) for one in [*MOMENTS[:3], *MOMENTS[5:]]),
    ],
)
def test_a_killed_run_goes_on_and_repeats_nothing_that_was_recorded(
    deeds: Path, moment: str
) -> None:
    """Failure test 1."""
    killed_at(deeds, moment)
    assert the_run(deeds)["status"] == "interrupted"
    known, before = recorded(deeds), witnessed(deeds)
    finish(deeds)
    after = witnessed(deeds)
    assert {name: after[name] for name in known} == {name: before[name] for name in known}
    check_finished(deeds)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(3))
def test_kills_at_random_times_again_and_again_lose_and_repeat_nothing(
    deeds: Path, seed: int
) -> None:
    """Failure test 1."""
    chance = random.Random(seed)
    command = ["run", "p.plan"]
    for _ in range(3):
        with fdc_started(
            *command, cwd=deeds, env={"DEED_SECONDS": "0.05"}, stdout=subprocess.DEVNULL
        ) as process:
            begun = time.monotonic()
            wait = chance.uniform(0.2, 0.9)
            while time.monotonic() - begun < wait and process.poll() is None:
                time.sleep(0.005)
            process.kill()
            process.wait()
        wait_for(lambda: not working_in(deeds))
        if not (deeds / ".fdc" / "runs.sqlite").exists():
            continue
        runs = json.loads(fdc("runs", "--format", "json", cwd=deeds).stdout)["runs"]
        if runs:
            command = ["resume", runs[0]["run"]]
            assert all(witnessed(deeds)[name] for name in recorded(deeds))
    if command[0] == "run":
        assert fdc("run", "p.plan", cwd=deeds).returncode == 0
    else:
        known, before = recorded(deeds), witnessed(deeds)
        finish(deeds)
        after = witnessed(deeds)
        assert {name: after[name] for name in known} == {name: before[name] for name in known}
    check_finished(deeds)


@pytest.mark.slow
def test_a_command_whose_controller_was_killed_is_asked_about_and_not_run_again(
    workspace: Path,
) -> None:
    (workspace / "p.plan").write_text(
        "set_plan x\nplan_step_complete x\nrun_in_bash_session echo x >> log; sleep 60\nclose_task\nsubmit\n"
    )
    (workspace / "log").write_text("")
    with fdc_started("run", "p.plan", cwd=workspace) as process:
        wait_for(lambda: (workspace / "log").read_text())
        process.kill()
    wait_for(lambda: not working_in(workspace))
    name = the_run(workspace)["run"]
    early = fdc("resume", name, "--assume", "done", cwd=workspace)  # before anything was asked
    assert early.returncode == 2 and "`--all --assume done` answers" in early.stderr
    done = fdc("resume", name, cwd=workspace)
    assert done.returncode == 5 and "it is unknown whether it happened" in done.stdout
    assert fdc("resume", name, "--assume", "done", cwd=workspace).returncode == 0
    assert (workspace / "log").read_text() == "x\n"


@pytest.mark.slow
def test_of_two_controllers_one_drives_and_the_other_says_who(deeds: Path) -> None:
    """Failure test 9."""
    with fdc_started(
        "run", "p.plan", cwd=deeds, env={"HELD": "look-a.in"}, stdout=subprocess.DEVNULL
    ) as first:
        wait_for(lambda: witnessed(deeds))
        one = the_run(deeds)
        assert one["status"] == "running"
        second = fdc("resume", one["run"], cwd=deeds)
        assert second.returncode == 3
        assert f"is being driven by process {first.pid}" in second.stderr
        (deeds / "go").write_text("")
        assert first.wait(timeout=PATIENCE) == 0
    check_finished(deeds)


@pytest.mark.long
def test_of_many_controllers_that_resume_at_once_one_wins(deeds: Path) -> None:
    killed_at(deeds, "after look-a.in")
    name = the_run(deeds)["run"]
    with ExitStack() as stack:
        several = [
            stack.enter_context(fdc_started("resume", name, cwd=deeds, env={"DEED_SECONDS": "0.2"}))
            for _ in range(4)
        ]
        ends = [(process.communicate(timeout=PATIENCE), process.returncode) for process in several]
    codes = sorted(code for _, code in ends)
    assert codes[0] == 0 and set(codes) <= {0, 3}, (
        ends
    )  # who comes when all is over finds it finished
    assert all("one controller at a time" in err for (_, err), code in ends if code == 3)
    check_finished(deeds)


def put_to_sleep(process: subprocess.Popen[str], journal: str) -> bool:
    """Stops a controller, but not in the middle of a commit: no one could write then before it is gone (SQLite's lock)."""
    process.send_signal(signal.SIGSTOP)
    wait_for(
        lambda: Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"
    )
    database = sqlite3.connect(journal, timeout=0)
    try:
        database.execute("BEGIN IMMEDIATE")
        database.rollback()
        return True
    except sqlite3.OperationalError:
        process.send_signal(signal.SIGCONT)
        return False
    finally:
        database.close()


@pytest.mark.slow
def test_a_controller_that_slept_through_its_replacement_writes_nothing_more(deeds: Path) -> None:
    """Failure test 4: the zombie: stopped by the system, replaced (its lock was cleared away by hand), then woken."""
    with fdc_started("run", "p.plan", cwd=deeds, env={"HELD": "look-a.in"}) as sleeper:
        wait_for(lambda: witnessed(deeds))
        wait_for(lambda: put_to_sleep(sleeper, journal_path(str(deeds))))
        name = the_run(deeds)["run"]
        (deeds / ".fdc" / "runs" / name / "lock").unlink()
        known, before = recorded(deeds), witnessed(deeds)
        finish(deeds)
        check = witnessed(deeds)
        assert {one: check[one] for one in known} == {one: before[one] for one in known}
        (deeds / "go").write_text("")
        sleeper.send_signal(signal.SIGCONT)
        out, err = sleeper.communicate(timeout=PATIENCE)
    assert sleeper.returncode == 3 and "another controller has taken this run over" in err, (
        out + err
    )
    late = witnessed(deeds) - check
    assert (
        sum(late.values()) <= 1
    )  # the effect that was in flight when it was stopped, and none after it
    assert the_run(deeds)["status"] == "finished"


# The world fails


def limited(size: int) -> Any:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    return limit


@pytest.mark.slow
@pytest.mark.parametrize("size", [60_000, 150_000, 300_000])
def test_a_disk_that_is_full_stops_the_controller_and_not_the_run(
    workspace: Path, size: int
) -> None:
    """The limit stands for the disk: from some byte on nothing can be written. The journal meets it."""
    (workspace / "p.plan").write_text(
        "set_plan x\nplan_step_complete x\ncreate_file_with_block big.txt\n    start\n"
        "iterate max 60\n    x <- read_file big.txt\n    overwrite_file_with_block copy.txt\n        {x}{x}\n"
        "close_task\nsubmit\n"
    )
    done = subprocess.run(
        [sys.executable, f"{ROOT}/tooling/fdc_cli.py", "run", "p.plan"],
        cwd=workspace, env=clean_environment(), capture_output=True, text=True, preexec_fn=limited(size), timeout=PATIENCE,
    )  # fmt: skip
    assert done.returncode == 3, done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    if size > 100_000:  # with less not even the beginning of a run can be recorded
        assert "continues" in done.stdout
        assert 3 < the_run(workspace)["steps"] < 125
        assert fdc("resume", the_run(workspace)["run"], cwd=workspace).returncode == 0
        assert the_run(workspace)["steps"] == 125
        assert (workspace / "copy.txt").read_text() == "start\nstart\n\n"


@pytest.mark.slow
def test_a_tool_that_finds_the_disk_full_is_tried_again_on_resume(workspace: Path) -> None:
    def git(*args: str) -> None:
        who = ["-c", "user.name=t", "-c", "user.email=t@t", "-c", "commit.gpgsign=false"]
        subprocess.run(["git", *who, *args], cwd=workspace, check=True, capture_output=True)

    content = random.Random(0).randbytes(400_000)
    (workspace / "big.bin").write_bytes(content)
    git("init", "-q")
    git("add", ".")
    git("commit", "-qm", "x")
    (workspace / "big.bin").write_bytes(b"lost")
    (workspace / "p.plan").write_text(
        "set_plan x\nplan_step_complete x\nrestore_file big.bin\nlist_files\nclose_task\nsubmit\n"
    )
    done = subprocess.run(
        [sys.executable, f"{ROOT}/tooling/fdc_cli.py", "run", "p.plan"],
        cwd=workspace, env=clean_environment(), capture_output=True, text=True, preexec_fn=limited(200_000), timeout=PATIENCE,
    )  # fmt: skip
    assert done.returncode == 3 and "`big.bin`: file too large" in done.stdout, done.stdout
    assert (workspace / "big.bin").read_bytes() == b"lost"
    assert sorted(path.name for path in workspace.iterdir() if path.name.endswith(".tmp")) == []
    assert fdc("resume", the_run(workspace)["run"], cwd=workspace).returncode == 0
    assert (workspace / "big.bin").read_bytes() == content


def obey_permissions() -> None:
    """Root writes wherever it likes; without CAP_DAC_OVERRIDE, from the next exec on, it is like anybody."""
    import ctypes

    if os.getuid() == 0:
        ctypes.CDLL(None).prctl(24, 1, 0, 0, 0)


@pytest.mark.slow
def test_a_workspace_that_cannot_be_written_is_one_sentence_and_code_3(workspace: Path) -> None:
    """Failure test 9."""
    (workspace / "p.plan").write_text("set_plan x\nplan_step_complete x\nclose_task\nsubmit\n")
    workspace.chmod(0o555)
    done = subprocess.run(
        [sys.executable, f"{ROOT}/tooling/fdc_cli.py", "run", "p.plan"],
        cwd=workspace, env=clean_environment(), capture_output=True, text=True, timeout=PATIENCE, preexec_fn=obey_permissions,
    )  # fmt: skip
    workspace.chmod(0o755)
    assert done.returncode == 3, done.stderr
    assert "runs are recorded there" in done.stderr and "Traceback" not in done.stderr
