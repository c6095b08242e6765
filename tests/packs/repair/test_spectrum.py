"""Spectra: which lines the failing and the passing tests ran, measured in real test processes in the sandbox; what is suspect."""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from fdc_packs.repair.localise import Suspect, ochiai, rank
from fdc_packs.repair.tools import spectrum
from fdc_toolchain.tools.context import Context, Leaving
from fdc_toolchain.workspace.files import Root
from fdc_toolchain.workspace.operator import Operator

PYTEST = f"PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 {sys.executable} -m pytest"
"""Plugins of this environment take most of a second to load."""

SHAPES = """\
LEAST = 1


def area(w, h):
    if w < LEAST:
        return 0
    return w * h


def edge(w, h):
    return w + h
"""
TESTS = """\
import pytest
from shapes import area, edge

def test_area(): assert area(2, 3) == 6
def test_none(): assert area(0, 3) == 0
@pytest.mark.parametrize("w", [1, 2])
def test_edge(w): assert edge(w, 3) == 2 * w + 6
@pytest.mark.skip
def test_never(): assert edge(1, 1) == 9
"""

Measure = Callable[[str], dict[str, Any]]


@pytest.fixture
def measure(tmp_path: Path) -> Iterator[Measure]:
    copy, run = tmp_path / "copy", tmp_path / "run"
    for folder in (copy, run):
        folder.mkdir()
    (copy / "shapes.py").write_text(SHAPES, "utf-8")
    (copy / "test_shapes.py").write_text(TESTS, "utf-8")
    root = Root(str(copy))
    context = Context(
        root=root, key="run:main/1", run="run", run_folder=str(run), say=print, ask=lambda question: "", bound=True,
        cancelled=Leaving(), shell_seconds=60.0, tool={}, operator=Operator(unsandboxed=True),
    )  # fmt: skip

    def measured(command: str) -> dict[str, Any]:
        before = {path.name for path in copy.iterdir()} - {".pytest_cache", "__pycache__"}
        found = spectrum.measure(command, context, str(copy), spectrum=True)
        assert before == {path.name for path in copy.iterdir()} - {
            ".pytest_cache",
            "__pycache__",
        }  # it tidies up
        assert found == json.loads(json.dumps(found))
        return found

    yield measured
    root.close()


def table(found: dict[str, Any], path: str) -> dict[int, tuple[int, int]]:
    rows = next(
        (file["lines"] for file in found["spectra"][0]["files"] if file["path"] == path), []
    )
    return {line: (bad, good) for line, bad, good in rows}


@pytest.mark.slow
def test_each_test_of_pytest_has_its_own_lines(measure: Measure) -> None:
    """Failing and passing tests are told apart; a skipped one counts for nothing; what an import runs, every test runs."""
    found = measure(f"{PYTEST} -q -W error test_shapes.py")
    run = found["spectra"][0]
    assert (1, 2, 2) == (found["exit_code"], run["failing"], run["passing"])
    assert {1: (2, 2), 4: (2, 2), 5: (0, 2), 6: (0, 1), 7: (0, 1), 10: (2, 2), 11: (2, 0)} == table(
        found, "shapes.py"
    )
    assert ["test_shapes.py", 7] in run["frames"]
    best = rank(found["spectra"])
    assert 11 == next(one for one in best if one.path == "shapes.py").line
    assert {1, 4, 10, 11} == {one.line for one in best if one.path == "shapes.py"}


DESCRIBED = """\
class Box:
    def __init__(self, w):
        self.w = w

    def __repr__(self):
        return f"Box {self.w}"

    def wide(self):
        return self.w > 2


class Bag(list):
    def __repr__(self):
        return "Bag"
"""
OF_BOXES = {
    "pytest": """\
from box import Bag, Box
def good(box): assert box.wide()
def test_a(): good(Box(2))
def test_b(): assert Box(2) == 3
def test_bag(): assert Bag() == 3
def test_c():
    assert Box(3).wide()
    repr(Box(3))
""",
    "unittest": """\
import unittest
from box import Bag, Box
class T(unittest.TestCase):
    def test_a(self): self.assertEqual(Box(2), 3)
    def test_b(self): self.assertIsNone(Box(2))
    def test_bag(self): self.assertEqual(Bag(), 3)
    def test_c(self):
        assert Box(3).wide()
        repr(Box(3))
""",
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", OF_BOXES)
@pytest.mark.parametrize("options", ["", " --showlocals"])
def test_what_describes_a_value_after_a_test_failed_is_not_suspect(
    measure: Measure, tmp_path: Path, kind: str, options: str
) -> None:
    """A `__repr__` that only the report of a failure calls was the most suspect of all lines."""
    (tmp_path / "copy" / "box.py").write_text(DESCRIBED, "utf-8")
    (tmp_path / "copy" / "test_shapes.py").write_text(OF_BOXES[kind], "utf-8")
    rows = table(measure(f"{PYTEST} -q{options} test_shapes.py"), "box.py")
    assert (rows[3], rows[6], rows[9]) == ((2, 1), (0, 1), (int(kind == "pytest"), 1))
    assert 14 not in rows and rows[13] == (3, 1)


@pytest.mark.slow
def test_what_an_earlier_test_had_kept_is_run_by_the_failing_one_too(
    measure: Measure, tmp_path: Path
) -> None:
    """What makes a value that is kept from then on is run by the first test that asks for it: it may be a passing one."""
    kept = "\nKEPT = {}\n\ndef made(x):\n    return 2 * x\n\ndef double(x):\n"
    kept += "    if 1 not in KEPT:\n        KEPT[1] = made(1)\n    return x * KEPT[1]\n"
    (tmp_path / "copy/shapes.py").write_text(SHAPES + kept, "utf-8")
    tests = "from shapes import double\ndef test_a(): assert double(2) == 4\n"
    tests += "def test_b(): assert double(3) == 9\ndef test_c(): assert double(4) == 8\n"
    (tmp_path / "copy/test_kept.py").write_text(tests, "utf-8")
    lines = (SHAPES + kept).splitlines()
    found = table(measure(f"{PYTEST} -q test_kept.py"), "shapes.py")
    made, asked = (lines.index(one) + 1 for one in ("    return 2 * x", "    if 1 not in KEPT:"))
    assert (1, 2) == found[asked] == found[made]


@pytest.mark.slow
def test_unittests_cases_run_by_pytest_end_as_without_the_measurement(
    measure: Measure, tmp_path: Path
) -> None:
    """pytest hands `run` its result by name: a recorder that did not know the name made every such test fail (issue 6)."""
    text = "import unittest\nfrom shapes import area\n\n\nclass T(unittest.TestCase):\n"
    text += "    def test_area(self): self.assertEqual(area(2, 3), 6)\n    def test_none(self): self.assertEqual(area(0, 3), 1)\n"
    (tmp_path / "copy" / "test_shapes.py").write_text(text, "utf-8")
    found = measure(f"{PYTEST} -q test_shapes.py")
    assert (1, 1) == (found["spectra"][0]["failing"], found["spectra"][0]["passing"]), found[
        "output"
    ]
    assert {5: (1, 1), 6: (1, 0), 7: (0, 1)} == {
        line: table(found, "shapes.py")[line] for line in (5, 6, 7)
    }


@pytest.mark.slow
def test_a_command_that_says_where_python_looks_is_measured(measure: Measure) -> None:
    """`PYTHONPATH=src pytest` hid the recorder: nothing was measured, and nothing was suspected."""
    found = measure(f"env PYTHONPATH='.' {PYTEST} -q -W error test_shapes.py")
    assert (1, "") == (found["exit_code"], found["why"])
    assert (0, 2) == table(found, "shapes.py")[5]


@pytest.mark.slow
def test_each_test_of_unittest_has_its_own_lines(measure: Measure, tmp_path: Path) -> None:
    (tmp_path / "copy" / "test_shapes.py").write_text(
        "import unittest\nfrom shapes import area, edge\nclass T(unittest.TestCase):\n"
        "    def test_area(self): self.assertEqual(6, area(2, 3))\n"
        "    def test_edge(self):\n        for w in (0, 1):\n"
        "            with self.subTest(w=w): self.assertEqual(2 * w + 6, edge(w, 3))\n"
        "    @unittest.skip('no')\n    def test_never(self): pass\n", "utf-8")  # fmt: skip
    found = measure(f"{sys.executable} -m unittest -q")
    assert (1, 1) == (found["spectra"][0]["failing"], found["spectra"][0]["passing"])
    assert {7: (0, 1), 11: (1, 0)} == {
        line: row for line, row in table(found, "shapes.py").items() if line in (7, 11)
    }


def test_a_run_without_a_known_test_is_one_test(measure: Measure) -> None:
    """A script: every line that it ran is suspect, those that its traceback passes through before the others."""
    found = measure(
        f"{sys.executable} -c 'import shapes; assert shapes.area(0, 1) == 0; shapes.edge(1, None)'"
    )
    assert (1, 0) == (found["spectra"][0]["failing"], found["spectra"][0]["passing"])
    assert [["shapes.py", 11]] == found["spectra"][0]["frames"]
    assert Suspect("shapes.py", 11, 1.0) == rank(found["spectra"])[0]
    assert 7 not in table(found, "shapes.py")


@pytest.mark.long
def test_a_process_that_a_test_begins_belongs_to_it(measure: Measure, tmp_path: Path) -> None:
    (tmp_path / "copy" / "test_shapes.py").write_text(
        "import subprocess, sys\ndef run(call):\n"
        "    subprocess.run([sys.executable, '-c', f'import shapes; shapes.{call}'], check=True)\n"
        "def test_a(): run('edge(1, 2)')\ndef test_b(): run('area(None, 1)')\n", "utf-8")  # fmt: skip
    rows = table(measure(f"{PYTEST} -q"), "shapes.py")
    assert ((0, 1), (1, 0)) == (rows[11], rows[5])


@pytest.mark.slow
def test_a_file_of_tests_that_cannot_be_imported_is_a_failing_test(
    measure: Measure, tmp_path: Path
) -> None:
    (tmp_path / "copy" / "shapes.py").write_text(f"{SHAPES}\n\nTOP = edge(1, None)\n", "utf-8")
    found = measure(f"{PYTEST} -q")
    assert 1 == found["spectra"][0]["failing"]
    assert (1, 0) == table(found, "shapes.py")[11]
    assert {11, 14} == {one.line for one in rank(found["spectra"])[:2] if one.path == "shapes.py"}


@pytest.mark.slow
def test_where_nothing_can_be_measured_the_run_counts_and_it_is_said_why(measure: Measure) -> None:
    """What is run is not Python, or does not look at the environment: its result is there all the same."""
    for command in ("echo no; exit 3", f"{sys.executable} -I -c 'raise SystemExit(3)'"):
        found = measure(command)
        assert (3, []) == (found["exit_code"], found["spectra"])
        assert "ran no line of a Python file" in found["why"]
    assert "no\n" == measure("echo no; exit 3")["output"]


@pytest.mark.long
def test_another_measurement_stands_back(measure: Measure, tmp_path: Path) -> None:
    """pytest-cov's options stay valid and do not take the tracer away."""
    (tmp_path / "copy" / "conftest.py").write_text(
        "def pytest_addoption(parser):\n    parser.addoption('--cov', action='append', dest='cov_source', default=[])\n"
        "def pytest_sessionstart(session):\n    assert not session.config.option.cov_source\n", "utf-8")  # fmt: skip
    assert (2, 0) == table(measure(f"{PYTEST} -q --cov=shapes"), "shapes.py")[11]


def test_the_environment_of_the_tests_is_theirs(measure: Measure, tmp_path: Path) -> None:
    """A sitecustomize of their own still runs."""
    (tmp_path / "copy" / "sitecustomize.py").write_text(
        "import os\nos.environ['THEIRS'] = 'yes'\n", "utf-8"
    )
    found = measure(
        f"{sys.executable} -c 'import os, shapes; print(os.environ[\"THEIRS\"], shapes.edge(1, 2))'"
    )
    assert (0, "yes 3\n") == (found["exit_code"], found["output"])
    assert [] == rank(found["spectra"])
    assert "FDC_SPECTRUM" not in os.environ


def test_ochiai_as_it_is_defined() -> None:
    """Failing tests that run the line, over the root of all failing ones times all that run it."""
    for failing in range(4):
        for passing in range(4):
            for others in range(4):
                ran, every = failing + passing, failing + others
                wanted = failing / math.sqrt(every * ran) if failing else 0.0
                assert wanted == pytest.approx(ochiai(failing, passing, every))


def test_lines_that_are_as_suspect_stand_by_the_traceback() -> None:
    run = {"failing": 1, "passing": 1, "frames": [["a.py", 9], ["b.py", 2]],
           "files": [{"path": "a.py", "lines": [[1, 1, 0], [8, 1, 0], [9, 1, 0], [20, 1, 1], [21, 0, 1]]},
                     {"path": "b.py", "lines": [[2, 1, 0]]}, {"path": "c.py", "lines": [[1, 1, 0]]}]}  # fmt: skip
    places = [(one.path, one.line) for one in rank([run])]
    assert [("a.py", 9), ("b.py", 2), ("a.py", 8), ("a.py", 1), ("c.py", 1), ("a.py", 20)] == places
    assert (
        []
        == rank([])
        == rank([{**run, "failing": 0, "files": [{"path": "a.py", "lines": [[1, 0, 2]]}]}])
    )
