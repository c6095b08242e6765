"""What a terminal shows of a run while it goes: a real pseudo-terminal, and the picture by itself."""

from __future__ import annotations

import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time
from fcntl import ioctl
from pathlib import Path

import pytest
from fdc_toolchain.cli.shared.live import Budget, Doing, picture
from fdc_toolchain.engine.events import Perform
from fdc_toolchain.report.terminal.style import Style
from fdc_toolchain.report.terminal.terminal_text import columns

from tests.support.background import PATIENCE
from tests.support.process import clean_environment, fdc
from tests.support.repository import ROOT

DEEP = """param doc
got <- list_files docs
run_in_bash_session echo begun >> log; while [ ! -e go ]; do sleep 0.05; done; echo {doc}
yield {got}
"""
TREE = """budget steps 60
set_plan x
plan_step_complete x
names <- list_files docs
found <- fork name in {names} max 9
    got <- call_plan deep.plan doc={name}
    yield {got}
overwrite_file_with_block out.txt
    {found}
read_file out.txt
close_task
submit
"""


def doing(address: str, seconds: float = 0.0, text: str = "x") -> Doing:
    return Doing(
        Perform(address, "tool", "read_file", {"path": text}, "", "read", "p.plan", 1), seconds
    )


def lines(
    *which: Doing, budgets: tuple[Budget, ...] = (), width: int = 80, height: int = 20
) -> list[str]:
    return [text for text, _ in picture("| 3 steps, 0:01", which, budgets, width, height)]


def test_frames_in_which_one_thing_runs_share_its_line_and_others_are_a_tree() -> None:
    assert lines(doing("main/2")) == ["| 3 steps, 0:01", "  read_file x"]
    assert lines(
        doing("main/5#10/1>a/b/2", 2.5),
        doing("main/5#2/1>a/b/3[7]/1"),
        doing("main/5#2/1>a/b/4#1/1"),
    ) == [
        "| 3 steps, 0:01",
        "  branch 2 a/b",
        "    round 7: read_file x",
        "    branch 1: read_file x",
        "  branch 10 a/b: read_file x  2.5 s",
    ]


def test_budgets_stand_in_the_head_and_what_is_used_up_is_marked() -> None:
    budgets = (
        Budget("steps", 2, 0, 60),
        Budget("model_calls", 4, 0, 4),
        Budget("tokens", 900, 0, 1000),
    )
    assert lines(budgets=budgets) == [
        "| 3 steps, 0:01  steps 2/60  model_calls 4/4  tokens 900/1,000"
    ]
    assert lines(budgets=budgets, width=40) == [
        "| 3 steps, 0:01  steps 2/60",
        "  model_calls 4/4, tokens 900/1,000",
    ]
    painted = picture("h", (), budgets, 80, 9, Style(True, 80))[0][0]
    assert "\x1b[1;31m  model_calls 4/4\x1b[0m" in painted and "\x1b[1;35m  tokens" in painted


@pytest.mark.parametrize("width", [8, 20, 30, 79, 200])
@pytest.mark.parametrize("height", [1, 2, 5, 50])
def test_the_picture_is_never_wider_or_higher_than_the_terminal(width: int, height: int) -> None:
    many = [
        doing(f"main/1#{n}/1>sub{n % 3}/2[{n}]/1", n, "\u202e\x1b[2J長い" * 40)
        for n in range(1, 90)
    ]
    budgets = [Budget("m" * 30, 1, 1, 2)] * 3
    found = picture("head", many, budgets, width, height, Style(True, width))
    assert len(found) <= max(height, 3)
    for text, size in found:
        plain = re.sub("\x1b\\[[0-9;]*m", "", text)
        assert columns(plain) == size <= width and plain.isprintable()


@pytest.fixture
def tree(workspace: Path) -> Path:
    (workspace / "docs").mkdir()
    for name in "abc":
        (workspace / "docs" / name).write_text(name)
    (workspace / "tree.plan").write_text(TREE)
    (workspace / "deep.plan").write_text(DEEP)
    return workspace


class Terminal:
    """`fdc ARGUMENTS` in a terminal of 80 by 24."""

    def __init__(self, workspace: Path, *arguments: str, **environment: str) -> None:
        self.controller, terminal = pty.openpty()
        ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        env = {
            name: value
            for name, value in clean_environment().items()
            if name not in ("NO_COLOR", "COLUMNS")
        }
        self.process = subprocess.Popen(
            [sys.executable, str(ROOT / "tooling" / "fdc_cli.py"), *arguments], cwd=workspace, stdin=terminal,
            stdout=terminal, stderr=terminal, env={**env, "TERM": "xterm", **environment}, start_new_session=True,
            preexec_fn=lambda: ioctl(0, termios.TIOCSCTTY, 0),
        )  # fmt: skip
        os.close(terminal)
        self.shown = ""

    def until(self, wanted: str | None) -> str:
        """Reads until the output has the text, or (None) to its end."""
        deadline = time.monotonic() + PATIENCE
        while wanted is None or wanted not in self.shown:
            assert time.monotonic() < deadline, self.shown
            if select.select([self.controller], [], [], 0.2)[0]:
                try:
                    data = os.read(self.controller, 65536)
                except OSError:
                    data = b""
                if not data:
                    assert wanted is None, self.shown
                    break
                self.shown += data.decode("utf-8", "replace")
        return self.shown

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self.controller)


@pytest.mark.slow
def test_a_terminal_shows_branches_and_budget_and_is_left_clean(tree: Path) -> None:
    seen = Terminal(tree, "run", "tree.plan", "--allow-unsandboxed", NO_COLOR="1")
    try:
        seen.until("branch 3 deep.plan: run_in_bash_session")
        seen.until("branch 1 deep.plan: run_in_bash_session")
        seen.until("steps 9/60")
        (tree / "go").write_text("")
        text = seen.until(None)
        assert seen.process.wait(timeout=PATIENCE) == 0
    finally:
        seen.close()
    assert "steps 9/60" in text and "branch 1 deep.plan: run_in_bash_session" in text
    assert not re.search("\x1b\\[[0-9;]*m", text)  # NO_COLOR
    after = text.rpartition("\x1b[J")[2]
    assert "branch" not in after and "finished: 13 steps" in after
    stays = re.sub(r"\r(\x1b\[\d+A)?\x1b\[J", "", text)
    assert "ok     main/5     overwrite_file_with_block out.txt" in stays


@pytest.mark.slow
def test_ctrl_c_prints_how_to_go_on_and_that_goes_on(tree: Path) -> None:
    seen = Terminal(tree, "run", "tree.plan", "--allow-unsandboxed")
    try:
        seen.until("branch 3 deep.plan: run_in_bash_session")
        os.write(seen.controller, b"\x03")
        text = seen.until(None)
        assert seen.process.wait(timeout=PATIENCE) == 130
    finally:
        seen.close()
    again = re.search(r"`fdc (resume [^`]*)` begins", text)
    assert again is not None and "\x1b[" in text
    (tree / "go").write_text("")
    done = fdc(*again[1].split(), "--allow-unsandboxed", cwd=tree)
    assert "\x1b" not in done.stdout
    assert done.returncode == 0 and "finished: 13 steps" in done.stdout
