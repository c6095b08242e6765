"""`fdc init` where git runs the hooks of another folder than `.git/hooks`: it names the folder, and its advice works."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from fdc_toolchain.cli.project.init.file_edits import MARK, PRE_COMMIT, PRE_COMMIT_BEFORE

from tests.support.inside import fdc
from tests.support.process import clean_environment, run
from tests.support.repository import ROOT


@pytest.mark.parametrize(
    ("hooks", "named"),
    [
        (".husky/_", "`.husky`"),
        ("tools/hooks", "`tools/hooks`"),
        (None, "`.husky`"),
    ],
)
def test_a_folder_of_hooks_is_named_and_a_line_in_it_refuses_a_bad_plan(
    tmp_path: Path, hooks: str | None, named: str
) -> None:
    """`pre-commit install` refuses where `core.hooksPath` is set, as husky sets it, and its advice to unset that ends husky."""
    run(["git", "init", "-q", "."], cwd=tmp_path)
    folder = tmp_path / named.strip("`")
    folder.mkdir(parents=True)
    if hooks is not None:
        run(["git", "config", "core.hooksPath", hooks], cwd=tmp_path)
    done = fdc("init", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "pre-commit install          " not in done.stdout
    assert f"Git runs the hooks of {named} here" in done.stdout
    assert f"add the line `fdc lint --staged` to {named[:-1]}/pre-commit`" in done.stdout


def test_without_such_a_folder_pre_commit_is_named(tmp_path: Path) -> None:
    run(["git", "init", "-q", "."], cwd=tmp_path)
    done = fdc("init", cwd=tmp_path)
    assert "pre-commit install          " in done.stdout and "Git runs" not in done.stdout


def test_the_hook_of_protocols_sees_a_deleted_source_and_a_changed_script(tmp_path: Path) -> None:
    """pre-commit passes no names of deleted files, and skips a hook that waits for some."""
    for words in (
        ["init", "-q", "."],
        ["config", "user.name", "A"],
        ["config", "user.email", "a@b"],
    ):
        run(["git", *words], cwd=tmp_path)
    assert fdc("init", cwd=tmp_path).returncode == 0
    (tmp_path / "tooling").mkdir()
    (tmp_path / "tooling/timer.py").write_text('"""Sets the timer."""\n')
    (tmp_path / "protocols/more.protocol.json").write_text(
        '{"protocol_id": "more", "description": "More.", "associated_tools": ["tooling/timer.py"],'
        ' "rules": [{"rule_id": "r", "description": "x", "enforcement": "x"}]}\n'
    )
    assert fdc("protocols", "build", cwd=tmp_path).returncode == 0
    bin_folder = tmp_path / ".git/bin"
    bin_folder.mkdir()
    (bin_folder / "fdc").write_text(
        f'#!/bin/sh\nexec "{sys.executable}" "{ROOT}/tooling/fdc_cli.py" "$@"\n'
    )
    (bin_folder / "fdc").chmod(0o755)
    found = {**clean_environment(), "PATH": f"{bin_folder}:{os.environ['PATH']}"}
    hooks = [sys.executable, "-m", "pre_commit", "run", "fdc-protocols"]
    run(["git", "add", "-A"], cwd=tmp_path)
    done = run(hooks, cwd=tmp_path, env=found)
    assert done.returncode == 0, done.stdout
    run(["git", "commit", "-q", "-m", "one"], cwd=tmp_path)
    (tmp_path / "tooling/timer.py").write_text('"""Sets the timer of the oven."""\n')
    run(["git", "add", "-A"], cwd=tmp_path)
    assert run(hooks, cwd=tmp_path, env=found).returncode == 1
    run(["git", "reset", "-q", "--hard"], cwd=tmp_path)
    run(["git", "rm", "-q", "protocols/more.protocol.json"], cwd=tmp_path)
    done = run(hooks, cwd=tmp_path, env=found)
    assert done.returncode == 1 and "FDC504" in done.stdout, done.stdout


def test_hooks_that_an_older_fdc_wrote_are_removed(tmp_path: Path) -> None:
    run(["git", "init", "-q", "."], cwd=tmp_path)
    assert fdc("init", cwd=tmp_path).returncode == 0
    config = tmp_path / ".pre-commit-config.yaml"
    assert PRE_COMMIT.format(mark=MARK) in config.read_text()
    config.write_text("repos:\n" + PRE_COMMIT_BEFORE.format(mark=MARK))
    assert fdc("init", "--remove", cwd=tmp_path).returncode == 0
    assert not config.exists()
