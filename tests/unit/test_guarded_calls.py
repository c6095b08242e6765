"""The hook before a tool looks at folders and links only: a large workspace must not use up its time limit."""

from __future__ import annotations

import json
import os
import random
import sys
from pathlib import Path

import pytest
from fdc_toolchain.cli.hooks.guarded_calls import guarded
from fdc_toolchain.linking.project.guarded_paths import guarded as of_workspace

from tests.support.process import fdc


def calls(path: Path) -> int:
    """How many Python functions are called to judge an edit of the file."""
    number = 0

    def count(_frame: object, what: str, _argument: object) -> None:
        nonlocal number
        number += what == "call"

    sys.setprofile(count)
    try:
        guarded(str(path))
    finally:
        sys.setprofile(None)
    return number


def test_the_work_does_not_grow_with_the_number_of_files(workspace: Path) -> None:
    folder = workspace / "src"
    folder.mkdir()
    edited = folder / "new.py"
    guarded(str(edited))  # imports happen once
    few = calls(edited)
    for number in range(3000):
        (folder / f"{number}.py").touch()
    assert calls(edited) - few < 50


@pytest.mark.parametrize("exists", [False, True])
def test_a_second_name_of_a_protected_file_is_refused(workspace: Path, exists: bool) -> None:
    (workspace / "AGENTS.md").write_text("rules\n")
    (workspace / "deep").mkdir()
    other = workspace / "deep" / "notes.md"
    if exists:
        other.hardlink_to(workspace / "AGENTS.md")
    assert (guarded(str(other)) is not None) == exists


def test_it_answers_as_a_search_of_all_names_does(tmp_path: Path) -> None:
    """30 workspaces of links and second names: what a whole search protects is refused, and nothing else."""
    refused = 0
    for seed in range(30):
        root, chance = tmp_path / str(seed), random.Random(seed)
        folders = [root, root / "docs", root / "docs" / "in", root / "bare", root / ".claude"]
        for folder in folders:
            folder.mkdir()
        (root / ".git").mkdir()
        if chance.random() < 0.5:
            for name in ("objects", "refs"):
                (root / "bare" / name).mkdir()
            (root / "bare" / "HEAD").touch()
        files: list[Path] = []
        for number in range(8):
            place = chance.choice(folders) / chance.choice(
                ["AGENTS.md", f"{number}.md", "CLAUDE.md"]
            )
            if os.path.lexists(place):
                continue
            kind = chance.choice(["file", "second name", "link"]) if files else "file"
            if kind == "second name":
                os.link(chance.choice(files), place, follow_symlinks=False)
            elif kind == "link":
                place.symlink_to(chance.choice([*files, *folders]))
            else:
                place.write_text(str(number))
            files.append(place)
        globs = of_workspace(str(root))[1]
        whole = {path for path in files if str(path.relative_to(root)) in globs}
        for path in files:
            if guarded(str(path)) is None:
                assert path not in whole, (seed, path)
            else:
                refused += path in whole
    assert refused > 20


@pytest.mark.parametrize(
    "command",
    [
        "FDC_ALLOW_NETWORK+=1 fdc run a.plan",
        "python3 tooling/master_control.py --resume T --approve abc",
    ],
)
def test_another_spelling_of_what_only_a_person_does_is_refused(
    workspace: Path, command: str
) -> None:
    event = {
        "hook_event_name": "PreToolUse",
        "tool_name": "Bash",
        "tool_input": {"command": command},
    }
    done = fdc("hook", "claude-pre-tool", cwd=workspace, stdin=json.dumps(event))
    assert "is for the person only" in done.stdout
