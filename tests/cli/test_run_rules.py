"""`fdc run` under rules of protocols: a step that breaks one is not made, whatever lint was told to keep silent (FDC-64)."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from tests.support.process import fdc
from tests.support.repository import ROOT

HIDDEN = {
    "template": "absence",
    "a": {"action": "write_op", "arguments": {"path": "docs/generated/**"}},
}
READ_BACK = {"template": "response", "same": "path", "a": "write_op", "b": "read_file"}

PLAN = """param page = a.md
param shown = a.md
set_plan Write a page
plan_step_complete ready
overwrite_file_with_block docs/{page}
    Tea is brewed.
read_file docs/{shown}
close_task
submit
"""


def house(workspace: Path, plan: str = PLAN, **checks: dict[str, Any]) -> None:
    rules = [
        {
            "rule_id": name.replace("_", "-"),
            "description": f"The {name}.",
            "enforcement": "Proved.",
            "check": check,
        }
        for name, check in checks.items()
    ]
    (workspace / "protocols").mkdir(exist_ok=True)
    body = {"protocol_id": "house", "description": "The house.", "rules": rules}
    (workspace / "protocols" / "house.protocol.json").write_text(json.dumps(body))
    (workspace / "a.plan").write_text(plan)


def run_of(output: str) -> str:
    found = re.search(r"\d{8}-\d{6}-\w{4}", output)
    assert found is not None, output
    return found.group()


def test_a_step_that_breaks_a_rule_is_refused_before_it_touches_anything(workspace: Path) -> None:
    house(workspace, hidden=HIDDEN)
    lint = fdc("lint", "a.plan", cwd=workspace)
    assert "FDC463" in lint.stdout
    assert lint.returncode == 0, "what a value decides is a warning, and the run watches it"
    done = fdc("run", "a.plan", "page=generated/a.md", "shown=generated/a.md", cwd=workspace)
    assert done.returncode == 1
    refused = "rule: `overwrite_file_with_block` breaks the rule `hidden` of `house`: The hidden.\n  at a.plan:5 (main/3)\n"
    assert refused in done.stdout
    assert not (workspace / "docs" / "generated").exists()
    name = run_of(done.stdout)
    for command in ("verify", "replay"):
        again = fdc(command, name, cwd=workspace)
        assert again.returncode == 0, again.stdout + again.stderr
    assert fdc("resume", name, cwd=workspace).returncode != 0, (
        "a run that a rule has stopped is over"
    )
    free = fdc("run", "a.plan", cwd=workspace)
    assert free.returncode == 0, free.stdout
    assert (workspace / "docs" / "a.md").read_text() == "Tea is brewed.\n"


def test_a_run_that_ends_owing_something_says_what_and_for_which_file(workspace: Path) -> None:
    house(workspace, read_back=READ_BACK)
    (workspace / "docs").mkdir()
    (workspace / "docs" / "b.md").write_text("b")
    done = fdc("run", "a.plan", "shown=b.md", "--format", "json", cwd=workspace)
    assert done.returncode == 1
    ended = json.loads(done.stdout)
    assert ended["status"] == "stopped"
    assert ended["stop"]["kind"] == "rule"
    assert "`read-back` of `house` for the path `docs/a.md`" in ended["stop"]["message"]
    assert fdc("replay", ended["run"], cwd=workspace).returncode == 0


def test_a_comment_silences_no_rule_that_is_enforced(workspace: Path) -> None:
    check = {"template": "absence", "a": "overwrite_file_with_block"}
    house(
        workspace,
        PLAN.replace("overwrite", "# fdc: ignore[FDC461] it is urgent\noverwrite"),
        never=check,
    )
    assert fdc("lint", "a.plan", cwd=workspace).returncode == 1
    done = fdc("run", "a.plan", cwd=workspace)
    assert done.returncode == 1
    assert "FDC461" in done.stderr
    assert not (workspace / "docs").exists()


def test_a_rule_that_only_warns_lets_the_run_go_on(workspace: Path) -> None:
    house(
        workspace,
        never={"template": "absence", "a": "overwrite_file_with_block", "severity": "warning"},
    )
    lint = fdc("lint", "a.plan", cwd=workspace)
    assert (lint.returncode, "FDC461" in lint.stdout) == (0, True)
    assert fdc("run", "a.plan", cwd=workspace).returncode == 0


def test_a_plan_that_breaks_a_rule_for_certain_is_not_run_at_all(workspace: Path) -> None:
    house(workspace, never={"template": "absence", "a": "submit"})
    done = fdc("run", "a.plan", cwd=workspace)
    assert done.returncode == 1
    assert "FDC461" in done.stdout + done.stderr
    assert not (workspace / "docs").exists()


def test_a_rule_is_part_of_the_program_and_only_of_plans_that_it_speaks_of(workspace: Path) -> None:
    house(workspace, read_back={**READ_BACK, "where": {"plans": ["other/*"]}})
    (workspace / "docs").mkdir()
    (workspace / "docs" / "b.md").write_text("b")
    assert fdc("run", "a.plan", "shown=b.md", cwd=workspace).returncode == 0


CALLED = """# FSM: tooling/research_fsm.json
param report = research/r.md
set_plan Find out
plan_step_complete found
overwrite_file_with_block {report}
    Found.
close_task
"""

CALLER = """# FSM: tooling/fdc_fsm.json
param where = research/r.md
set_plan Ask
plan_step_complete ready
call_plan find.plan report={where}
close_task
submit
"""


def test_a_rule_for_an_automaton_does_not_look_into_plans_under_another(workspace: Path) -> None:
    """`where.automata`: lint and run agree on which steps are meant, for rules with and without `same`."""
    absent = {"template": "absence", "a": {"action": "write_op", "arguments": {"path": "logs/**"}}}
    where = {"where": {"automata": ["tooling/fdc_fsm.json"]}}
    (workspace / "find.plan").write_text(CALLED)
    for check, meant in (
        ({**absent}, True), ({**absent, **where}, False),
        ({**READ_BACK}, True), ({**READ_BACK, **where}, False),
    ):  # fmt: skip
        house(workspace, CALLER, rule=check)
        lint = fdc("lint", "a.plan", "--no-cache", cwd=workspace)
        assert (lint.returncode == 0 and "FDC46" not in lint.stdout) is not meant, lint.stdout
        done = fdc("run", "a.plan", "where=logs/x", cwd=workspace)
        assert (done.returncode == 1) is meant, done.stdout
        (workspace / "logs" / "x").unlink(missing_ok=True)


ASIDE = """# FSM: tooling/research_fsm.json
use pack research
set_plan Research
scan <- scan_documents
scope <- scope_question question=tea scan={scan}
gathered <- search_passages scope={scope} scan={scan}
# fdc: ignore[broken-rule] no comment silences it
read_file docs/tea.md
found <- extract_evidence scope={scope} passages={gathered.passages} scan={scan}
plan_step_complete Gathered
create_file_with_block research/tea.md
    {found.citations}
close_task
"""


def test_a_research_step_by_another_path_is_refused_when_it_runs(workspace: Path) -> None:
    """FDC-55: under our own protocol, whatever a comment says; the plan without that step runs."""
    (workspace / "protocols").mkdir(exist_ok=True)
    ours = ROOT / "protocols" / "09_research.protocol.json"
    (workspace / "protocols" / ours.name).write_bytes(ours.read_bytes())
    (workspace / "docs").mkdir(exist_ok=True)
    (workspace / "docs" / "tea.md").write_text("Tea is hot.\n")
    (workspace / "a.plan").write_text(ASIDE)
    done = fdc("run", "a.plan", cwd=workspace)
    assert (
        done.returncode == 1
        and "broken-rule" in done.stderr
        and "mandate-research-tools" in done.stderr
    ), done.stderr
    kept = [
        line for line in ASIDE.split("\n") if "read_file" not in line and "fdc: ignore" not in line
    ]
    (workspace / "a.plan").write_text("\n".join(kept))
    assert fdc("run", "a.plan", cwd=workspace).returncode == 0
