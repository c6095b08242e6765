"""`-` with a closed stdin is wrong usage for every command that takes it, and no empty plan."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.support.process import run

FDC = Path(sys.executable).parent / "fdc"


@pytest.mark.parametrize(
    "words", ["lint -", "lint --no-cache --format concise -", "fmt -", "migrate -"]
)
def test_a_closed_stdin_is_told(tmp_path: Path, words: str) -> None:
    """`fdc fmt` and `fdc migrate` took the null device for the plan, and found that it has no step."""
    done = run(["bash", "-c", f"{FDC} {words} <&-"], cwd=tmp_path)
    assert (done.returncode, done.stderr) == (2, "fdc: `-` reads stdin, which is closed\n")
    nothing = run(["bash", "-c", f"{FDC} {words} </dev/null"], cwd=tmp_path)
    assert nothing.returncode == 1 and "empty-plan" in nothing.stdout + nothing.stderr
