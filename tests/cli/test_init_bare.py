"""`fdc init` in a folder of git itself: files there would belong to no commit, so it writes none."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.inside import fdc
from tests.support.process import run


@pytest.mark.parametrize("below", ["", "hooks"])
@pytest.mark.parametrize("argument", [False, True])
def test_a_bare_repository_is_refused(tmp_path: Path, below: str, argument: bool) -> None:
    run(["git", "init", "-q", "--bare", "tea.git"], cwd=tmp_path)
    folder = tmp_path / "tea.git" / below
    before = sorted(tmp_path.rglob("*"))
    for more in ((), ("--remove",), ("--dry-run",)):
        given = ("init", str(folder)) if argument else ("init",)
        done = fdc(*given, *more, cwd=tmp_path if argument else folder)
        assert done.returncode == 2 and done.stdout == ""
        assert f"`{tmp_path / 'tea.git'}` belongs to git and has no working tree" in done.stderr
        assert "start `fdc init` in a clone or a worktree" in done.stderr
    assert sorted(tmp_path.rglob("*")) == before


def test_the_inside_of_a_git_folder_is_refused_where_it_is_named(tmp_path: Path) -> None:
    run(["git", "init", "-q", "."], cwd=tmp_path)
    done = fdc("init", ".git", cwd=tmp_path)
    assert done.returncode == 2 and f"`{tmp_path / '.git'}` belongs to git" in done.stderr
    done = fdc("init", cwd=tmp_path / ".git")  # the workspace is the repository around it
    assert done.returncode == 0 and f"workspace: {tmp_path}\n" in done.stdout


def test_a_worktree_in_a_bare_repository_is_set_up(tmp_path: Path) -> None:
    run(["git", "init", "-q", "--bare", "tea.git"], cwd=tmp_path)
    who = ("-c", "user.name=A", "-c", "user.email=a@example.org")
    tree = run(["git", "-C", "tea.git", "hash-object", "-wt", "tree", "/dev/null"], cwd=tmp_path)
    made = run(
        ["git", *who, "-C", "tea.git", "commit-tree", "-m", "x", tree.stdout.strip()], cwd=tmp_path
    )
    run(
        ["git", "-C", "tea.git", "worktree", "add", "-q", "main", made.stdout.strip()], cwd=tmp_path
    )
    done = fdc("init", cwd=tmp_path / "tea.git/main")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "tea.git/main/fdc.toml").is_file()
