"""Folders that may be entered and not listed: what a command hides there from the look that fdc takes afterwards."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests.fault.test_sandbox import STRANGER, stranger_python
from tests.support.repository import PACKAGE

CLOSED = """
import json, os, sys
from pathlib import Path
from fdc_toolchain.sandbox import sandbox
from fdc_toolchain.tools import shell
from fdc_toolchain.tools.context import Context, Leaving
from fdc_toolchain.workspace.files import Root
from fdc_toolchain.workspace.operator import Operator

tiers, found = ("bubblewrap", "landlock"), {}
for tier in filter(sandbox.offered, tiers):
    top = Path(sys.argv[1], tier)
    (top / "out").mkdir(parents=True)
    (top / "old/.git").mkdir(parents=True)
    (top / "old/.git/config").write_text("x")
    (top / "old").chmod(0o111)
    root = Root(str(top))
    context = Context(
        root=root, key="run:main/1", run="run", run_folder=str(top / ".fdc/runs/run"), say=print, ask=str, bound=True,
        cancelled=Leaving(), shell_seconds=120.0, tool={}, operator=Operator(tiers=(tier,)),
    )
    planted = "mkdir -p out/a/.git out/b/c/.claude && echo evil > out/a/.git/config && chmod 111 out/a && chmod 0 out/b/c"
    outcome = shell.run_in_bash_session({"command": planted + "; echo evil > old/.git/config; chmod 755 old; exit 0"}, context)
    failure = outcome.failure and outcome.failure.kind
    (top / "old").chmod(0o755)
    for folder in filter(Path.exists, (top / "out/a", top / "out/b/c")):
        folder.chmod(0o755)
    left = [path for path in ("out/a/.git", "out/b/c/.claude") if (top / path).exists()]
    found[tier] = [failure, left, (top / "old/.git/config").read_text()]
print(json.dumps(found))
"""


def test_a_folder_that_nobody_can_list_hides_nothing(tmp_path):
    """An ordinary user's command: `git` obeys what lies in a folder that may be entered, whoever may list it."""
    python = stranger_python() if os.getuid() == 0 else sys.executable
    if python is None:
        pytest.skip("there is no Python for a user without an account")
    base = Path(tempfile.mkdtemp(prefix="fdc-closed-"))
    try:
        home, other = base / "home", {}
        home.mkdir()
        base.chmod(0o755)
        shutil.copytree(
            PACKAGE, base / "tooling/fdc_toolchain", ignore=shutil.ignore_patterns("__pycache__")
        )
        if os.getuid() == 0:
            os.chown(home, STRANGER, STRANGER)
            other = {"user": STRANGER, "group": STRANGER, "extra_groups": []}
        done = subprocess.run(
            [python, "-c", CLOSED, str(home)], cwd=home, **other, capture_output=True, text=True, check=False, timeout=400,
            env={"PATH": os.defpath, "HOME": str(home), "PYTHONPATH": str(base / "tooling"), "PYTHONDONTWRITEBYTECODE": "1"},
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        found = json.loads(done.stdout.splitlines()[-1])
    finally:
        subprocess.run(["chmod", "-R", "u+rwx", str(base)], check=False)
        shutil.rmtree(base)
    assert found, "no tier is offered to an ordinary user here"
    assert found == {tier: ["protected", [], "x"] for tier in found}
