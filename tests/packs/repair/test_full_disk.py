"""`fdc fix` on a disk without room: it says so with exit code 3, whatever was being written, and not that a file is damaged."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.fault.test_full_disk import filled
from tests.fault.test_world_fails import small_disk
from tests.support.process import fdc


@pytest.mark.long
def test_a_full_disk_is_what_a_repair_names(tmp_path: Path) -> None:
    """The record of the tests was called malformed, the copy of the probe a failure of a tool: exit code 1."""
    where = set()
    with small_disk(tmp_path / "disk", "2m") as disk:
        work = disk / "work"
        work.mkdir()
        (work / "fdc.toml").touch()
        (work / "tea.py").write_text("def price(n):\n    return n + 12\n")
        (work / "test_tea.py").write_text("from tea import price\nassert price(2) == 24\n")
        for pages in range(48, 94, 3):
            ballast = filled(disk, pages)
            done = fdc(
                "fix", "--test", "python3 test_tea.py", "tea.py", "-q",
                cwd=work, env={"HOME": str(tmp_path)},
            )  # fmt: skip
            assert 3 == done.returncode, done
            assert "no space left on device" in done.stderr.lower() or "disk is full" in done.stderr
            where |= {name for name in ("lines.", "probe_edits") if name in done.stderr}
            ballast.unlink()
            for folder in (".fdc", "runs"):
                shutil.rmtree(work / folder, ignore_errors=True)
    assert where == {"lines.", "probe_edits"}
