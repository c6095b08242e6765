"""An import that is killed, at every point, leaves its folder as it was or whole; the next one finishes (FDC-97)."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.process import clean_environment, fdc
from tests.support.repository import ROOT

PROGRAM = """
import os, signal, sys
sys.path.insert(0, sys.argv[1])
from fdc_toolchain.cli import main
point, wanted, seen = sys.argv[2], int(sys.argv[3]), 0
def killing(real):
    def call(*a, **k):
        global seen
        if seen == wanted:
            os.kill(os.getpid(), signal.SIGKILL)
        seen += 1
        return real(*a, **k)
    return call
setattr(os, point, killing(getattr(os, point)))
raise SystemExit(main.main(["protocols", "import", "A.md", "--out", "src", *sys.argv[4:]]))
"""
OLD, NEW = (
    "# A\n\nOld.\n\n---\n\n# B\n\nOld.\n\n---\n\n# C\n",
    "# A\n\nNew.\n\n---\n\n# D\n\nNew.\n",
)


def killed(root: Path, point: str, number: int, *more: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(ROOT / "tooling"), point, str(number), *more],
        cwd=root, env=clean_environment(), capture_output=True, check=False,
    )  # fmt: skip
    assert -signal.SIGKILL == done.returncode, done.stderr.decode()


def sources(root: Path) -> dict[str, bytes]:
    return {
        path.name: path.read_bytes()
        for path in sorted((root / "src").iterdir())
        if path.suffix != ".tmp"
    }


def finish(root: Path, text: str, *more: str) -> dict[str, bytes]:
    """Imports and builds, and gives the sources between the two."""
    assert 0 == fdc("protocols", "import", "A.md", "--out", "src", *more, cwd=root).returncode
    made = sources(root)
    assert (
        0 == fdc("protocols", "build", "--source", "src", "--output", "B.md", cwd=root).returncode
    )
    assert text == (root / "B.md").read_text("utf-8")
    assert [] == [
        name
        for _, folders, files in os.walk(root)
        for name in (*folders, *files)
        if name.endswith(".tmp")
    ]
    return made


@pytest.mark.slow
@pytest.mark.parametrize(
    ("point", "number"), [("mkdir", 0), ("fsync", 0), ("fsync", 2), ("replace", 1), ("rename", 0)]
)
def test_a_new_folder_is_there_whole_or_not_at_all(
    workspace: Path, point: str, number: int
) -> None:
    (workspace / "A.md").write_text(NEW, "utf-8")
    killed(workspace, point, number)
    assert not (workspace / "src").exists()
    finish(workspace, NEW)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("point", "number"), [("fsync", 2), ("replace", 0), ("replace", 2), ("unlink", 0)]
)
def test_sources_that_are_replaced_are_whole_each_and_the_next_import_finishes(
    workspace: Path, point: str, number: int
) -> None:
    (workspace / "A.md").write_text(OLD, "utf-8")
    assert 0 == fdc("protocols", "import", "A.md", "--out", "src", cwd=workspace).returncode
    old = sources(workspace)
    (workspace / "A.md").write_text(NEW, "utf-8")
    killed(workspace, point, number, "--force")
    left = sources(workspace)
    built = fdc("protocols", "build", "--source", "src", "--output", "A.md", cwd=workspace)
    assert NEW == (workspace / "A.md").read_text("utf-8"), (
        built.stdout
    )  # half of the old sources, and nothing is lost
    new = finish(workspace, NEW, "--force")
    assert ["00_a.protocol.md", "01_d.protocol.md", "layout.json"] == [*new]
    assert all(data in (old.get(name), new.get(name)) for name, data in left.items())
