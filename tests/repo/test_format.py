"""The Python files are linted and formatted by ruff, as pyproject.toml says."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.repository import ROOT


@pytest.mark.parametrize("command", [["check"], ["format", "--check"]])
def test_ruff_has_nothing_to_say(command: list[str]) -> None:
    ruff = Path(sys.executable).parent / "ruff"
    done = subprocess.run(
        [str(ruff), *command, "--no-cache", "."], cwd=ROOT, capture_output=True, text=True
    )
    assert 0 == done.returncode, done.stdout + done.stderr
