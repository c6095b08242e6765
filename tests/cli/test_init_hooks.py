"""`fdc init` where git runs the hooks of another folder than `.git/hooks`: it names the folder, and its advice works."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.inside import fdc
from tests.support.process import run


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
