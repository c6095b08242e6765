"""Entries of the activity log and the report of the probe, as values."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from fdc_toolchain import resources
from fdc_toolchain.tasks.activity import (
    ValidationError,
    entry,
    faults,
    line,
    read,
    safe_id,
    task_fault,
)
from fdc_toolchain.tasks.capabilities import render
from fdc_toolchain.tasks.probe import (
    probe,
    probe_environment_variables,
    probe_filesystem,
    probe_network,
)

NOW = datetime(2026, 2, 3, 4, 5, 6, 789_000, tzinfo=UTC)
ID = "00000000-0000-4000-8000-000000000000"


def made(action: str = "INFO", **more: Any) -> dict[str, Any]:
    options = {"task_id": "t", "phase": 3, "session_id": "s", "log_id": ID, "now": NOW, **more}
    return dict(entry(action, {}, **options))


def test_an_entry_has_the_keys_of_the_row() -> None:
    """FDC-106."""
    full = made(
        plan_step="main/2", status="FAILURE", message="m", error="e", evidence_citation="a.md:3",
        context={"current_thought": "x", "active_memory_summary": "y", "plan_execution_stack": ["main"]},
    )  # fmt: skip
    assert [] == faults(full)
    assert {
        "log_id": ID, "session_id": "s", "timestamp": "2026-02-03T04:05:06.789+00:00", "phase": "Phase 3",
        "task": {"id": "t", "plan_step": "main/2"}, "action": {"type": "INFO", "details": {}},
        "outcome": {"status": "FAILURE", "message": "m", "error": "e"}, "evidence_citation": "a.md:3",
        "context": {"current_thought": "x", "active_memory_summary": "y", "plan_execution_stack": ["main"]},
    } == full  # fmt: skip
    assert {"log_id", "session_id", "timestamp", "phase", "task", "action", "outcome"} == set(
        made()
    )


def test_the_types_of_action_are_those_of_the_row() -> None:
    """FDC-107."""
    schema = json.loads(resources.read("grammar/activity_log.schema.json"))
    listed = (
        "TASK_START, FILE_READ, FILE_WRITE, TOOL_EXEC, EXTERNAL_RAG_QUERY, PLAN_UPDATE, CRITIC_FEEDBACK, "
        "POST_MORTEM, TASK_END, INFO, SYSTEM_FAILURE, RESEARCH_REPORT"
    )
    assert listed.split(", ") == schema["properties"]["action"]["properties"]["type"]["enum"]
    assert all(faults(made(action)) == [] for action in listed.split(", "))


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"action": {"type": "WARNING", "details": {}}}, "$.action.type"),
        ({"phase": "Phase 9"}, "$.phase"),
        ({"phase": "Phase 4.1"}, "$.phase"),
        ({"log_id": "1"}, "$.log_id"),
        ({"session_id": ""}, "$.session_id"),
        ({"timestamp": "2026-02-03 04:05:06"}, "$.timestamp"),
        ({"timestamp": "2026-13-03T04:05:06Z"}, "$.timestamp"),
        ({"task": {"id": "", "plan_step": None}}, "$.task.id"),
        ({"task": {"id": "t"}}, "$.task"),
        ({"outcome": {"status": "OK"}}, "$.outcome.status"),
        ({"context": {"plan_execution_stack": "main"}}, "$.context.plan_execution_stack"),
        ({"extra": 1}, "$"),
    ],
)
def test_what_breaks_the_schema_is_no_line(change: dict[str, Any], where: str) -> None:
    """FDC-68, FDC-107: raised with the JSON path, so it cannot be written."""
    with pytest.raises(ValidationError, match=re.escape(f"{where}: ")):
        line({**made(), **change})


@pytest.mark.parametrize(
    "details", [{"x": float("nan")}, {"x": {1, 2}}, {"x": b""}], ids=["nan", "set", "bytes"]
)
def test_what_is_not_json_is_no_line(details: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        line({**made(), "action": {"type": "INFO", "details": details}})


def test_a_missing_key_is_named() -> None:
    for key in made():
        item = made()
        del item[key]
        assert any(f"'{key}' is a required property" in fault for fault in faults(item)), key


def test_damaged_lines_are_counted_and_passed_over() -> None:
    """FDC-108: the log goes on after a torn line."""
    whole = line(made())
    history = read(
        b"\n".join(
            [whole[:-1], b'{"torn": ', b"", b"[1]", b"\xff\xfe", b"[" * 100_000, whole + b'{"tail"']
        )
    )
    assert (2, (2, 4, 5, 6, 8)) == (len(history.entries), history.damaged)


@pytest.mark.parametrize(
    "item", [{}, {"task": 1, "action": 2}, {"task": {"id": ["t"]}, "action": {"type": None}}]
)
def test_entries_of_another_shape_belong_to_no_task(item: dict[str, Any]) -> None:
    assert [] == read(json.dumps(item).encode()).of("t")


@pytest.mark.parametrize("task_id", ["a", "FDC-40", "feature/login", "задача 7", "a" * 200])
def test_a_task_id_is_allowed(task_id: str) -> None:
    assert task_fault(task_id) is None


@pytest.mark.parametrize(
    "task_id",
    ["", "  ", "a\nb", "a`b", " a", "a\x1b[2J", "///", "--", "a" * 201, "\ud800"],
    ids=ascii,
)
def test_a_task_id_that_is_none_is_refused(task_id: str) -> None:
    """FDC-07."""
    assert task_fault(task_id)


@pytest.mark.parametrize(
    ("task_id", "safe"), [("FDC-40_b", "FDC-40_b"), ("../../etc/x y", "etcxy"), ("a.b:c", "abc")]
)
def test_the_safe_form_keeps_letters_digits_dash_and_underscore(task_id: str, safe: str) -> None:
    """FDC-17."""
    assert safe == safe_id(task_id)


def test_the_report_has_three_sections_and_leaves_nothing_behind(tmp_path: Path) -> None:
    """FDC-65."""
    report = render(probe(str(tmp_path), network="off", environment={"PATH": str(tmp_path)}))
    assert ["Filesystem:", "Network:", "Environment variables:"] == [
        x for x in report.splitlines() if x.endswith(":")
    ]
    assert re.search(r"\[PASS\] write, read and delete in .*: \d+\.\d ms", report)
    assert "[WARN] not tried" in report and "[PASS] PATH has 1 folders" in report
    assert [] == list(tmp_path.iterdir())


def test_what_cannot_be_done_is_a_fail_and_no_exception(tmp_path: Path) -> None:
    """FDC-62, FDC-65."""
    found = probe_filesystem(str(tmp_path / "absent"))
    assert ("FAIL", True) == (found.status, "cannot create a file" in found.finding)
    for network in ("127.0.0.1:1", "127.0.0.1:99999", "nowhere", ":80", "localhost:٣"):
        assert "FAIL" == probe_network(network).status, network


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("", "FAIL"),
        (None, "FAIL"),
        ("/absent", "FAIL"),
        ("/absent:{here}", "WARN"),
        ("{here}", "PASS"),
    ],
)
def test_path_is_judged_by_its_folders(tmp_path: Path, path: str | None, status: str) -> None:
    environment = {} if path is None else {"PATH": path.format(here=tmp_path)}
    assert [status] == [check.status for check in probe_environment_variables(environment)]
