"""A file in which git left the marks of a conflict: the advice is to resolve it, whatever the file is."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.test_ci import git
from tests.support import process
from tests.support.process import fdc

ADVICE = "the file has a conflict of a merge: resolve it"
PLAN = "set_plan Tea\nplan_step_complete ready\nmessage_user Tea\nclose_task\nsubmit\n"


@pytest.mark.parametrize(
    ("file", "ours", "theirs"),
    [
        ("knowledge_core/plan_registry.json", '{"a": "tea.plan"}\n', '{"b": "tea.plan"}\n'),
        ("fdc_tools.json", '{"format": 1,\n"name": "a"}\n', '{"format": 1,\n"name": "b"}\n'),
        ("protocols/a.protocol.yaml", "protocol_id: a\n", "protocol_id: b\n"),
        ("fdc.toml", "max-stack = 5\n", "max-stack = 6\n"),
        (
            "tea.plan",
            PLAN.replace("_user Tea", "_user Green"),
            PLAN.replace("_user Tea", "_user Oolong"),
        ),
    ],
)
def test_lint_says_what_to_do(workspace: Path, file: str, ours: str, theirs: str) -> None:
    git(workspace, "init", "-q")
    path = workspace / file
    (workspace / "tea.plan").write_text(PLAN)
    git(workspace, "add", ".")
    git(workspace, "commit", "-qm", "start")
    for branch, text in (("theirs", theirs), ("ours", ours)):
        git(workspace, "checkout", "-q", "-b", branch, *(["HEAD~1"] if text == ours else []))
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        git(workspace, "add", ".")
        git(workspace, "commit", "-qm", branch)
    process.run(["git", "merge", "theirs"], cwd=workspace)
    done = fdc("lint", cwd=workspace)
    assert done.returncode == (2 if file == "fdc.toml" else 1)
    assert ADVICE in done.stdout + done.stderr
    if "registry" in file:
        unknown = fdc("run", "a", cwd=workspace)
        assert (2, True) == (unknown.returncode, f"`{file}` is damaged" in unknown.stderr)
