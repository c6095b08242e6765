"""Verdicts from the cache in a real git clone: what git's index says of a file, and what a filter may have changed (issue 2)."""

from __future__ import annotations

import os
import random
import subprocess
from pathlib import Path

import pytest

from tests.property.test_cache import World, lint
from tests.support.process import fdc


def git(folder: Path, *arguments: str) -> None:
    env = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    for role in ("AUTHOR", "COMMITTER"):
        env |= {f"GIT_{role}_NAME": "A. Tester", f"GIT_{role}_EMAIL": "tester@example.org"}
    subprocess.run(["git", *arguments], cwd=folder, env=env, check=True, capture_output=True)


@pytest.mark.slow
def test_a_fresh_clone_uses_the_verdicts_of_the_first_one_and_says_the_same(
    workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Real processes and a real git, index and all; then the clone changes, and so does what is said."""
    monkeypatch.setenv("FDC_CACHE_DIR", str(tmp_path / "cache"))
    World(workspace, random.Random(3))
    git(workspace, "init", "--quiet")
    git(workspace, "add", "--all")
    git(workspace, "commit", "--quiet", "--message", "plans")
    first = fdc("lint", cwd=workspace)
    assert first.returncode == 1
    records = sorted(path.name for path in (tmp_path / "cache" / "lint").rglob("*"))
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "--quiet", str(workspace), str(clone))
    warm = fdc("lint", cwd=clone)
    assert (warm.returncode, warm.stdout, warm.stderr) == (
        first.returncode,
        first.stdout,
        first.stderr,
    )
    assert sorted(path.name for path in (tmp_path / "cache" / "lint").rglob("*")) == records, (
        "nothing was judged anew"
    )
    (clone / "lib/sub.plan").write_text("nonsense\n")
    git(clone, "add", "--all")
    for _ in range(2):
        warm, cold = fdc("lint", cwd=clone), fdc("lint", "--no-cache", cwd=clone)
        assert (warm.returncode, warm.stdout, warm.stderr) == (
            cold.returncode,
            cold.stdout,
            cold.stderr,
        )
    assert "nonsense" in warm.stdout


def test_what_git_stores_of_a_file_is_not_trusted_where_a_filter_may_have_changed_it(
    workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """An attribute file in any folder may name a filter: then git's id of a file says little about its bytes."""
    monkeypatch.setenv("FDC_CACHE_DIR", str(tmp_path / "cache"))
    git(workspace, "init", "--quiet")
    git(workspace, "config", "filter.short.clean", "head -n 2")
    (workspace / "lib").mkdir()
    (workspace / "lib/.gitattributes").write_text("*.plan filter=short\n")
    plan = workspace / "lib/a.plan"
    plan.write_text("use fsm tooling/fdc_fsm.json\nset_plan x\nnonsense_one\n")
    git(workspace, "add", "--all")
    age(workspace / ".git/index", plan)
    assert "nonsense_one" in lint("lib")[1]
    plan.write_text("use fsm tooling/fdc_fsm.json\nset_plan x\nnonsense_two\n")
    git(workspace, "add", "--all")
    age(workspace / ".git/index", plan)
    assert "nonsense_two" in lint("lib")[1]


def age(index: Path, *files: Path) -> None:
    """As if the index had been written long after the files: their recorded times are beyond doubt."""
    later = max(path.stat().st_ctime_ns for path in files) + 10_000_000_000
    os.utime(index, ns=(later, later))
