"""No plan is read from a file whose name says that it holds secrets: findings would quote its lines."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.process import fdc

CALLS = "set_plan x\nplan_step_complete x\ncall_plan {called}\nclose_task\nsubmit\n"


@pytest.fixture
def shop(workspace: Path) -> Path:
    (workspace / "fdc.toml").write_text('secret = ["vault/**"]\n')
    (workspace / "vault").mkdir()
    for name in (".env", "vault/a.plan"):
        (workspace / name).write_text("raed_file hunter2hunter2\nhunter2hunter2\n")
    (workspace / "link.plan").symlink_to(".env")
    (workspace / "folder").symlink_to("vault")
    return workspace


@pytest.mark.parametrize("called", [".env", "link.plan", "vault/a.plan", "folder/a.plan"])
def test_a_plan_that_calls_one_is_refused_and_no_line_of_it_is_quoted(
    shop: Path, called: str
) -> None:
    plan = CALLS.format(called=called)
    (shop / "a.plan").write_text(plan)
    for form in ("text", "llm", "json", "sarif", "github", "gitlab", "junit"):
        for path in ("a.plan", called):
            done = fdc("lint", "--format", form, path, cwd=shop)
            said = done.stdout + done.stderr
            assert 1 == done.returncode and "FDC418" in said, (form, said)
            assert "hunter2" not in said, (form, said)
    tool = {"plan": f"```plan\n{plan}```\n"}
    event = {
        "hook_event_name": "PermissionRequest",
        "tool_name": "ExitPlanMode",
        "tool_input": tool,
    }
    done = fdc("hook", "claude-exit-plan", cwd=shop, stdin=json.dumps(event))
    assert "deny" in done.stdout and "hunter2" not in done.stdout


def test_the_verdict_follows_a_link_that_leads_elsewhere_now(shop: Path) -> None:
    (shop / "good.plan").write_text("list_files *\n")
    (shop / "a.plan").write_text(CALLS.format(called="link.plan"))
    for target, code in ((".env", 1), ("good.plan", 0), (".env", 1), ("good.plan", 0)):
        (shop / "link.plan").unlink()
        (shop / "link.plan").symlink_to(target)
        assert code == fdc("lint", "a.plan", cwd=shop).returncode, target
