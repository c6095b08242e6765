"""Records of runs into which fdc may not look, as those of somebody whose umask is 077: nobody is told that there is no run."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.process import clean_environment, fdc

PLAN = "set_plan x\nplan_step_complete x\nclose_task\nsubmit\n"


@pytest.mark.slow
@pytest.mark.parametrize("words", [("runs",), ("show", "last"), ("report", "last"), ("doctor",)])
def test_a_closed_folder_is_named(tmp_path: Path, words: tuple[str, ...]) -> None:
    """Root may look into every folder, unless it gave that right away."""
    humble = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"]
    if os.getuid() != 0:
        humble = []
    elif not shutil.which("setpriv"):
        pytest.skip("there is no `setpriv`")
    (tmp_path / "a.plan").write_text(PLAN)
    assert fdc("run", "a.plan", cwd=tmp_path).returncode == 0
    records = tmp_path / ".fdc"
    records.chmod(0)
    try:
        done = subprocess.run(
            [*humble, Path(sys.executable).parent / "fdc", *words], cwd=tmp_path, env=clean_environment(),
            capture_output=True, text=True,
        )  # fmt: skip
    finally:
        records.chmod(0o755)
    said = f"{records}/runs.sqlite: permission denied"
    if words == ("doctor",):
        assert f"bad   runs                    {said}" in done.stdout, done
    else:
        assert (3, "", f"fdc: {said}\n") == (done.returncode, done.stdout, done.stderr), done
