"""What research leaves behind: its page and plan, its report, and a line in the log (FDC-50, FDC-57)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from fdc_toolchain.tasks.activity import LOG, faults

from tests.support.process import fdc


@pytest.fixture
def begun(workspace: Path) -> Path:
    (workspace / "knowledge_core" / "agent_meta.json").write_text(
        '{"model_name": "m", "knowledge_cutoff": "c"}'
    )
    (workspace / "docs").mkdir()
    (workspace / "docs" / "tea.md").write_text(
        "# Tea\n\nGreen tea is drawn for two minutes at eighty degrees.\n"
    )
    assert 0 == fdc("start", "--task-id", "T-1", "--network", "off", cwd=workspace).returncode
    return workspace


def logged(root: Path) -> list[dict[str, Any]]:
    entries = [json.loads(raw) for raw in (root / LOG).read_bytes().splitlines()]
    assert [] == [fault for item in entries for fault in faults(item)]
    return entries


def test_a_report_is_saved_and_logged_with_its_path(begun: Path) -> None:
    done = fdc("research", "How long is green tea drawn?", "--docs", "docs", cwd=begun)
    assert 0 == done.returncode, done.stderr
    reports = [item for item in logged(begun) if item["action"]["type"] == "RESEARCH_REPORT"]
    [path] = [item["action"]["details"]["path"] for item in reports]
    assert (begun / path).is_file() and "T-1" == reports[0]["task"]["id"]
    steps = [
        item["action"]["details"]["tool"] for item in logged(begun) if item["phase"] == "Phase 3"
    ]
    phases = [
        "set_plan",
        "scan_documents",
        "propose_keywords",
        "scope_question",
        "search_passages",
        "plan_queries",
    ]
    assert [*phases, "choose_pages", "join_pages", "extract_evidence", "check_citations"] == steps[
        :10
    ]


def test_a_report_outside_of_the_workspace_is_logged_too(begun: Path, tmp_path: Path) -> None:
    target = tmp_path / "out.md"
    done = fdc(
        "research",
        "How long is green tea drawn?",
        "--docs",
        "docs",
        "--out",
        str(target),
        cwd=begun,
    )
    assert 0 == done.returncode and target.is_file(), done.stderr
    last = logged(begun)[-1]
    assert ("RESEARCH_REPORT", str(target)) == (
        last["action"]["type"],
        last["action"]["details"]["path"],
    )


def test_research_that_finds_nothing_logs_no_report(begun: Path) -> None:
    assert 1 == fdc("research", "Whence quaternions?", "--docs", "docs", cwd=begun).returncode
    assert not [item for item in logged(begun) if item["action"]["type"] == "RESEARCH_REPORT"]


def test_the_planner_writes_the_page_and_the_plan(begun: Path) -> None:
    def write(*options: str) -> Any:
        return fdc(
            "Green [Topic] | tea?",
            "r-1",
            "--write",
            *options,
            cwd=begun,
            script="research_planner.py",
        )

    done = write()
    assert (0, "") == (done.returncode, done.stderr)
    page, plan = (begun / path for path in done.stdout.split())
    assert ("research_plan_r-1.md", "research_plan_r-1.plan") == (page.name, plan.name)
    text = page.read_text("utf-8")
    assert (
        "[RESEARCH_ID]" not in text
        and "Green [Topic] | tea?" in text
        and "research/research_report_r-1.md" in text
    )
    assert 0 == fdc("lint", str(plan), cwd=begun).returncode
    assert 0 == write().returncode
    page.write_text("mine\n")
    done = write()
    assert (
        2 == done.returncode
        and "says something else" in done.stderr
        and "mine\n" == page.read_text()
    )


def test_a_template_that_is_absent_is_named(begun: Path) -> None:
    done = fdc(
        "x", "r-2", "--write", "--template", "gone.md", cwd=begun, script="research_planner.py"
    )
    assert 3 == done.returncode and "gone.md" in done.stderr and not (begun / "research").exists()
