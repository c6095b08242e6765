"""A tool of the workspace, or an MCP server, whose row names the repository: it reads `.git`, and never writes it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from fdc_toolchain.workspace.files import Root

from tests.fault.test_own_code import (  # noqa: F401
    FILES,
    LOOK,
    ONCE,
    READ,
    TARGETS,
    WRITE,
    called,
    root,
    seen,
    tier,
)


@pytest.mark.parametrize("glob", [".git", ".git/**"])
def test_a_row_that_names_the_repository_reads_it_and_writes_nothing_of_it(
    root: Root,  # noqa: F811
    tier: str,  # noqa: F811
    glob: str,
) -> None:
    """For MCP servers of git; a path that a plan gives opens nothing of it."""
    row = {**ONCE, "access": {"read": ["docs/**", glob], "write": ["out/**"]}}
    assert {"docs/a.md", ".git/config"} == seen(root, tier, row, *FILES)
    wide = {**ONCE, "access": {"read": [glob], "write": ["**", ".git/**"]}}
    wrote = called(root, tier, WRITE, wide, paths=["data.txt", *TARGETS[4:8]]).value
    assert ["data.txt"] == wrote and "[core]\n" == Path(root.path, ".git/config").read_text()
    named = {**READ, "parameters": [{"name": "path", "kind": "path", "access": "read"}]}
    code = LOOK.replace("def tool(paths=()):", "def tool(path, paths=()):")
    inside = os.path.join(root.path, ".git/config")
    for path in (".git/config", ".git"):
        assert {inside: 0} == called(root, tier, code, named, paths=[inside], path=path).value
