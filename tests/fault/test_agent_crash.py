"""The master controller dies, and comes back: at every touch of the world in one process, and by a real SIGKILL."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import venv
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest
from fdc_toolchain.agent.host.real_world import LocalWorld
from fdc_toolchain.agent.master_control import MasterControlGraph
from fdc_toolchain.agent.model_port import Message
from fdc_toolchain.agent.state import AgentState
from fdc_toolchain.journal.sqlite import Store
from fdc_toolchain.tasks.activity import faults, read
from fdc_toolchain.tasks.unfilled import unfilled
from fdc_toolchain.testing import Crash, CrashPoint
from fdc_toolchain.workspace.run_folders import journal_path

from tests.support import profiles
from tests.support.background import PATIENCE, fdc_started, wait_for
from tests.support.process import fdc
from tests.support.repository import ROOT

PLAN = """set_plan Two
plan_step_complete begun
call_plan sub.plan
generate_code own.py two() returns 2
deed last
close_task
submit
"""
TOOL = {
    "summary": "a deed", "action": "step_op", "effect": "idempotent", "trust": "trusted",
    "parameters": [{"name": "name", "kind": "word"}], "result": "text", "run": {"python": "own_deeds:deed"},
    "access": {"write": ["witness.log"], "env": ["HELD"]},
}  # fmt: skip
DEEDS = """
import os, time

def deed(name, idempotency_key):
    while os.environ.get("HELD") == name and not os.path.exists("go"):
        time.sleep(0.01)
    handle = os.open("witness.log", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    os.write(handle, f"{name}\\n".encode())
    os.close(handle)
    return name
"""
WRONG = {"edits": [{"path": "own.py", "content": "def two():\n    return 1\n"}]}
RIGHT = {
    "edits": [
        {
            "path": "own.py",
            "diff": "<<<<<<< SEARCH\n    return 1\n=======\n    return 2\n>>>>>>> REPLACE",
        }
    ]
}
HELD_RESEARCH = "import os, sys, time\nwhile 'research' in sys.orig_argv and not os.path.exists('go'):\n    time.sleep(0.01)\n"
ANALYSIS = "## 5. Proposed Corrective Actions\n\n1. **Lesson:** Count twice.\n   **Action:** Keep a list.\n"


@pytest.fixture
def home(workspace: Path) -> Path:
    shutil.copy(ROOT / "knowledge_core" / "agent_meta.json", workspace / "knowledge_core")
    (workspace / "fdc_tools.json").write_text(
        json.dumps({"format": 1, "name": "own", "tools": {"deed": TOOL}})
    )
    (workspace / "own_deeds.py").write_text(DEEDS)
    (workspace / "sub.plan").write_text("deed one\ncreate_file_with_block b.txt\n    ho\n")
    (workspace / "notes.md").write_text("Two is the sum of one and one. Two comes after one.\n")
    (workspace / "fdc.toml").write_text("test-command = \"grep -q 'return 2' own.py\"\n")
    return workspace


def held_python(folder: Path) -> str:
    """An environment of its own with what this one has installed, whose Python waits where it is to research.

    Nothing that a workspace or a variable says gets into a process that fdc starts; an installation does.
    """
    venv.create(folder, symlinks=True)
    site = next(folder.glob("lib/python*/site-packages"))
    (site / "held.py").write_text(HELD_RESEARCH)
    (site / "held.pth").write_text("import held\n")
    (site / "those.pth").write_text("\n".join(path for path in sys.path if os.path.isdir(path)))
    return str(folder / "bin" / "python")


class Coder:
    """Answers by what is there, as somebody would who was asked twice."""

    def complete(
        self, role: str, messages: list[Message], schema: dict[str, Any]
    ) -> dict[str, Any]:
        return RIGHT if role == "debugger" else WRONG


class Dying:
    """The real world, with a moment to die at after each touch, which is the moment before the next."""

    def __init__(self, inner: LocalWorld, point: CrashPoint) -> None:
        self._inner = inner
        self._point = point
        self.root = inner.root

    def __getattr__(self, name: str) -> Any:
        real = getattr(self._inner, name)
        if name in ("policy", "now", "pause"):
            return real

        def touched(*given: Any) -> Any:
            found = real(*given)
            self._point.reach(f"after {name}")
            return found

        return touched


def live(home: Path, point: CrashPoint) -> tuple[str, AgentState]:
    """One controller's life: it begins the task, or goes on with it."""
    inner = LocalWorld(str(home), network="off")
    world: Any = Dying(inner, point)
    graph = MasterControlGraph(world=world, model=Coder())
    state = graph.load("T-1") or AgentState("T-1")
    end = graph.run(state, inner.logger(), plan=lambda _: PLAN, analysis=lambda _: ANALYSIS)
    return end, state


def check(home: Path) -> None:
    """What every task leaves, however often its controller died."""
    assert "def two():\n    return 2\n" == (home / "own.py").read_text()
    assert "ho\n" == (home / "b.txt").read_text()
    assert {"one": 1, "last": 1} == Counter((home / "witness.log").read_text().split())
    entries = read((home / "logs" / "activity.log.jsonl").read_bytes())
    assert () == entries.damaged and [] == [
        fault for item in entries.entries for fault in faults(item)
    ]
    types = Counter(item["action"]["type"] for item in entries.entries)
    assert (1, 1, 1) == (types["TASK_START"], types["TASK_END"], types["POST_MORTEM"])
    steps = [item["task"]["plan_step"] for item in entries.entries if item["action"]["details"].get("run") == the_run(home)
             and "tool" in item["action"]["details"]]  # fmt: skip
    assert 8 == len(steps) == len(set(steps)), steps
    [page] = (home / "postmortems").iterdir()
    assert [] == unfilled(page.read_text("utf-8"))
    assert 1 == len((home / "knowledge_core" / "lessons.jsonl").read_text().splitlines())
    assert [] == list(home.rglob("*.tmp"))


def the_run(home: Path) -> str:
    """The one run of the task's plan; a second one would have repeated work."""
    store = Store(journal_path(str(home)))
    try:
        [row] = [row for row in store.runs() if row.plan == "plan.txt"]
        assert "finished" == row.status
        return row.name
    finally:
        store.close()


@pytest.mark.long
@pytest.mark.parametrize("every", [6, pytest.param(1, marks=pytest.mark.soak)])
def test_a_controller_that_dies_at_any_touch_of_the_world_goes_on_there(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, every: int
) -> None:
    """FDC-05, FDC-92, FDC-105: between any two touches; the end is that of an undisturbed task.

    Every sixth touch, from one that is another for each commit; in the soak each of them.
    """
    counting = CrashPoint()
    clean = tmp_path / "clean"
    shutil.copytree(home, clean)
    monkeypatch.chdir(clean)
    assert "AWAITING_SUBMISSION" == live(clean, counting)[0]
    check(clean)
    assert 30 < len(counting.moments)
    for number in range(1 + profiles.seed() % every, len(counting.moments) + 1, every):
        place = tmp_path / f"w{number}"
        shutil.copytree(home, place)
        monkeypatch.chdir(place)
        with pytest.raises(Crash):
            live(place, CrashPoint(number))
        end, state = live(place, CrashPoint())
        assert ("AWAITING_SUBMISSION", None) == (end, state.error), counting.moments[number - 1]
        check(place)
        shutil.rmtree(place)


# Real processes


@contextmanager
def answering(home: Path) -> Iterator[None]:
    """Another agent, which answers the requests that it finds."""
    over = Event()

    def answer() -> None:
        while not over.wait(0.02):
            for path in home.glob(".fdc/agents/*/*.request.md"):
                reply = path.with_name(path.name.replace(".request.md", ".reply.json"))
                if not reply.exists():
                    part = reply.with_suffix(".part")
                    part.write_text(
                        json.dumps(RIGHT if path.name.startswith("debugger") else WRONG)
                    )
                    part.rename(reply)

    thread = Thread(target=answer)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def state_of(home: Path) -> str:
    try:
        return str(
            json.loads((home / ".fdc" / "agents" / "T-1" / "state.json").read_text())["state"]
        )
    except FileNotFoundError:
        return ""


@pytest.mark.long
@pytest.mark.parametrize("state", ["AWAITING_RESULT", "EXECUTING", "RUNNING_TESTS"])
def test_a_killed_agent_is_resumed_to_the_same_end(home: Path, tmp_path: Path, state: str) -> None:
    """FDC-54, FDC-90, FDC-92, FDC-105: SIGKILL of the real process, research and failing tests included.

    What it waits for in that state does not end before there is a file `go`.
    """
    (home / "plan.txt").write_text("research what is two\n")
    (home / "analysis.md").write_text(ANALYSIS)
    options = ["--network", "off", "--wait", str(PATIENCE), "--analysis", "analysis.md"]
    env, python = {}, sys.executable
    if state == "AWAITING_RESULT":
        python = held_python(tmp_path / "held")
    elif state == "EXECUTING":
        env = {"HELD": "one"}
    else:
        command = "while [ ! -e go ]; do sleep 0.05; done; grep -q 'return 2' own.py"
        (home / "fdc.toml").write_text(f'test-command = "{command}"\n')
    begin = ["agent", "T-1", *options]
    with answering(home):
        with fdc_started(
            *begin, cwd=home, env=env, python=python, stdout=subprocess.DEVNULL
        ) as process:
            if state != "AWAITING_RESULT":
                wait_for(lambda: not (home / "plan.txt").exists())
                (home / "plan.txt").write_text(PLAN)
            wait_for(lambda: state_of(home) == state)
            process.kill()
            assert -signal.SIGKILL == process.wait()
        (home / "go").write_text("")
        (home / "plan.txt").write_text(PLAN)
        done = fdc("agent", "--resume", "T-1", *options, cwd=home)
    assert 0 == done.returncode, done.stdout + done.stderr
    check(home)
    record = json.loads((home / ".fdc" / "agents" / "T-1" / "state.json").read_text())
    assert (
        "AWAITING_SUBMISSION" == record["state"]
        and record["agent"]["research_findings"]["answered"]
    )
    assert 1 == len(list((home / "research").iterdir()))


@pytest.mark.slow
def test_of_two_agents_on_a_task_one_has_it_and_the_other_says_who(home: Path) -> None:
    begin = ["agent", "T-1", "--network", "off", "--wait", str(PATIENCE)]
    with fdc_started(*begin, cwd=home, stdout=subprocess.DEVNULL) as first:
        wait_for(lambda: state_of(home) == "PLANNING")
        second = fdc("agent", "--resume", "T-1", cwd=home)
        assert (3, True) == (second.returncode, f"process {first.pid}" in second.stderr)
        first.send_signal(signal.SIGINT)
        assert 130 == first.wait(timeout=PATIENCE)
    assert 5 == fdc("agent", "--resume", "T-1", cwd=home).returncode
