"""Logs, lessons and post-mortems as repositories of other tools have them: read as they are, and what cannot be is named."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

from fdc_toolchain.agent.audit.audit import audit
from fdc_toolchain.agent.lessons import lessons
from fdc_toolchain.linking.project.settings import Settings
from fdc_toolchain.tasks.postmortem import read
from fdc_toolchain.tasks.usage import usage

PROTOCOL = {
    "protocol_id": "p", "description": "d", "associated_tools": ["read_file", "list_files", "grep"],
    "rules": [{"rule_id": "r", "description": "d", "enforcement": "advice"}],
}  # fmt: skip


def entry(kind: str, **details: Any) -> str:
    return json.dumps({
        "log_id": "6513270e-269e-0d37-f2a7-4de452e6b438", "session_id": "s", "timestamp": "2025-10-06T04:00:00+00:00",
        "phase": "Phase 3", "task": {"id": "t", "plan_step": 1}, "action": {"type": kind, "details": details},
        "outcome": {"status": "SUCCESS"},
    })  # fmt: skip


LOG = "\n".join([
    entry("TOOL_EXEC", tool_name="read_file", parameters={"filepath": "tea.md"}),
    entry("AGENT_TOOL_CALL", tool_name="run", parameters={"command": "python3 tooling/probe.py"}),
    entry("TOOL_EXEC", command="make"),
    "{broken",
    entry("TOOL_EXEC", tool="grep"),
])  # fmt: skip


def test_a_log_names_its_tools_either_way_and_odd_types_count() -> None:
    seen = usage(LOG.encode())
    assert (["grep", "read_file", "run"], ["probe"]) == (
        [one.name for one in seen.tools],
        [one.name for one in seen.scripts],
    )
    assert (4, 3, 1, (4,), ((2, "AGENT_TOOL_CALL"),)) == (
        seen.entries, seen.steps, seen.nameless, seen.damaged, seen.odd,
    )  # fmt: skip


def test_an_audit_says_of_unused_tools_no_more_than_the_log_shows(workspace: Path) -> None:
    """FDC538: `list_files` may be what the entry without a name used, or what the broken line says."""
    source = json.dumps(PROTOCOL).encode()
    (workspace / "logs").mkdir(exist_ok=True)
    (workspace / "logs" / "activity.log.jsonl").write_text(LOG)
    found = audit(str(workspace), Settings(), {"protocols/p.protocol.json": source}, ())
    said = [item.message for item in found.findings if item.code == "FDC538"]
    assert [
        "`list_files` is a tool of `p`, and no step on record that names its tool used it (1 name none, one line cannot be read)"
    ] == said
    assert ["AGENT_TOOL_CALL"] == [
        item.message.split("`")[1] for item in found.findings if "is not a type" in item.message
    ]


def test_lessons_of_other_tools_are_lessons_and_keep_their_keys() -> None:
    rows = [
        {"lesson_id": "a", "lesson": "Look first.", "status": "pending", "own": 1},
        {"lesson_id": "b", "lesson": "Old.", "status": "obsolete"},
        {
            "lesson_id": "c",
            "status": "pending",
            "failure": {"test_file": "t.py", "error_message": "no"},
        },
        {"lesson_id": "d", "status": "pending"},
    ]
    data = "".join(json.dumps(row) + "\n" for row in rows).encode()
    book = lessons.read(data)
    assert [("Look first.", "pending"), ("Old.", "obsolete"), ("t.py: no", "pending")] == [
        (one["insight"], one["status"]) for one in book.lessons
    ]
    assert [4] == [line.number for line in book.damaged] and data == lessons.write(book)
    after = lessons.changed(book, lessons.entered(book.lessons[0], "dismissed", "now"))
    [kept] = [one for one in lessons.read(lessons.write(after)).lessons if one["lesson_id"] == "a"]
    assert ("dismissed", 1, "Look first.") == (kept["status"], kept["own"], kept["lesson"])


def test_lists_without_labels_are_lessons_and_prose_is_named() -> None:
    page = (
        "## 4. Key Learnings\n\nWe saw:\n\n* Look at the kettle first. A step that waits\n  says for what.\n"
        "* Add tool 'grep' to protocol 'p'\n\nNo more.\n\n## Lessons\n\nNone that we know of.\n\n"
        "## Corrective actions\n\n1. **Lesson:** [One sentence.]\n   - [x]\n"
    )
    found = read(page, date(2025, 1, 1))
    assert [
        (5, "Look at the kettle first. A step that waits says for what.", "placeholder"),
        (7, "Add tool 'grep' to protocol 'p'", "add-tool"),
    ] == [(one.line, one.insight, one.action["command"]) for one in found.lessons]
    assert [13] == [line for line, _ in found.notes]
