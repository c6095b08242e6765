"""The log of a run when its controller dies: every recorded step has its line, and none has two (FDC-68)."""

from __future__ import annotations

import json
import signal
from collections import Counter
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from fdc_toolchain.journal.sqlite import Store
from fdc_toolchain.tasks.activity import LOG, faults
from fdc_toolchain.workspace.run_folders import journal_path

from tests.support.background import fdc_started, wait_for
from tests.support.process import fdc, working_in

OWN_TOOLS = """
import os, time

def deed(name, idempotency_key):
    while os.environ.get("KILL_AT") == name:
        open("reached", "w").write(name)
        time.sleep(0.01)
    if os.path.exists(name + ".wrong"):
        raise ValueError("this one cannot be done")
    return name
"""
DEED = {
    "summary": "a deed", "action": "tool_exec", "effect": "idempotent", "trust": "trusted",
    "parameters": [{"name": "name", "kind": "word"}], "result": "text", "run": {"python": "own_deeds:deed"},
    "access": {"write": ["reached"], "env": ["KILL_AT"]},
}  # fmt: skip
PLAN = """set_plan Deeds
plan_step_complete begun
deed one
call_plan inner.plan who=two
overwrite_file_with_block out.txt
    {run}
deed three
close_task
submit
"""


@pytest.fixture
def begun(workspace: Path) -> Path:
    (workspace / "knowledge_core" / "agent_meta.json").write_text(
        '{"model_name": "m", "knowledge_cutoff": "c"}'
    )
    (workspace / "fdc_tools.json").write_text(
        json.dumps({"format": 1, "name": "own", "tools": {"deed": DEED}})
    )
    (workspace / "own_deeds.py").write_text(OWN_TOOLS)
    (workspace / "p.plan").write_text(PLAN)
    (workspace / "inner.plan").write_text("param who\ndeed {who}\n")
    assert 0 == fdc("start", "--task-id", "T-1", "--network", "off", cwd=workspace).returncode
    return workspace


def steps(root: Path) -> list[dict[str, Any]]:
    entries = [json.loads(raw) for raw in (root / LOG).read_bytes().split(b"\n") if raw]
    assert [] == [fault for item in entries for fault in faults(item)]
    return [item for item in entries if item["phase"] == "Phase 3"]


def places(root: Path) -> Counter[str]:
    return Counter(item["task"]["plan_step"] for item in steps(root))


def recorded(root: Path) -> Counter[str]:
    store = Store(journal_path(str(root)))
    try:
        [row] = store.runs()
        return Counter(record.address for record in store.records(row) if record.kind == "outcome")
    finally:
        store.close()


def the_run(root: Path) -> str:
    [one] = json.loads(fdc("runs", "--format", "json", cwd=root).stdout)["runs"]
    return str(one["run"])


@pytest.mark.parametrize("moment", ["two", "three"])
def test_killed_and_resumed_every_recorded_step_has_one_line(begun: Path, moment: str) -> None:
    with fdc_started("run", "p.plan", cwd=begun, env={"KILL_AT": moment}) as process:
        wait_for(lambda: (begun / "reached").exists() and (begun / "reached").read_text() == moment)
        process.kill()
        assert -signal.SIGKILL == process.wait()
    wait_for(lambda: not working_in(begun))
    before = recorded(begun)
    assert set(places(begun)) <= set(before)
    done = fdc("resume", the_run(begun), cwd=begun)
    assert 0 == done.returncode, done.stderr
    assert set(places(begun)) == set(recorded(begun))
    assert {1} == set(places(begun).values())
    assert {"SUCCESS"} == {item["outcome"]["status"] for item in steps(begun)}


def test_lines_that_were_lost_are_added_with_the_time_of_their_step(begun: Path) -> None:
    """A power cut after the journal's commit: the last lines are gone, one of them by half."""
    (begun / "three.wrong").write_text("")
    fdc("run", "p.plan", cwd=begun)
    (begun / "three.wrong").unlink()
    whole = (begun / LOG).read_bytes().splitlines(keepends=True)
    (begun / LOG).write_bytes(b"".join(whole[:2]) + whole[2][:40])
    assert 0 == fdc("resume", the_run(begun), "--retry", cwd=begun).returncode
    raw = [line for line in (begun / LOG).read_bytes().split(b"\n") if line]
    assert whole[2][:40] == raw.pop(2)
    (begun / LOG).write_bytes(b"\n".join(raw) + b"\n")
    assert recorded(begun) == places(begun)
    late = [item for item in steps(begun) if "late" in item["action"]["details"]]
    assert ["main/2", "main/3", "main/4>inner.plan/1", "main/5", "main/6"] == [
        item["task"]["plan_step"] for item in late
    ]
    assert "FAILURE" == late[-1]["outcome"]["status"]
    for item, line in zip(late, whole[2:], strict=True):
        first = json.loads(line)
        took = datetime.fromisoformat(item["timestamp"]) - datetime.fromisoformat(
            first["timestamp"]
        )
        assert 1 > abs(took.total_seconds()) and first["log_id"] == item["log_id"]


def test_an_attempt_that_failed_and_the_one_that_did_not_have_a_line_each(begun: Path) -> None:
    """T-23: a failure is logged as a failure."""
    (begun / "two.wrong").write_text("")
    assert 1 == fdc("run", "p.plan", cwd=begun).returncode
    last = steps(begun)[-1]
    assert (
        "FAILURE" == last["outcome"]["status"]
        and "cannot be done" in last["outcome"]["error"]["message"]
    )
    (begun / "two.wrong").unlink()
    assert 0 == fdc("resume", the_run(begun), "--retry", cwd=begun).returncode
    tries = [item for item in steps(begun) if item["task"]["plan_step"] == "main/4>inner.plan/1"]
    assert ["FAILURE", "SUCCESS"] == [item["outcome"]["status"] for item in tries]
    assert [None, 2] == [item["action"]["details"].get("attempt") for item in tries]
    assert len({item["log_id"] for item in steps(begun)}) == len(steps(begun))


def test_a_log_that_cannot_be_written_breaks_the_run_and_a_resume_adds_its_lines(
    begun: Path,
) -> None:
    kept = (begun / LOG).read_bytes()
    lock = begun / "logs" / ".activity.log.jsonl.lock"
    lock.unlink()
    lock.mkdir()
    done = fdc("run", "p.plan", cwd=begun)
    assert (
        3 == done.returncode and "the activity log cannot be written" in done.stdout + done.stderr
    )
    assert kept == (begun / LOG).read_bytes()
    lock.rmdir()
    assert 0 == fdc("resume", the_run(begun), cwd=begun).returncode
    assert recorded(begun) == places(begun) and {1} == set(places(begun).values())
