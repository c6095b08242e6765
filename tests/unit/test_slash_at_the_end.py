"""A file has one name: a path with a slash at its end is refused, or rules about `docs/*.md` would not see `docs/a.md/`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from fdc_toolchain.linking.catalogue import CORE, document
from fdc_toolchain.workspace import capability
from fdc_toolchain.workspace.failure import ToolFailure

from tests.support.linting import lint, places
from tests.support.process import fdc

NO_WRITE = {"template": "absence", "a": {"tool": "overwrite_file_with_block", "arguments": {"path": "docs/*.md"}}}  # fmt: skip
RULE = json.dumps(
    {
        "protocol_id": "p",
        "description": "Tea.",
        "rules": [
            {"rule_id": "r", "description": "Tea.", "enforcement": "Tea.", "check": NO_WRITE}
        ],
    }
)


@pytest.mark.parametrize("path", ["docs/a.md/", "docs/a.md/.", "docs/a.md//", "docs/{p}/", "{p}/"])
def test_a_path_with_a_slash_at_its_end_is_refused_by_lint(path: str) -> None:
    text = f"param p\noverwrite_file_with_block {path}\n  x\nmessage_user {{p}}\n"
    files = {"a.plan": text, "protocols/p.protocol.json": RULE, "protocols/": "p.protocol.json"}
    assert [("a.plan", 2, "FDC416")] == places(lint(files, "a.plan"), "FDC416")


@pytest.mark.parametrize(
    "tool", ["overwrite_file_with_block", "read_file", "delete_file", "git_add"]
)
@pytest.mark.parametrize("path", ["a.md/", "a.md/.", "new//"])
def test_a_value_with_a_slash_at_its_end_is_refused_by_every_step(tool: str, path: str) -> None:
    """At the door that the tools of fdc, of packs, of workspaces and of MCP servers all pass."""
    declared = document(CORE)["tools"][tool]
    with pytest.raises(ToolFailure, match="ends with a slash") as failed:
        capability.check(declared, {"path": path}, ())
    assert failed.value.kind == "path"
    capability.check(declared, {"path": path.rstrip("/.")}, ())


def test_a_run_that_is_given_such_a_path_leaves_the_file_alone(workspace: Path) -> None:
    (workspace / "a.md").write_text("tea")
    step = "overwrite_file_with_block {p}\n  gone\nread_file {p}\n"
    head, end = "param p\nset_plan x\nplan_step_complete y\n", "close_task\nsubmit\n"
    (workspace / "a.plan").write_text(head + step + end)
    done = fdc("run", "a.plan", "p=a.md/", cwd=workspace)
    assert done.returncode == 1 and "ends with a slash" in done.stdout
    assert "stays inside the workspace" in done.stdout and "tea" == (workspace / "a.md").read_text()
