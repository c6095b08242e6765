"""Tests that do not end: `fdc fix` stops each of them where it is, and repairs the loop as any other fault."""

from __future__ import annotations

import json
import re
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest
from fdc_packs.repair.tools import repair_tools, run_tests
from fdc_toolchain.api.text import narrow

from tests.support import inside

pytestmark = pytest.mark.long
DOWN = re.compile(r"^\+        n (?:-= 1|\+= -1)$", re.MULTILINE)
"""Which of the two is tried in time depends on the load."""
PYTHON = shlex.quote(sys.executable)
PYTEST = f"PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 {PYTHON} -m pytest -q"
GOOD = """\
def down(n):
    out = []
    while n > 0:
        out.append(n)
        n -= 1
    return out


def double(n):
    return n + n
"""
WAITS = """\
import time


def sleep(n):
    turns = 0
    while n > 0:
        time.sleep(0.1)
        turns += n
        n -= 1
    return turns


def double(n):
    return n + n
"""
TESTS = """\
from loops import {0}, double

def test_double(): assert double(4) == 8
def test_none(): assert {0}(0) == {1}
def test_some(): assert {0}(2) == {2}
"""
UNITTEST = """\
import unittest
from loops import down, double

class Tests(unittest.TestCase):
    def test_double(self): self.assertEqual(8, double(4))
    def test_some(self): self.assertEqual([2, 1], down(2))
"""


def fixed(folder: Path, test: str, *more: str) -> tuple[dict[str, Any], str]:
    done = inside.fdc(
        "fix",
        "--test",
        test,
        "--format",
        "json",
        *more,
        "loops.py",
        cwd=folder,
        env={"FDC_MODEL": ""},
    )
    assert "Traceback" not in done.stderr
    return narrow(json.loads(done.stdout), dict), done.stderr


@pytest.mark.parametrize(
    ("command", "tests"),
    [(PYTEST, TESTS.format("down", [], [2, 1])), (f"{PYTHON} -m unittest -q test_loops", UNITTEST)],
    ids=["pytest", "unittest"],
)
def test_a_loop_that_never_ends_is_repaired(tmp_path: Path, command: str, tests: str) -> None:
    (tmp_path / "loops.py").write_text(GOOD.replace("n -= 1", "n += 1"))
    (tmp_path / "test_loops.py").write_text(tests)
    said, story = fixed(tmp_path, command, "--test-timeout", "12")
    assert "fixed" == said["status"], story
    assert DOWN.search(said["diff"])
    assert re.search(r"^fails: .*TookTooLong.*\(loops\.py:[345]\)$", story, re.MULTILINE), story
    assert "tried in memory" in story


def test_a_test_that_waits_for_ever_is_stopped_too(tmp_path: Path) -> None:
    (tmp_path / "loops.py").write_text(WAITS.replace("n -= 1", "n *= 1"))
    (tmp_path / "test_loops.py").write_text(TESTS.format("sleep", 0, 3))
    said, story = fixed(tmp_path, PYTEST, "--test-timeout", "12")
    assert "fixed" == said["status"] and DOWN.search(said["diff"]), story


def test_tests_that_are_only_slow_run_to_their_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No test takes long, and all of them do: the command gets the time that any command has."""
    monkeypatch.setattr(run_tests, "FIRST", 3.0)
    (tmp_path / "loops.py").write_text(GOOD.replace("n + n", "n - n"))
    slow = "import time, pytest\n@pytest.mark.parametrize('n', range(8))\n"
    slow += "def test_slow(n): time.sleep(0.5)\n"
    (tmp_path / "test_loops.py").write_text(TESTS.format("down", [], [2, 1]) + slow)
    said, story = fixed(tmp_path, PYTEST)
    assert "fixed" == said["status"] and "TookTooLong" not in story, story


def test_a_command_that_is_killed_is_looked_at_in_the_same_way(tmp_path: Path) -> None:
    """By a limit of its own, or because a loop has taken all memory."""
    (tmp_path / "loops.py").write_text(GOOD.replace("n -= 1", "n += 1"))
    (tmp_path / "test_loops.py").write_text(TESTS.format("down", [], [2, 1]))
    said, story = fixed(tmp_path, f"timeout -s KILL 8 env {PYTEST}", "--test-timeout", "60")
    assert "fixed" == said["status"], story
    assert "TookTooLong" in story


STEPS = """\
def steps(n, by):
    out = []
    while n > 0:
        out.append(n)
        n -= by
    return out
"""


def test_another_test_that_does_not_end_says_which_edit_is_right(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command ends, and the suite does not: it ran on for as long as a command may, and nothing was learnt from it."""
    monkeypatch.setattr(repair_tools, "PATIENCE", 2.0)
    (tmp_path / "loops.py").write_text(STEPS.replace("-= by", "//= by"))
    (tmp_path / "test_loops.py").write_text(
        "from loops import steps\ndef test_two(): assert steps(4, 2) == [4, 2]\n"
    )
    (tmp_path / "test_more.py").write_text(
        "from loops import steps\ndef test_one(): assert steps(3, 1) == [3, 2, 1]\n"
    )
    said, story = fixed(tmp_path, f"{PYTEST} test_loops.py", "--test-timeout", "60")
    assert "fixed" == said["status"] and "+        n -= by\n" in said["diff"], story
