"""A workspace in which a task can begin, and the master controller on it with a scripted model."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

from fdc_toolchain.agent.host.agent_log import ActivityLogger
from fdc_toolchain.agent.host.real_world import LocalWorld
from fdc_toolchain.agent.retrospect import untaught
from fdc_toolchain.agent.state import AgentState
from fdc_toolchain.cli.scripts.master_control import MasterControlGraph
from fdc_toolchain.tasks.activity import faults, read
from fdc_toolchain.testing import ScriptedModel

from .inside import fdc as bare
from .repository import ROOT

PLAN = "set_plan x\nplan_step_complete y\n{}close_task\nsubmit\n"


def oriented(workspace: Path) -> Path:
    """The workspace, with an identity: orientation succeeds there."""
    shutil.copy(ROOT / "knowledge_core" / "agent_meta.json", workspace / "knowledge_core")
    return workspace


def graph(home: Path, *replies: Any, fsm: str = "tooling/fsm.json") -> MasterControlGraph:
    return MasterControlGraph(fsm, root=str(home), network="off", model=ScriptedModel(replies))


def log(home: Path) -> ActivityLogger:
    return LocalWorld(str(home)).logger()


def lines(home: Path, action: str = "") -> list[dict[str, Any]]:
    """The log's entries, each of which follows the schema."""
    found = [
        dict(item) for item in read((home / "logs" / "activity.log.jsonl").read_bytes()).entries
    ]
    assert [] == [fault for item in found for fault in faults(item)]
    return [item for item in found if action in ("", item["action"]["type"])]


def taught(_: AgentState) -> str:
    """A person's word that a task of a test taught nothing."""
    return untaught("", "it is a test")


UNTAUGHT = ("--nothing-learned", "it is a test")


def fdc(*words: str, **options: Any) -> CompletedProcess[str]:
    """`fdc`; where a task may end without an analysis, with the word that it taught nothing."""
    more = UNTAUGHT if words[0] == "agent" and "--analysis" not in words else ()
    return bare(*words, *more, **options)


def finish(
    one: MasterControlGraph, state: AgentState, home: Path, plan: str, **options: Any
) -> str:
    return one.run(state, log(home), plan=lambda _: plan, **{"analysis": taught, **options})


def planned(text: str) -> str:
    """What a planner is scripted to reply: a plan of steps and their blocks, as JSON that follows `draft.lines.schema_of`."""
    rows: list[dict[str, Any]] = []
    for line in text.splitlines():
        if line.startswith(" "):
            rows[-1]["block"].append(line.strip())
        elif not line.startswith("# FSM: "):
            gives, arrow, step = line.rpartition(" <- ")
            word, _, rest = (step if arrow else line).partition(" ")
            rows.append({"depth": 0, "gives": gives, "word": word, "rest": rest, "block": []})
    return json.dumps({"fsm": "tooling/fdc_fsm.json", "lines": rows})
