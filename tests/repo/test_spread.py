"""`--workers`: what forked workers say of tests is what one process says of them."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from tests.support.process import run
from tests.support.repository import ROOT

FIRST = """
import os, pathlib, pytest

@pytest.fixture(scope="session")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made")
    yield folder
    pathlib.Path("ended").write_text(folder.parent.name)

def test_good(made):
    assert made.is_dir()

def test_bad(capfd):
    os.system("echo out of a process")
    assert capfd.readouterr().out == "another"

def test_said():
    print("printed before")
    raise ValueError("no value")

@pytest.mark.xfail
def test_expected():
    assert False

@pytest.mark.skip(reason="nowhere")
def test_skipped():
    pass
"""
SECOND = """
import os, signal

def test_before():
    pass

def test_killed():
    os.kill(os.getpid(), signal.SIGKILL)

def test_never():
    pass
"""
THIRD = "def test_third(tmp_path):\n    assert tmp_path.parent.name.startswith('worker')\n"


@pytest.fixture
def tests(tmp_path: Path) -> Path:
    for name, text in {"test_a.py": FIRST, "test_b.py": SECOND, "test_c.py": THIRD}.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    return tmp_path


def spread(tests: Path, *arguments: str) -> tuple[int, str]:
    env = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": f"{ROOT / 'tooling'}:{ROOT}"}
    command: list[str | os.PathLike[str]] = [
        ROOT / ".venv/bin/python",
        "-m",
        "pytest",
        "-p",
        "tests.support.spread",
        *arguments,
    ]
    done = run([*command, "-p", "no:cacheprovider", "-rA"], cwd=tests, env=env, timeout=60)
    return done.returncode, done.stdout + done.stderr


def test_each_test_is_reported_once_and_a_worker_that_dies_fails_its_test(tests: Path) -> None:
    code, said = spread(tests, "--workers=2")
    told = re.findall(r"(?m)^(PASSED|FAILED|XFAIL) test_[abc]\.py::(\w+)", said)
    expected = [
        ("FAILED", "test_bad"), ("FAILED", "test_killed"), ("FAILED", "test_said"), ("PASSED", "test_before"),
        ("PASSED", "test_good"), ("PASSED", "test_third"), ("XFAIL", "test_expected"),
    ]  # fmt: skip
    assert (1, expected) == (code, sorted(told)), said
    assert (
        "ended with -9" in said
        and "2 tests were not run to their end: " in said
        and "nowhere" in said
    )
    assert 1 == said.count("\nprinted before\n") and "'out of a process\\n' == 'another'" in said
    assert (tests / "ended").read_text().startswith("worker")


def test_after_the_first_failure_nothing_more_is_begun(tests: Path) -> None:
    code, said = spread(tests, "--workers=1", "-x")
    assert 1 == code and "1 failed, 1 passed" in said and "stopping after 1 failures" in said
    assert (tests / "ended").exists(), "what a fixture made is cleared away"
