"""`fdc audit` on small workspaces: what bites, what does not, and what the log shows (FDC-101)."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from fdc_toolchain.cli.project.audit import command
from fdc_toolchain.tasks.activity import LOG
from fdc_toolchain.tasks.usage import usage

from tests.support.process import fdc
from tests.support.repository import ROOT

PLAN = """# FSM: tooling/fdc_fsm.json
set_plan Look
plan_step_complete Seen.
# evidence: VERSION:1
read_file VERSION
delete_file VERSION
run_in_bash_session echo python3 tooling/kettle.py
close_task
submit
"""


def rule(name: str, check: Any = None, enforcement: str = "A clock.") -> dict[str, Any]:
    made = {"rule_id": name, "description": "Tea.", "enforcement": enforcement}
    return made if check is None else {**made, "check": check}


def protocol(root: Path, *rules: dict[str, Any], tools: tuple[str, ...] = ()) -> None:
    (root / "protocols").mkdir(exist_ok=True)
    body = {
        "protocol_id": "tea",
        "description": "How tea is made.",
        "rules": list(rules),
        "associated_tools": list(tools),
    }
    (root / "protocols" / "10_tea.protocol.json").write_text(json.dumps(body, indent=1))
    (root / "VERSION").write_text("1.0.0\n")


def audited(root: Path) -> tuple[int, dict[str, Any]]:
    """The command in this process; some tests below start it as its user does."""
    done = CliRunner().invoke(
        command, ["--format", "json", "--workspace", str(root)], standalone_mode=False
    )
    assert (None, "") == (done.exception, done.stderr)
    return done.return_value, json.loads(done.stdout)


def rules_of(report: dict[str, Any]) -> list[tuple[str, str]]:
    return [(item["code"], item["severity"]) for item in report["findings"]]


def test_rules_are_counted_and_one_that_only_says_it_is_enforced_fails(workspace: Path) -> None:
    (workspace / "p.plan").write_text(PLAN)
    protocol(
        workspace,
        rule("coded", {"code": "FDC403"}),
        rule(
            "proved",
            {"template": "absence", "a": {"tool": "delete_file", "arguments": {"path": "logs/**"}}},
        ),
        rule("advice"),
    )
    code, report = audited(workspace)
    assert (0, 2, 1, 0) == (
        code,
        *(report["rules"][state] for state in ("enforced", "advice", "broken")),
    )
    assert ["FDC403", "absence", ""] == [row["by"] for row in report["rules"]["each"]]
    protocol(
        workspace,
        rule("coded", {"code": "FDC403"}),
        rule("claimed", enforcement="`fdc lint` reports FDC403."),
    )
    code, report = audited(workspace)
    assert (1, 1, 1) == (code, report["rules"]["enforced"], report["rules"]["broken"])
    assert [("FDC535", "error")] == rules_of(report)


@pytest.mark.parametrize(
    ("check", "words"),
    [
        ({"code": "FDC999"}, "FDC999"),
        ({"template": "precedence", "a": "no_such_tool", "b": "submit_op"}, "no_such_tool"),
        ({"template": "precedence", "a": "read_op"}, "b"),
    ],
)
def test_a_check_that_does_not_work_fails_the_audit(
    workspace: Path, check: Any, words: str
) -> None:
    protocol(workspace, rule("broken", check), rule("coded", {"code": "FDC403"}))
    code, report = audited(workspace)
    assert 1 == code and any(
        words in item["message"] for item in report["findings"] if item["severity"] == "error"
    )


def test_a_rule_whose_code_is_ignored_fails_the_audit(workspace: Path) -> None:
    protocol(workspace, rule("coded", {"code": ["FDC313", "FDC441"]}))
    (workspace / "fdc.toml").write_text('ignore = ["FDC313"]\n')
    assert 0 == audited(workspace)[0]
    (workspace / "fdc.toml").write_text('ignore = ["FDC313", "FDC441"]\n')
    code, report = audited(workspace)
    assert (1, [("FDC536", "error")]) == (code, rules_of(report))


def test_the_log_of_real_work_is_compared_with_the_protocols(workspace: Path) -> None:
    """Tools of no protocol, tools that no one used, centrality, tasks, damaged lines by number."""
    (workspace / "knowledge_core" / "agent_meta.json").write_text(
        '{"model_name": "m", "knowledge_cutoff": "c"}'
    )
    (workspace / "p.plan").write_text(PLAN)
    protocol(
        workspace,
        rule("draw"),
        tools=("read_file", "view_image", "tooling/fdc_cli.py", "tooling/kettle.py"),
    )
    (workspace / "tooling").mkdir()
    (workspace / "tooling" / "kettle.py").write_text('"""Boils."""\n')
    (workspace / "tooling" / "fdc_cli.py").write_text('"""fdc."""\n')
    assert 0 == fdc("start", "--task-id", "T-1", "--network", "off", cwd=workspace).returncode
    done = fdc("run", "p.plan", cwd=workspace)
    assert 0 == done.returncode, done.stdout + done.stderr
    (workspace / "VERSION").write_text("1.0.0\n")
    with open(workspace / LOG, "ab") as file:
        file.write(b'{"log_id": \n{"phase": "Phase 9"}\n')
    last = len((workspace / LOG).read_bytes().splitlines())
    code, report = audited(workspace)
    assert 0 == code
    log = report["log"]
    assert (1, 7, 1, [], [last - 1]) == (
        log["tasks"],
        log["steps"],
        log["with_evidence"],
        log["unclosed"],
        log["damaged"],
    )
    assert [last] == [row["line"] for row in log["invalid"]]
    found = [
        (item["code"], item["path"], item["start"]["line"], item["message"])
        for item in report["findings"]
    ]
    unowned = {
        re.findall("`(.*?)`", message)[0] for code, _, _, message in found if code == "FDC537"
    }
    assert {
        "set_plan",
        "plan_step_complete",
        "delete_file",
        "run_in_bash_session",
        "close_task",
        "submit",
    } == unowned
    assert ["`view_image`"] == [
        message.split()[0] for code, _, _, message in found if code == "FDC538"
    ]
    assert [] == [code for code, *_ in found if code == "FDC541"], (
        "the plan's `close_task` ended the task"
    )
    assert [(LOG, last - 1), (LOG, last)] == [
        (path, line) for code, path, line, _ in found if code == "FDC540"
    ]
    tools = {row["name"]: row for row in report["tools"]}
    assert (1, ["tea"]) == (
        tools["tooling/kettle.py"]["used"],
        tools["tooling/kettle.py"]["protocols"],
    )
    assert tools["read_file"]["centrality"] > 0 == tools["delete_file"]["centrality"]
    assert 1 == fdc("audit", "--strict", cwd=workspace).returncode


def test_a_stale_agents_file_and_a_dead_link_fail_the_audit(workspace: Path) -> None:
    protocol(workspace, rule("draw"))
    assert 0 == fdc("protocols", "build", cwd=workspace).returncode
    assert 0 == audited(workspace)[0]
    protocol(workspace, rule("draw"), rule("pour"))
    (workspace / "knowledge_core" / "plan_registry.json").write_text('{"gone": "plans/gone.plan"}')
    code, report = audited(workspace)
    assert 1 == code and {"FDC504", "FDC328"} == {item["code"] for item in report["findings"]}


def test_the_report_is_written_as_a_page(workspace: Path) -> None:
    protocol(workspace, rule("draw"), rule("claimed", enforcement="FDC403"))
    done = fdc("audit", "--output", "reports/audit_report.md", cwd=workspace)
    assert 1 == done.returncode and "report: reports/audit_report.md" in done.stdout
    page = (workspace / "reports" / "audit_report.md").read_text("utf-8")
    for said in (
        "# Audit",
        "| tea | 0 | 1 | 1 |",
        "| tea | claimed | broken |  |",
        "unenforced-rule (FDC535)",
        "## Tools",
    ):
        assert said in page
    assert (
        page == CliRunner().invoke(command, ["--format", "markdown"], standalone_mode=False).stdout
    )


def test_an_empty_workspace_has_nothing_to_say(workspace: Path) -> None:
    done = fdc("audit", cwd=workspace)
    assert (0, "") == (done.returncode, done.stderr)
    assert "0 of 0 rules enforced" in done.stdout and "nothing is on record" in done.stdout


def test_hostile_bytes_are_counted_and_never_raise() -> None:
    seen = usage(b'[]\n\xff\xfe\n{"a":' + b"[" * 9999 + b'\n{"action": 3, "task": []}\n\n{}')
    assert ((1, 2, 3), [4, 6], 0) == (
        seen.damaged,
        [line for line, _ in seen.invalid],
        seen.entries,
    )


def test_our_own_rules_bite() -> None:
    """Issue 3: of our rules at least 20 are enforced, and none only says so."""
    report = audited(ROOT)[1]["rules"]
    assert (
        0 == report["broken"]
        and 20 <= report["enforced"]
        and 34 <= report["enforced"] + report["advice"]
    )
