"""Small workspaces, and plans that wait or write, for tests of the API."""

from __future__ import annotations

from pathlib import Path

ASKS = """param who
set_plan Greet
plan_step_complete ready
name <- request_user_input Who is {who}?
record_user_approval_for_plan {name}
overwrite_file_with_block hello.txt
    hello {name}
message_user done
close_task
submit
"""
WRITES = """set_plan Write
plan_step_complete ready
overwrite_file_with_block {path}
    {text}
close_task
submit
"""


def made(folder: Path, **files: str) -> Path:
    """A workspace with files; `a_plan` is `a.plan`. All have `docs/tea.md`."""
    (folder / "knowledge_core").mkdir(parents=True)
    (folder / "docs").mkdir()
    (folder / "docs" / "tea.md").write_text("Tea.\n", "utf-8")
    for name, text in files.items():
        (folder / name.replace("_", ".")).write_text(text, "utf-8")
    return folder
