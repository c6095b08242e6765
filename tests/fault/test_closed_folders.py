"""Folders into which fdc cannot look: closed by their mode, or too far down. What a command hides there, or finds there."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from fdc_toolchain.workspace.files import Root

from tests.fault.test_protected import root, tier  # noqa: F401
from tests.fault.test_sandbox import STRANGER, only, run, stranger_python
from tests.support.repository import PACKAGE

CLOSED = """
import json, os, sys
from pathlib import Path
from fdc_toolchain.sandbox import sandbox
from fdc_toolchain.tools import shell
from fdc_toolchain.tools.context import Context, Leaving
from fdc_toolchain.workspace.files import Root
from fdc_toolchain.workspace.operator import Operator

found = {}
for tier in filter(sandbox.offered, ("bubblewrap", "landlock")):
    for mode in (0o111, 0o444, 0o333, 0o555, 0):
        top = Path(sys.argv[1], f"{tier}-{mode:o}")
        (top / "out").mkdir(parents=True)
        for path in ("x/old/.git/config", "x/old/in/AGENTS.md", "x/old/.env", "x/old/in/.env"):
            (top / path).parent.mkdir(parents=True, exist_ok=True)
            (top / path).write_text("KEY=hunter2hunter2")
        (top / "x/old").chmod(mode)
        root = Root(str(top))
        context = Context(
            root=root, key="run:main/1", run="run", run_folder=str(top / ".fdc/runs/run"), say=print, ask=str, bound=True,
            cancelled=Leaving(), shell_seconds=120.0, tool={}, operator=Operator(tiers=(tier,)),
        )
        planted = "mkdir -p out/a/e/.git out/a/.claude && echo evil > out/a/e/.git/config"
        planted += " && echo evil > out/a/.envrc && chmod MODE out/a"
        opened = "for d in x/old x/new; do chmod 755 $d; echo evil > $d/.git/config; echo evil > $d/in/AGENTS.md;"
        opened += " cat $d/.env $d/in/.env;"
        command = f"{opened} mv x/old x/new; done; {planted}; exit 0".replace("MODE", f"{mode:o}")
        outcome = shell.run_in_bash_session({"command": command}, context)
        for folder in filter(Path.exists, (top / "x/old", top / "x/new", top / "out/a")):
            folder.chmod(0o755)
        found[f"{tier} {mode:o}"] = {
            "failure": outcome.failure and outcome.failure.kind,
            "left": [path for path in ("out/a/e/.git", "out/a/.claude", "out/a/.envrc") if (top / path).exists()],
            "changed": [str(path) for path in top.rglob("*") if path.is_file() and path.read_text() == "evil"
                        and "refused" not in path.parts],
            "told": "hunter2" in str(outcome),
        }
print(json.dumps(found))
"""


def test_a_folder_that_nobody_can_list_hides_nothing(tmp_path):
    """An ordinary user's command: `git` obeys what lies in a folder that may be entered, whoever may list it, and
    a command that knows the name of a file with secrets reads it there."""
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
    right = {"failure": "protected", "left": [], "changed": [], "told": False}
    assert found == dict.fromkeys(found, right)


DEEP = """
cd out && n=$(printf '{name}%.0s' $(seq {each}))
for i in $(seq {many}); do mkdir -p $n; cd $n; done 2>/dev/null
{then}; exit 0
"""
"""Goes `many` times into a folder `name` repeated `each` times, and does something there."""


@pytest.mark.parametrize(
    ("name", "each", "many"),
    [
        ("a", 200, 25),
        pytest.param("b", 255, 17, marks=pytest.mark.long),
        pytest.param("cccccccccccccccccccc/", 25, 8, marks=pytest.mark.long),
    ],
)
def test_what_is_too_far_down_to_be_looked_into_is_taken_away(
    root: Root,  # noqa: F811
    tier: str,  # noqa: F811
    name: str,
    each: int,
    many: int,
) -> None:
    """The system takes no path of more than 4,096 bytes; a command that changes folder step by step needs none."""
    os.mkdir(os.path.join(root.path, "out"))
    planted = "mkdir .git; echo evil > .git/config; echo evil > AGENTS.md"
    outcome = run(root, DEEP.format(name=name, each=each, many=many, then=planted), only(tier))
    assert outcome.failure is not None and outcome.failure.kind == "protected", outcome
    assert "longer than 3800 bytes" in outcome.failure.message
    assert len(outcome.failure.message) < 1000
    after = run(
        root,
        DEEP.format(name=name, each=each, many=many, then="ls -A; cat .git/config"),
        only(tier),
    )
    assert "evil" not in str(after) and "AGENTS" not in str(after)


def test_where_a_folder_is_too_far_down_no_command_begins(root: Root, tier: str) -> None:  # noqa: F811
    os.mkdir(os.path.join(root.path, "out"))
    subprocess.run(
        ["bash", "-c", DEEP.format(name="a", each=200, many=25, then="echo KEY=x > .env")],
        cwd=root.path,
        check=True,
    )
    outcome = run(root, "touch src/ran", only(tier))
    assert outcome.failure is not None and outcome.failure.kind == "sandbox", outcome
    assert "longer than 3800 bytes" in outcome.failure.message
    assert not os.path.exists(os.path.join(root.path, "src/ran"))
