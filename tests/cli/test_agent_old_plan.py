"""`fdc agent` gives a task no plan that another task left behind (issue 15: it ran it, without a word)."""

from __future__ import annotations

import os
from pathlib import Path

from tests.cli.test_agent import PLAN, agent, home
from tests.cli.test_agent_outside import HOSTILE, digest, resumed, waiting
from tests.support.inside import fdc

__all__ = ["home"]


def test_the_plan_of_another_task_is_not_run_until_it_is_written_again(home: Path) -> None:
    plan = home / "plan.txt"
    plan.write_text(PLAN)
    code, out, _ = agent(home, "Say hello", "--task-id", "T-1")
    assert code == 0 and "\nhello\n" in out
    code, out, _ = agent(home, "Water the plants", "--task-id", "T-2")
    assert code == 5 and "hello\n" not in out
    assert "waiting for a new plan.txt: it holds the plan of the task `T-1`" in out
    plan.write_text(PLAN.replace("hello", "watered"))
    code, out, _ = agent(home, "--resume", "T-2")
    assert code == 0 and "\nwatered\n" in out
    code, out, _ = agent(home, "Once more", "--task-id", "T-3")
    assert code == 5 and "the plan of the task `T-2`" in out
    os.utime(plan)
    code, out, _ = agent(home, "--resume", "T-3")
    assert code == 0 and "\nwatered\n" in out


def test_a_plan_that_is_named_serves_as_many_tasks_as_it_is_named_for(home: Path) -> None:
    (home / "daily.plan").write_text(PLAN)
    for task in ("T-1", "T-2"):
        code, out, _ = agent(home, "Say hello", "--task-id", task, "--plan", "daily.plan")
        assert code == 0 and "\nhello\n" in out


def test_a_task_that_was_stopped_keeps_its_own_plan(home: Path) -> None:
    (home / "plan.txt").write_text(PLAN.replace("message_user hello", "request_user_input Which?"))
    code, out, _ = agent(home, "Ask", "--task-id", "T-1")
    assert code == 5 and "waiting for a new plan.txt" not in out
    assert "waiting for a new plan.txt" not in agent(home, "--resume", "T-1")[1]


def test_a_plan_that_nobody_approved_is_not_approved_by_beginning_another_task(home: Path) -> None:
    waiting(home, HOSTILE)
    resumed(home, 5, "--decline", digest(HOSTILE))
    done = fdc("agent", "Next", "--task-id", "T-2", "--network", "off", cwd=home)
    assert 5 == done.returncode and "it holds the plan of the task `T-1`" in done.stdout
    os.utime(home / "plan.txt")
    done = fdc("agent", "--resume", "T-2", "--network", "off", cwd=home)
    assert 5 == done.returncode and "what its author was shown in the task T-1" in done.stdout
    assert not (home / "owned").exists()


def test_a_plan_that_a_run_finished_already_is_not_run_again_for_a_task(home: Path) -> None:
    """A task was done by a plan that had nothing to do with it, and that had committed its work before."""
    plan = home / "plan.txt"
    plan.write_text(PLAN)
    assert fdc("run", "plan.txt", cwd=home).returncode == 0
    code, out, _ = agent(home, "Water the plants", "--task-id", "T-1")
    assert code == 5 and "hello\n" not in out
    assert "waiting for a new plan.txt: it holds the plan of the run `" in out
    assert "`, which finished (`touch plan.txt` gives that plan to this task, too)" in out
    os.utime(plan)
    code, out, _ = agent(home, "--resume", "T-1")
    assert code == 0 and "\nhello\n" in out
