"""One step as one line of the log: which type of action it is, and what stands on the stack."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from fdc_toolchain.check import compile_plan
from fdc_toolchain.engine.events import Failure, Outcome, Perform
from fdc_toolchain.linking.catalogue import catalogues, document
from fdc_toolchain.syntax.evidence import evidence, place
from fdc_toolchain.syntax.parse import parse
from fdc_toolchain.tasks.activity import Task, faults, line, log_ids, open_tasks
from fdc_toolchain.tasks.run_log import Step, action_type, entry_of, log_id, stack_of
from fdc_toolchain.tools.files.documents import MARK

TOOLS: dict[str, Any] = {
    name: row for path in catalogues() for name, row in document(path)["tools"].items()
}


def typed(tool: str, outcome: Outcome | None = None, **args: Any) -> str:
    row = TOOLS[tool]
    effect = Perform("main/1", "tool", tool, args, "", row["effect"], "p.plan", 1)
    return action_type(effect, outcome or Outcome(), row["action"], row)


@pytest.mark.parametrize(
    ("action", "tools"),
    [
        ("FILE_READ", ["read_file", "list_files", "grep", "view_image", "scan_documents"]),
        ("FILE_WRITE", ["create_file_with_block", "overwrite_file_with_block", "replace_with_git_merge_diff",
                        "restore_file", "delete_file", "rename_file"]),
        ("TOOL_EXEC", ["run_in_bash_session", "close_task", "submit"]),
        ("EXTERNAL_RAG_QUERY", ["google_search", "view_text_website"]),
        ("PLAN_UPDATE", ["set_plan", "plan_step_complete", "plan_deep_research"]),
        ("CRITIC_FEEDBACK", ["request_code_review"]),
        ("INFO", ["message_user", "request_user_input"]),
    ],
)  # fmt: skip
def test_a_tool_tells_the_type_of_action(action: str, tools: list[str]) -> None:
    """FDC-107."""
    assert {action} == {typed(tool) for tool in tools}


def test_research_is_a_query_where_it_leaves_the_workspace() -> None:
    assert "EXTERNAL_RAG_QUERY" == typed(
        "execute_research_protocol", target="external_web", scope="narrow"
    )
    assert "FILE_READ" == typed(
        "execute_research_protocol", target="local_filesystem", scope="file"
    )


def test_a_report_of_research_that_was_written_is_one() -> None:
    """FDC-57: and one that could not be written is none."""
    report = f"{MARK}\n# An answer\n"
    assert "RESEARCH_REPORT" == typed("overwrite_file_with_block", path="r.md", content=report)
    failed = Outcome(failure=Failure("file", "no"))
    assert "FILE_WRITE" == typed("overwrite_file_with_block", failed, path="r.md", content=report)


def test_every_tool_of_the_catalogue_has_a_type_and_makes_a_valid_line() -> None:
    program = {"root": "p", "plans": {"p": {"path": "p.plan", "body": []}}, "tools": TOOLS}
    for tool, row in TOOLS.items():
        effect = Perform(
            "main/1",
            "tool",
            tool,
            {"path": "x" * 999, "n": 3, "no": None},
            "",
            row["effect"],
            "p.plan",
            1,
        )
        for outcome in (
            Outcome("x"),
            Outcome(failure=Failure("file", "no")),
            Outcome({"exit_code": 3}),
        ):
            made = entry_of(
                "r", program, Task("t", "s"), Step(effect, outcome, 0.5, datetime.now(UTC))
            )
            assert [] == faults(made)
            assert ("SUCCESS" if outcome.value == "x" else "FAILURE") == made["outcome"]["status"]
            assert (
                300 > len(made["action"]["details"]["path"])
                and "no" not in made["action"]["details"]["arguments"]
            )


def test_a_line_has_a_name_of_its_own_that_never_changes() -> None:
    effects = [
        Perform(f"main/{n}", "tool", "t", {}, "", "once", "p", 1, turn=turn)
        for n in (1, 2)
        for turn in (1, 2)
    ]
    names = {log_id(run, effect) for run in ("a", "b") for effect in effects}
    assert 8 == len(names) and names == {
        log_id(run, effect) for run in ("b", "a") for effect in effects
    }


def test_the_stack_at_an_address(workspace: Any) -> None:
    """FDC-105, FDC-106: each plan's path, its instruction under way, how many it has."""
    (workspace / "sub").mkdir()
    (workspace / "sub/deep.plan").write_text("read_file a.md\nread_file a.md\n")
    (workspace / "a.md").write_text("")
    (workspace / "p.plan").write_text(
        "set_plan x\nplan_step_complete y\nfiles <- list_files .\nfor_each_file *.md\n    if len(files) > 0\n"
        "        for f in {files} max 9\n            read_file {f}\n            call_plan sub/deep.plan\nclose_task\nsubmit\n"
    )
    program, found = compile_plan("p.plan", str(workspace))
    assert program is not None, found
    stack, item = stack_of(program, "main/4[2]/1.then/1[7]/2>sub/deep.plan/2")
    assert [
        {"plan_path": "p.plan", "current_step": 4, "plan_length": 6, "line": 8},
        {"plan_path": "sub/deep.plan", "current_step": 2, "plan_length": 2, "line": 2},
    ] == stack
    assert item is not None and "read_file" == item["tool"]
    assert [("p.plan", 5)] == [
        (frame["plan_path"], frame["current_step"]) for frame in stack_of(program, "main/5")[0]
    ]


def test_evidence_belongs_to_the_step_below_it() -> None:
    """FDC-67."""
    text = (
        "# evidence: a.md:3\nset_plan x\n# Evidence:  b.md\n# words\n\n# evidence: https://x.example/y\nread_file b.md\n"
        "# evidence: lost\nif 1 == 1\n    # evidence: c.md:9\n    call_plan z\nread_file d\n# evidence:\nread_file e\n"
    )
    plan = parse(text.encode(), "p.plan").plan
    assert plan is not None
    assert {2: "a.md:3", 7: "b.md; https://x.example/y", 11: "c.md:9"} == evidence(plan)
    assert [("a.md", 3), ("b.md", None), None, None] == list(
        map(place, ("a.md:3", "b.md", "https://x.example/y", "two words"))
    )


def test_open_tasks_are_those_that_were_started_and_not_closed() -> None:
    def marked(action: str, task: str, session: str = "s") -> bytes:
        from fdc_toolchain.tasks.activity import entry

        made = entry(action, {}, task_id=task, phase=0, session_id=session, log_id="0" * 8 + "-0000-4000-8000-" + "0" * 12,
                     now=datetime.now(UTC))  # fmt: skip
        return line(made)

    log = (
        marked("TASK_START", "a")
        + marked("TASK_START", "b", "s2")
        + marked("INFO", "a")
        + b"{TASK_START torn\n"
    )
    assert [Task("a", "s"), Task("b", "s2")] == open_tasks(log)
    assert [Task("b", "s2")] == open_tasks(log + marked("TASK_END", "a"))
    assert [] == open_tasks(b"") and {"00000000-0000-4000-8000-000000000000"} == log_ids(log)
