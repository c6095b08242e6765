"""Every command with `--format json` prints one object, whose key `format` is the version of its form."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

from tests.cli.test_refused_json import JSON
from tests.support import process
from tests.support.inside import fdc
from tests.support.repository import ROOT

PLAN = "set_plan x\nplan_step_complete x\nmessage_user hi\nclose_task\nsubmit\n"
CODE = "def reserve(order):\n    return order\n"
RESULTS = """
run a.plan
show last
verify last
replay last
resume last
diff a.plan b.plan
explore "Who calls `reserve`?"
research "How hot is water for green tea?"
fix --test true --allow-unsandboxed
lgtm "How is stock reserved for an order?"
agent "say hi"
lessons add pm.md
lessons show LESSON
lessons list
lessons apply --from pm.md
pack check PACK
pack list
pack show research
protocols diff protocols protocols
knowledge context tea
audit
doctor
expand a.plan
analyze a.plan
registry list
rules
explain FDC301
tools
lint a.plan
"""
LEFT = {
    "look": "it needs a model; it prints as `run` does",
    **{
        f"alphabet {name}": "it needs an alphabet; `say_json` prints all of them"
        for name in "check compare compose decompose ground measure run schema status".split()
    },
}


def test_every_command_is_tried() -> None:
    tried = {
        name
        for name in JSON
        if any(f"{line} ".startswith(f"{name} ") for line in RESULTS.split("\n"))
    }
    assert tried | {*LEFT} == {*JSON} and not tried & {*LEFT}


def test_every_result_says_the_version_of_its_form(workspace: Path) -> None:
    for name, text in {
        "a.plan": PLAN, "b.plan": PLAN, "stock.py": CODE, "tea.md": "Green tea wants water of eighty degrees.\n",
        "pm.md": "## Lessons\n\n1. **Lesson:** Look first.\n   **Action:** Think.\n",
    }.items():  # fmt: skip
        (workspace / name).write_text(text)
    (workspace / "protocols").mkdir(exist_ok=True)
    lesson = ""
    for line in (*filter(None, RESULTS.split("\n")), "runs"):
        words = line.replace("LESSON", lesson).replace("PACK", str(ROOT / "tooling/fdc_packs/look"))
        start = process.fdc if line.startswith("agent") else fdc  # it probes the network
        done = start(*shlex.split(words), "--format", "json", cwd=workspace)
        said = json.loads(done.stdout)
        assert isinstance(said, dict) and said["format"] == 1, (line, done)
        assert "error" not in said or line.startswith("agent"), (line, done)
        if line.startswith("lessons add"):
            lesson = said["lessons"][0]["lesson_id"]
