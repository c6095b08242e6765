"""`--dry-run` with what it costs, `--simulate`, `--approve` (issue 4, people in the loop)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.test_prompts import PLAN, declare, desk, world  # noqa: F401 - `desk` is a fixture
from tests.cli.test_run import run_name, write
from tests.support.inside import fdc

SCRIPT = {
    "format": 1,
    "tools": {
        "judge": {
            "value": {"grade": 5, "why": "by script"},
            "usage": {"tokens": 100, "model_calls": 1},
        }
    },
    "addresses": {"main/4": {"value": {"grade": 6, "why": "by address"}}},
}


# What it costs


def test_a_dry_run_says_what_the_worst_run_costs_with_the_files_there_are(desk: Path) -> None:  # noqa: F811
    (desk / "docs").mkdir()
    for name in "abc":
        (desk / "docs" / f"{name}.md").write_text("x")
    (desk / "a.plan").write_text(
        "set_plan Grade\nplan_step_complete planned\nfor_each_file docs/*.md\n    judge {file1}\n"
        "iterate max 2\n    judge again\nclose_task\nsubmit\n"
    )
    done = fdc(
        "run", "a.plan", "--dry-run", "--budget", "tokens=19999", cwd=desk, env=world(None, desk)
    )
    assert (0, "") == (done.returncode, done.stderr)
    assert (
        "at worst: 9 steps, 10 model calls, 20000 tokens, $0.2, with the files that exist now\n"
        in done.stdout
    )
    assert "the budget of 19999 tokens may stop the run before its end\n" in done.stdout
    (desk / "docs" / "d.md").write_text("x")
    done = fdc("run", "a.plan", "--dry-run", cwd=desk)
    assert (
        "at worst: 10 steps, 12 model calls, 24000 tokens" in done.stdout
        and "no model is selected" in done.stdout
    )
    done = fdc("run", "a.plan", "--dry-run", cwd=desk, env=world(None, desk, "somebodys"))
    assert "the price of somebodys is not known, so money is not counted" in done.stdout
    assert not (desk / ".fdc").exists()


# Simulation


def test_a_simulated_run_does_nothing_and_says_so_everywhere(desk: Path) -> None:  # noqa: F811
    (desk / "a.plan").write_text(
        PLAN.replace("close_task", "create_file_with_block out.md\n    text\nclose_task")
    )
    (desk / "script.json").write_text(json.dumps(SCRIPT))
    before = sorted(path for path in desk.rglob("*") if path.is_file())
    done = fdc("run", "a.plan", "--simulate", "script.json", cwd=desk, env=world(None, desk))
    assert (0, "") == (done.returncode, done.stderr), done.stdout
    assert (
        "simulated by script.json" in done.stdout
        and "finished: 8 steps, " in done.stdout
        and "all simulated" in done.stdout
    )
    after = [path for path in desk.rglob("*") if path.is_file() and ".fdc" not in path.parts]
    assert sorted(after) == before
    name = run_name(done.stdout)
    assert "simulated: no effect was performed" in fdc("show", name, cwd=desk).stdout
    steps = json.loads(fdc("show", name, "--format", "json", cwd=desk).stdout)["records"]
    outcomes = [step for step in steps if step["kind"] == "outcome"]
    assert len(outcomes) == 8 and all(
        step["body"]["notes"]["simulated"] is True for step in outcomes
    )
    assert [step["body"]["value"]["why"] for step in outcomes if step["tool"] == "judge"] == [
        "by script",
        "by address",
    ]
    assert fdc("replay", name, cwd=desk).returncode == 0


def test_a_scripted_failure_fails_the_step_and_the_end_is_marked(desk: Path) -> None:  # noqa: F811
    failed = {"format": 1, "tools": {"judge": {"failed": {"kind": "net", "message": "no line"}}}}
    (desk / "script.json").write_text(json.dumps(failed))
    done = fdc("run", "a.plan", "--simulate", "script.json", "--format", "json", cwd=desk)
    end = json.loads(done.stdout)
    assert (
        done.returncode == 1
        and end["simulated"] is True
        and end["stop"]["message"] == "`judge`: no line"
    )
    (desk / "script.json").write_text('{"format": 1}')
    done = fdc("run", "a.plan", "--simulate", "script.json", cwd=desk)
    assert (
        done.returncode == 1 and "the simulation has no result of `judge` at main/3" in done.stdout
    )


def test_an_old_run_is_simulated_again_under_another_budget(desk: Path) -> None:  # noqa: F811
    (desk / "script.json").write_text(json.dumps(SCRIPT))
    first = fdc("run", "a.plan", "--simulate", "script.json", cwd=desk)
    name = run_name(first.stdout)
    again = fdc("run", "a.plan", "--simulate", name, cwd=desk)
    assert (
        again.returncode == 0
        and "5 6 by address" in fdc("show", run_name(again.stdout), cwd=desk).stdout
    )
    tight = fdc("run", "a.plan", "--simulate", name, "--budget", "tokens=4050", cwd=desk)
    assert tight.returncode == 1 and "the budget of 4050 tokens is used up" in tight.stdout
    (desk / "a.plan").write_text(PLAN.replace("judge first", "judge other"))
    other = fdc("run", "a.plan", "--simulate", name, cwd=desk)
    assert (
        other.returncode == 1 and "`judge` at main/3 differs from the recorded run" in other.stdout
    )


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "cannot be used"),
        ('{"format": 2}', "$.format: 1 was expected"),
        ('{"format": 1, "tools": {"judge": {}}}', "$.tools.judge"),
        ('{"format": 1, "tools": {"judge": {"value": NaN}}}', "NaN is not a JSON"),
        ('{"format": 1, "addresses": {"main/1": {"usage": {"tokens": -1}}}}', "minimum"),
        ("[" * 100_000, "cannot be used"),
    ],
)
def test_a_script_that_is_wrong_is_one_sentence(desk: Path, text: str, says: str) -> None:  # noqa: F811
    (desk / "script.json").write_text(text)
    done = fdc("run", "a.plan", "--simulate", "script.json", cwd=desk)
    assert done.returncode == 2 and says in done.stderr and done.stderr.count("\n") == 1, (
        done.stderr
    )
    assert not (desk / ".fdc").exists()


def test_neither_a_file_nor_a_run_is_said(desk: Path) -> None:  # noqa: F811
    done = fdc("run", "a.plan", "--simulate", "nowhere", cwd=desk)
    assert done.returncode == 2 and "`nowhere` is neither a file nor" in done.stderr


# Approvals


def test_an_approval_given_in_advance_is_in_the_journal_as_that(workspace: Path) -> None:
    write(
        workspace,
        "record_user_approval_for_plan the plan of today",
        "colour <- request_user_input Which?",
    )
    done = fdc("run", "a.plan", "--approve", "plan", cwd=workspace)
    assert (
        done.returncode == 5
        and "question: Which?" in done.stdout
        and "Do you approve" not in done.stdout
    )
    assert "answered by command line, in advance" in fdc("show", "last", cwd=workspace).stdout
    done = fdc("run", "a.plan", cwd=workspace)
    assert done.returncode == 5 and "question: Do you approve the plan of today?" in done.stdout
    done = fdc(
        "resume", run_name(done.stdout), "--approve", "plan", "--answer", "yes", cwd=workspace
    )
    assert "question: Which?" in done.stdout
