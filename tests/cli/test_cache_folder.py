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


def test_a_cache_that_is_not_cleared_is_no_success(tmp_path: Path) -> None:
    """`cleared` was said of a file in the folder's place, of no folder, and of a link: it may lead to anything."""
    (tmp_path / "file").write_text("x")
    (tmp_path / "real/judged").mkdir(parents=True)
    (tmp_path / "real/judged/a").write_text("x")
    (tmp_path / "link").symlink_to("real")

    def clear(name: str) -> tuple[int, str]:
        done = fdc("cache", "clear", cwd=tmp_path, env={"FDC_CACHE_DIR": str(tmp_path / name)})
        return done.returncode, (done.stdout + done.stderr).replace(f"{tmp_path}/", "")

    assert clear("file") == (3, "fdc: file: not a directory\n")
    assert clear("none") == (0, "none: there is no cache\n")
    said = "fdc: link is a link to real: delete what is in there yourself\n"
    assert clear("link") == (3, said) and (tmp_path / "real/judged/a").exists()
    assert clear("real") == (0, "real: cleared\n") and not (tmp_path / "real").exists()
