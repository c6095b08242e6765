"""What a run passes without an effect (gates that hold, sides of an `if`, calls) is shown, once, where it was passed."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from fdc_toolchain.cli.shared.live import Live
from fdc_toolchain.engine.events import Mark, Outcome, Perform
from fdc_toolchain.report.terminal.style import PLAIN

from tests.support.inside import fdc

PLAN = """param topic = "tea"
allow read docs/**
require topic != "" else "no topic"
set_plan Look at {topic}
plan_step_complete ready
for_each_file docs/*.md as word max 3
  if word == "docs/a.md"
    call_plan child.plan
  else
    message_user {word}
answer <- request_user_input Sugar?
require answer != "no" else "no sugar"
close_task
submit
"""
CHILD = """message_user in the child
if 1 == 2
  message_user never
message_user child
"""
BEFORE = [
    "pass   main/1     require (a.plan:3)",
    "ok     main/2     set_plan Look at oolong",
    "ok     main/3     plan_step_complete ready",
    "then   main/4[1]/1 if (a.plan:7)",
    "call   main/4[1]/1.then/1 call_plan (a.plan:8)",
    "ok     main/4[1]/1.then/1>child.plan/1 message_user in the child",
    "else   main/4[1]/1.then/1>child.plan/2 if (child.plan:2)",
    "ok     main/4[1]/1.then/1>child.plan/3 message_user child",
    "else   main/4[2]/1 if (a.plan:7)",
    "ok     main/4[2]/1.else/1 message_user docs/b.md",
]
AFTER = [
    "pass   main/6     require (a.plan:12)",
    "ok     main/7     close_task",
    "ok     main/8     submit",
]


def marked(text: str) -> list[str]:
    """The lines of steps and of what was passed, without the durations that slow steps have."""
    words = ("ok ", "pass ", "then ", "else ", "call ")
    lines = (line for line in text.splitlines() if line.startswith(words))
    return [re.sub(r"  [\d.]+ m?s$", "", line) for line in lines]


@pytest.fixture
def plans(workspace: Path) -> Path:
    (workspace / "docs").mkdir()
    for name in ("docs/a.md", "docs/b.md"):
        (workspace / name).write_text("tea\n")
    (workspace / "a.plan").write_text(PLAN)
    (workspace / "child.plan").write_text(CHILD)
    return workspace


def test_gates_branches_and_calls_are_shown_once_in_their_order(plans: Path) -> None:
    begun = fdc("run", "a.plan", "topic=oolong", cwd=plans)
    assert begun.returncode == 5, begun.stdout + begun.stderr
    assert marked(begun.stdout) == BEFORE
    ended = fdc("resume", "last", "--answer", "yes", cwd=plans)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert [line for line in marked(ended.stdout) if "request_user" not in line] == AFTER
    shown = fdc("show", "last", cwd=plans).stdout
    effects = ("request_user", "for_each_file")
    steps = [line for line in marked(shown) if not any(word in line for word in effects)]
    assert steps == [*BEFORE, *AFTER]
    told = json.loads(fdc("show", "last", "--format", "json", cwd=plans).stdout)
    assert [(row["what"], row["line"]) for row in told["passed"]] == [
        ("require", 3), ("then", 7), ("call", 8), ("else", 2), ("else", 7), ("require", 12),
    ]  # fmt: skip
    listed = fdc("runs", cwd=plans).stdout
    assert "a.plan topic=oolong" in listed


def test_a_gate_in_a_branch_is_shown_after_the_steps_before_it(workspace: Path) -> None:
    """Several branches come back together: no gate is shown before the read that it judges."""
    (workspace / "docs").mkdir()
    for number in range(6):
        (workspace / "docs" / f"{number}.md").write_text("tea\n")
    (workspace / "a.plan").write_text(
        "set_plan x\nplan_step_complete y\nnames <- list_files docs\nfork n in {names} max 6\n"
        '  text <- read_file {n}\n  require len(text) > 0 else "empty"\n'
        'require len(names) == 6 else "some are missing"\nclose_task\nsubmit\n'
    )
    done = fdc("run", "a.plan", cwd=workspace)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = [" ".join(line.split()[:2]) for line in marked(done.stdout)]
    branches = [f"main/4#{number}" for number in range(1, 7)]
    for branch in branches:
        assert lines.index(f"ok {branch}/1") < lines.index(f"pass {branch}/2"), done.stdout
    last = max(lines.index(f"pass {branch}/2") for branch in branches)
    assert last < lines.index("pass main/5") < lines.index("ok main/6")


def test_a_gate_that_does_not_hold_is_not_shown_as_passed(plans: Path) -> None:
    done = fdc("run", "a.plan", "topic=", cwd=plans)
    assert done.returncode == 1 and "pass " not in done.stdout
    assert "no topic" in done.stdout


def test_a_long_loop_keeps_its_first_lines_and_whatever_failed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    live = Live(PLAIN)
    for number in range(1, 101):
        address = f"main/3[{number}]/1"
        step = Perform(address, "tool", "look", {}, "", "read", "a.plan", 4, False, ())
        live.begun(step)
        live.done(step, Outcome({"exit_code": 7 if number == 90 else 0}), 0.0)
        live.passed(Mark("then", f"main/3[{number}]/2", "a.plan", 5, number))
    bad = Perform("main/4", "tool", "look", {}, "", "read", "a.plan", 6, False, ())
    live.done(bad, Outcome({"exit_code": 7}), 0.0)
    live.close()
    shown = [line.split("\r\x1b[J")[-1] for line in capsys.readouterr().out.splitlines()]
    inside = [line for line in shown if "main/3[" in line]
    assert [line.split()[0] for line in inside] == ["ok", "then"] * 12 + ["exit"]
    assert (
        shown[-2].startswith("       175 more lines of main/3, without failures")
        and "main/4" in shown[-1]
    )
