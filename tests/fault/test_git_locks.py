"""`git_add` and `git_commit` after a `kill -9`: no lock of git stays in the way, and no lock of another program is taken."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from fdc_toolchain.tools.files import git_tools
from fdc_toolchain.workspace.failure import ToolFailure

from tests.fault.test_git_tools import context, git

__all__ = ["context"]

STARTED = """
import sys
from fdc_toolchain.tools import context as context_room
from fdc_toolchain.tools.files import git_tools
from fdc_toolchain.workspace.files import Root
from tests.fault.test_sandbox import only

folder, tier = sys.argv[1:]
context = context_room.Context(
    root=Root(folder), key="run:main/1", run="run", run_folder=folder + "/.fdc/runs/run", say=print, ask=str, bound=True,
    cancelled=context_room.Leaving(), shell_seconds=240.0, tool={}, operator=only(tier),
)
git_tools.add({"path": "big"}, context)
"""


def test_an_addition_that_was_killed_is_repeated(context):
    """git holds the index while it reads the file. Nothing is left in `.git` either."""
    folder = Path(context.root.path)
    (folder / "big").write_bytes(os.urandom(1 << 20) * 24)
    before = sorted(os.listdir(folder / ".git"))
    started = subprocess.Popen(
        [sys.executable, "-c", STARTED, str(folder), context.operator.tiers[0]], cwd=Path(__file__).parents[2]
    )  # fmt: skip
    while not (folder / ".git/index.lock").exists() and started.poll() is None:
        time.sleep(0.001)
    started.send_signal(signal.SIGKILL)
    assert -signal.SIGKILL == started.wait()
    git_tools.add({"path": "big"}, context)
    made = git_tools.commit({"message": "second"}, context)
    assert made["commit"] == git(folder, "rev-parse", "HEAD")
    assert "" == git(folder, "status", "--short", "--untracked-files=no")
    assert before == sorted(os.listdir(folder / ".git"))


@pytest.mark.parametrize("text", ["", "fdc run:main/2\n"])
def test_a_lock_of_another_stays_and_is_named(context, text):
    folder = Path(context.root.path)
    (folder / "a.txt").write_text("b\n")
    (folder / ".git/index.lock").write_text(text)
    with pytest.raises(ToolFailure, match=r"^`\.git/index\.lock` exists: .* delete it$"):
        git_tools.add({"path": "a.txt"}, context)
    assert text == (folder / ".git/index.lock").read_text()
    (folder / ".git/index.lock").unlink()
    git_tools.add({"path": "a.txt"}, context)
    (folder / ".git/refs/heads/main.lock").touch()
    with pytest.raises(ToolFailure, match=r"^`\.git/refs/heads/main\.lock` exists: "):
        git_tools.commit({"message": "second"}, context)


def test_a_file_that_changed_in_the_moment_of_its_addition_is_seen_as_changed(context):
    """git compares the time of a file with that of its index: a copy has the index's time."""
    folder = Path(context.root.path)
    (folder / "b.txt").write_text("b\n")
    for number in range(5):
        (folder / "a.txt").write_text(f"{number}\n")
        git(folder, "add", "a.txt")
        (folder / "a.txt").write_text(f"{number + 5}\n")
        git_tools.add({"path": "b.txt"}, context)
        assert "a.txt" in git(folder, "diff", "--name-only")
        (folder / "b.txt").write_text(f"b{number}\n")
