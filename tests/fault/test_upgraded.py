"""fdc is upgraded under a process: what it had not imported yet is of another version, and that is no bug to report."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import process
from tests.support.repository import ROOT

UPGRADED = "the files of fdc changed after this process began (an upgrade?); start it again"
BEGIN = """
import os, sys
sys.path.insert(0, os.environ["SITE"])
import fdc_toolchain.api.errors, fdc_toolchain.console.process
if "UPGRADE" in os.environ:
    open(fdc_toolchain.__file__, "a").write("# another version")
"""
API = """
from fdc_toolchain import api
try:
    api.begin("p.plan", workspace=".")
except (api.WorldTrouble, api.InternalError) as raised:
    print(type(raised).__name__, raised)
"""
COMMAND = """
from fdc_toolchain.cli.main import main
sys.exit(main(["run", "p.plan"]))
"""


@pytest.fixture
def other(workspace: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An fdc that lacks what other parts of it import."""
    site = tmp_path_factory.mktemp("site")
    for name in ("tooling", "grammar", "protocols", "plans"):
        shutil.copytree(ROOT / name, site / name, ignore=shutil.ignore_patterns("__pycache__"))
    (site / "tooling/fdc_toolchain/runs/create_run.py").write_text("")
    (workspace / "p.plan").write_text("set_plan x\nplan_step_complete y\nclose_task\nsubmit\n")
    return site / "tooling"


def ran(program: str, cwd: Path, **env: str) -> subprocess.CompletedProcess[str]:
    return process.run([sys.executable, "-c", BEGIN + program], cwd=cwd, env=env)


@pytest.mark.long
def test_an_error_after_an_upgrade_says_to_start_the_process_again(
    workspace: Path, other: Path
) -> None:
    """It was said to be a bug of fdc, and an agent's program went on with its server of two versions."""
    done = ran(COMMAND, workspace, SITE=str(other))
    assert 4 == done.returncode and "this is a bug of fdc" in done.stderr, done
    done = ran(API, workspace, SITE=str(other))
    assert done.stdout.startswith("InternalError this is a bug of fdc: "), done
    done = ran(COMMAND, workspace, SITE=str(other), UPGRADE="1")
    assert 3 == done.returncode and f"fdc: {UPGRADED} (ImportError" in done.stderr, done
    assert "bug" not in done.stderr
    done = ran(API, workspace, SITE=str(other), UPGRADE="1")
    assert done.stdout.startswith(f"WorldTrouble {UPGRADED} (ImportError"), done
