"""A repository of another user, which git reads only if `safe.directory` names it: commands say so, and what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.process import fdc, run

REFUSED = {"GIT_TEST_ASSUME_DIFFERENT_OWNER": "1"}


@pytest.mark.parametrize(
    ("words", "ends"), [(("lint", "--changed"), 2), (("lint", "--staged"), 2), (("doctor",), 0)]
)
def test_what_git_says_and_its_advice_are_shown(
    tmp_path: Path, words: tuple[str, ...], ends: int
) -> None:
    """`--changed` and `fdc doctor` said that the folder is in no repository."""
    run(["git", "init", "-q", "."], cwd=tmp_path)
    assert "in a repository" in fdc("doctor", cwd=tmp_path).stdout
    done = fdc(*words, cwd=tmp_path, env=REFUSED)
    said = done.stdout if words == ("doctor",) else done.stderr
    advice = f"; if you trust it: `git config --global --add safe.directory {tmp_path}`"
    assert done.returncode == ends and "detected dubious ownership" in said, done
    assert advice in said and "not in a repository" not in said and "is in none" not in said
