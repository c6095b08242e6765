"""The research protocol's tools: what they need, what they bring, and what they refuse to make up."""

from __future__ import annotations

from pathlib import Path

import pytest
from fdc_toolchain.effects.files import Root
from fdc_toolchain.effects.tools import LocalTools, Workbench
from fdc_toolchain.engine.events import Outcome, Perform

from tests.support.research import program, write


def perform(root: Path, tool: str, **args: str) -> Outcome:
    """One step, as the engine asks for it."""
    opened = Root(str(root))
    bench = Workbench("r", opened, str(root), lambda _: None, lambda _: None, {}, 10.0)
    try:
        return LocalTools(program(), bench).perform(Perform("main/1", "tool", tool, args, "", "read", "a.plan", 1, True))
    finally:
        opened.close()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write(tmp_path, {"docs/a.md": "Text.\n", "docs/b.md": "More.\n", "bad.md": b"\xff"})


def test_local_files_and_folders_are_brought(root: Path) -> None:
    """FDC-56."""
    tool = "execute_research_protocol"
    assert "Text.\n" == perform(root, tool, target="local_filesystem", scope="file", path="docs/a.md").value
    assert "docs/a.md\ndocs/b.md" == perform(root, tool, target="local_filesystem", scope="directory", path="docs").value


@pytest.mark.parametrize(
    ("args", "kind", "message"),
    [
        ({"target": "local_filesystem", "scope": "file"}, "argument", "Error: 'path' not specified for local_filesystem file."),
        ({"target": "local_filesystem", "scope": "directory"}, "argument", "Error: 'path' not specified"),
        ({"target": "external_web", "scope": "narrow"}, "argument", "Error: 'query' not specified for external_web narrow."),
        ({"target": "external_web", "scope": "broad"}, "argument", "Error: 'url' not specified"),
        ({"target": "external_repository", "scope": "all"}, "argument", "Error: 'url' not specified"),
        ({"target": "moon", "scope": "file"}, "argument", "do not map to a recognized research protocol."),
        ({"target": "local_filesystem", "scope": "moon"}, "argument", "do not map to a recognized research protocol."),
        ({"target": "external_web", "scope": "narrow", "query": "tea"}, "unavailable", "the web is out of reach"),
        ({"target": "local_filesystem", "scope": "file", "path": "../x"}, "path", "leads upwards"),
        ({"target": "local_filesystem", "scope": "file", "path": "bad.md"}, "encoding", "is not UTF-8"),
    ],
)
def test_what_cannot_be_brought_fails_and_says_why(root: Path, args: dict[str, str], kind: str, message: str) -> None:
    """FDC-56, T-23."""
    failure = perform(root, "execute_research_protocol", **args).failure
    assert failure is not None and kind == failure.kind and message in failure.message


def test_the_planning_tool_returns_a_plan(root: Path) -> None:
    """FDC-48, FDC-55."""
    made = perform(root, "plan_deep_research", topic='What is "tea"?').value
    assert 'param question = "What is \\"tea\\"?"' in made and made.startswith("# FSM: tooling/research_fsm.json\n")
    failure = perform(root, "plan_deep_research", topic=" \u200b").failure
    assert failure is not None and "the topic is empty" == failure.message
