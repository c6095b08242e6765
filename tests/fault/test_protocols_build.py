"""A build of several files that is killed, at every point, leaves whole files; the next one finishes (FDC-97)."""

from __future__ import annotations

import json
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
raise SystemExit(main.main(["protocols", "build", "--split"]))
"""
FILES = ("AGENTS.md", "a/AGENTS.md", "b/AGENTS.md")


def sources(root: Path, word: str, *folders: str) -> None:
    for scope in ("", *folders):
        rule = {"rule_id": "r", "description": word, "enforcement": "e"}
        body = {
            "protocol_id": f"p{scope}",
            "description": "d",
            "rules": [rule],
            **({"scope": scope} if scope else {}),
        }
        (root / "protocols" / f"p{scope}.protocol.json").write_text(json.dumps(body), "utf-8")


def contents(root: Path) -> dict[str, bytes | None]:
    return {name: (root / name).read_bytes() if (root / name).exists() else None for name in FILES}


@pytest.mark.long
@pytest.mark.parametrize(("point", "times"), [("fsync", 3), ("replace", 3), ("unlink", 1)])
def test_a_kill_at_any_point_leaves_whole_files_and_the_next_build_finishes(
    workspace: Path, point: str, times: int
) -> None:
    """Three files are written anew; with `unlink`, one is removed as well."""
    for name in ("protocols", "a", "b"):
        (workspace / name).mkdir()
    (workspace / "VERSION").write_text("1.0.0\n", "utf-8")
    gone = point == "unlink"
    for number in range(times):
        sources(workspace, "old", "a", "b")
        assert 0 == fdc("protocols", "build", "--split", cwd=workspace).returncode
        old = contents(workspace)
        sources(workspace, "new", "a", "b")
        if gone:
            (workspace / "protocols" / "pb.protocol.json").unlink()
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, str(ROOT / "tooling"), point, str(number)],
            cwd=workspace, env=clean_environment(), capture_output=True, check=False,
        )  # fmt: skip
        assert -signal.SIGKILL == done.returncode, done.stderr.decode()
        killed = contents(workspace)
        check = fdc("protocols", "check", "--split", cwd=workspace)
        assert (1, True) == (check.returncode, "FDC504" in check.stderr)
        assert 0 == fdc("protocols", "build", "--split", cwd=workspace).returncode
        new = contents(workspace)
        assert all(data in (old[name], new[name]) for name, data in killed.items())
        assert gone == (new["b/AGENTS.md"] is None) and b'"new"' in (new["AGENTS.md"] or b"")
        assert gone or old["AGENTS.md"] == killed["AGENTS.md"]
        assert [] == [
            name for _, _, names in os.walk(workspace) for name in names if name.endswith(".tmp")
        ]
        assert 0 == fdc("protocols", "check", "--split", cwd=workspace).returncode
