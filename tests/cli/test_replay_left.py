"""`fdc replay` of honest runs that were left while a step was under way that nothing announces (issue 4, "Durable"; FDC-33)."""

from __future__ import annotations

import json
import signal
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.support.background import fdc_started, wait_for
from tests.support.process import fdc

pytestmark = pytest.mark.slow
TOOLS = """
import os, time
from fdc_toolchain.engine.ports import Waiting, WorldFailed

def ask(name):
    if name == "nobody":
        raise Waiting("who?")
    if name == "broken":
        raise WorldFailed("no line")
    if name == "slow":
        open("begun", "w").close()
        while True:
            time.sleep(0.01)
    return {"name": name}
"""
PLAN = """set_plan x
plan_step_complete x
items <- for_items
fork n in {items.list} max 3
    ask {n}
close_task
submit
"""


def laid_out(workspace: Path, effect: str, *items: str) -> None:
    tool = {
        "summary": "asks", "action": "step_op", "effect": effect, "trust": "trusted",
        "parameters": [{"name": "name", "kind": "word"}], "result": {"name": "text"}, "run": {"python": "asks:ask"},
        "access": {"write": ["begun"]},
    }  # fmt: skip
    given = {
        **tool,
        "effect": "read",
        "parameters": [],
        "result": {"list": "list"},
        "run": {"python": "asks:items"},
    }
    tools = {"ask": tool, "for_items": given}
    (workspace / "fdc_tools.json").write_text(
        json.dumps({"format": 1, "name": "own", "tools": tools})
    )
    (workspace / "asks.py").write_text(
        TOOLS + f"\ndef items():\n    return {{'list': {list(items)!r}}}\n"
    )
    (workspace / "ask.plan").write_text(PLAN)


def replayed(workspace: Path) -> None:
    done = fdc("replay", "last", cwd=workspace)
    assert (0, "") == (done.returncode, done.stderr), done
    # The check still bites: another sum is not what the records make.
    with closing(sqlite3.connect(workspace / ".fdc" / "runs.sqlite")) as db, db:
        (ending,) = db.execute("SELECT ending FROM run").fetchone()
        wrong = json.loads(ending)
        wrong["spent"]["steps"] += 4
        db.execute("UPDATE run SET ending=?", (json.dumps(wrong),))
    done = fdc("replay", "last", cwd=workspace)
    assert 1 == done.returncode and "spent are on record" in done.stdout, done


@pytest.mark.parametrize("effect", ["read", "idempotent", "once"])
@pytest.mark.parametrize("items", [("nobody",), ("a", "nobody", "nobody")])
def test_a_run_in_which_a_tool_waits_follows_from_its_record(
    workspace: Path, effect: str, items: tuple[str, ...]
) -> None:
    laid_out(workspace, effect, *items)
    done = fdc("run", "ask.plan", cwd=workspace)
    assert 5 == done.returncode and "question: who?" in done.stdout, done
    replayed(workspace)


@pytest.mark.parametrize("effect", ["read", "idempotent"])
def test_a_run_that_broke_off_in_a_step_follows_from_its_record(
    workspace: Path, effect: str
) -> None:
    laid_out(workspace, effect, "a", "broken")
    assert 3 == fdc("run", "ask.plan", cwd=workspace).returncode
    replayed(workspace)


def test_a_run_that_was_interrupted_in_a_step_follows_from_its_record(workspace: Path) -> None:
    laid_out(workspace, "read", "slow")
    with fdc_started("run", "ask.plan", cwd=workspace) as run:
        wait_for((workspace / "begun").exists)
        run.send_signal(signal.SIGINT)
        run.communicate()
        assert 130 == run.returncode
    replayed(workspace)
