"""Where the cache lies, whatever the environment says."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from tests.support.process import fdc, run
from tests.support.repository import ROOT

PLAN = "set_plan x\nplan_step_complete x\nclose_task\nsubmit\n"


def test_a_relative_cache_folder_is_ignored_as_its_specification_says(tmp_path: Path) -> None:
    """It was made in the workspace, or wherever the command was started."""
    (tmp_path / "a.plan").write_text(PLAN)
    env = {"XDG_CACHE_HOME": "cache", "HOME": str(tmp_path / "home"), "FDC_CACHE_DIR": ""}
    done = fdc("lint", cwd=tmp_path, env=env)
    assert done.returncode == 0 and not (tmp_path / "cache").exists(), done
    assert (tmp_path / "home/.cache/fdc").is_dir()


def clear(folder: Path) -> tuple[int, str]:
    done = fdc("cache", "clear", cwd=folder.parent, env={"FDC_CACHE_DIR": str(folder)})
    return done.returncode, (done.stdout + done.stderr).replace(f"{folder.parent}/", "")


def test_a_cache_that_is_not_cleared_is_no_success(tmp_path: Path) -> None:
    """`cleared` was said of a file in the folder's place, of no folder, and of a link: it may lead to anything."""
    (tmp_path / "file").write_text("x")
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    assert clear(tmp_path / "file") == (3, "fdc: file: not a directory\n")
    assert clear(tmp_path / "none") == (0, "none: there is no cache\n")
    said = "fdc: link is a link to real: delete what is in there yourself\n"
    assert clear(tmp_path / "link") == (3, said) and (tmp_path / "real").exists()
    assert clear(tmp_path / "real") == (0, "real: cleared\n") and not (tmp_path / "real").exists()


def test_only_a_folder_that_fdc_marked_is_cleared(tmp_path: Path) -> None:
    """`FDC_CACHE_DIR=~/work` and `fdc cache clear` deleted all work."""
    (tmp_path / "a.plan").write_text(PLAN)
    for name in ("work", "others", "empty"):
        (tmp_path / name).mkdir()
    tag = "CACHEDIR.TAG"
    signature = "Signature: 8a477f597d28d172789f06886806bc55"
    (tmp_path / "work/letter").write_text("x")
    (tmp_path / f"others/{tag}").write_text(f"{signature}\n# of another program\n")
    for name in ("work", "others", "empty", "new/below"):
        env = {"FDC_CACHE_DIR": str(tmp_path / name)}
        assert (
            fdc("lint", cwd=tmp_path, env=env).returncode == 0
            and (tmp_path / name / "lint").is_dir()
        )
    refused = "has no mark of a cache of fdc (CACHEDIR.TAG), and may have other files: delete what is there yourself"
    for name in ("work", "others"):
        assert clear(tmp_path / name) == (3, f"fdc: {name} {refused}\n")
    assert (tmp_path / "work/letter").exists() and not (tmp_path / f"work/{tag}").exists()
    for name in ("empty", "new/below"):
        assert (tmp_path / name / tag).read_text().startswith(signature + "\n")
        assert clear(tmp_path / name)[0] == 0 and not (tmp_path / name).exists()


def test_a_cache_that_was_cleared_in_part_stays_a_cache(tmp_path: Path) -> None:
    """Clearing can stop halfway; the next `clear` continues."""
    (tmp_path / "a.plan").write_text(PLAN)
    cache = tmp_path / "cache"
    assert fdc("lint", cwd=tmp_path, env={"FDC_CACHE_DIR": str(cache)}).returncode == 0
    (cache / "lint").chmod(0o500)
    like_anybody = [] if os.getuid() else ["setpriv", "--bounding-set", "-dac_override", "--"]
    command = [*like_anybody, sys.executable, f"{ROOT}/tooling/fdc_cli.py", "cache", "clear"]
    stopped = run(command, cwd=tmp_path, env={"FDC_CACHE_DIR": str(cache)})
    (cache / "lint").chmod(0o700)
    assert (stopped.returncode, stopped.stderr) == (3, f"fdc: {cache}: permission denied\n")
    assert clear(cache) == (0, "cache: cleared\n") and not cache.exists()
