"""Where the cache lies, whatever the environment says."""

from __future__ import annotations

from pathlib import Path

from tests.support.process import fdc

PLAN = "set_plan x\nplan_step_complete x\nclose_task\nsubmit\n"


def test_a_relative_cache_folder_is_ignored_as_its_specification_says(tmp_path: Path) -> None:
    """It was made in the workspace, or wherever the command was started."""
    (tmp_path / "a.plan").write_text(PLAN)
    env = {"XDG_CACHE_HOME": "cache", "HOME": str(tmp_path / "home"), "FDC_CACHE_DIR": ""}
    done = fdc("lint", cwd=tmp_path, env=env)
    assert done.returncode == 0 and not (tmp_path / "cache").exists(), done
    assert (tmp_path / "home/.cache/fdc").is_dir()
