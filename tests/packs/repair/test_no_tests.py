"""`fdc fix --test` with a command that runs no test: it ends before any patch, with the line that says why."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from fdc_packs.repair.failure import read
from fdc_packs.repair.no_tests import why_none_ran

from tests.packs.repair.test_input import fixed
from tests.support import inside
from tests.support.repaired import shop

if TYPE_CHECKING:
    from fdc_packs.repair import shapes

PYTHON = shlex.quote(sys.executable)
PYTEST = f"{PYTHON} -m pytest -q -p no:cacheprovider"
TESTS = """\
import unittest
from shop.price import discount

class Prices(unittest.TestCase):
    def test_limit(self):
        assert discount(100, True) == 90
"""


def why(folder: Path, test: str) -> str:
    """What the command says when it is run there, as `fdc fix` reads it."""
    done = subprocess.run(["bash", "-c", test], cwd=folder, capture_output=True, text=True)
    told: shapes.Measured = {
        "passed": done.returncode == 0, "exit_code": done.returncode, "stdout": done.stdout, "stderr": done.stderr,
        "seconds": 0.0, "why": "", "flaky": False, "checked": "",
    }  # fmt: skip
    told["stdout"] = told["stdout"].replace(f"{folder}/", "")
    return why_none_ran(told, read(told))


@pytest.mark.parametrize(
    ("test", "said"),
    [
        (f"{PYTEST} --nosuch", "error: unrecognized arguments: --nosuch"),
        (f"{PYTEST} tests/gone.py", "ERROR: file or directory not found: tests/gone.py"),
        (f"{PYTEST} test_shop.py -k nothing", "1 deselected in "),
        (f"{PYTEST} -o python_files='none_*.py'", "no tests ran in "),
        (f"{PYTHON} gone.py", "can't open file "),
        (f"{PYTHON} -m nosuchmodule", ": No module named nosuchmodule"),
        ("make test", "*** No rule to make target 'test'."),
        ("make shell", "nosuchprogram"),
        ("sh -c 'nosuchprogram --x; exit 1'", "nosuchprogram: not found"),
    ],
)
def test_a_command_that_runs_no_test_says_why(tmp_path: Path, test: str, said: str) -> None:
    shop(tmp_path, {"test_shop.py": TESTS, "Makefile": "shell:\n\t@nosuchprogram --x\n"})
    assert said in why(tmp_path, test)


def test_an_error_within_pytest_is_the_reason(tmp_path: Path) -> None:
    settings = "[pytest]\nfilterwarnings = error\nnosuch_option = auto\n"
    shop(tmp_path, {"test_shop.py": TESTS, "pytest.ini": settings})
    said = why(tmp_path, f"{PYTEST} -p no:asyncio")
    assert "PytestConfigWarning: Unknown config option: nosuch_option" in said


@pytest.mark.parametrize(
    ("files", "test"),
    [
        ({}, PYTEST),
        ({"conftest.py": "import shop.nosuch\n"}, PYTEST),
        ({"conftest.py": "def pytest_collection_modifyitems(items):\n    items.gone()\n"}, PYTEST),
        ({"shop/price.py": "def discount(\n"}, PYTEST),
        ({}, f"{PYTHON} -m unittest test_shop"),
        ({"turn.py": "import sys\nprint('no tests ran')\nsys.exit(3)\n"}, f"{PYTHON} turn.py"),
    ],
)  # fmt: skip
def test_where_the_code_may_be_the_cause_nothing_is_said(
    tmp_path: Path, files: dict[str, str], test: str
) -> None:
    """Also where it keeps the tests from being collected, or pytest from beginning."""
    shop(tmp_path, {"test_shop.py": TESTS, **files})
    assert why(tmp_path, test) == ""


def test_the_repair_ends_before_any_patch_and_shows_the_line(tmp_path: Path) -> None:
    shop(tmp_path)
    done = inside.fdc("fix", "--test", "make test", cwd=tmp_path, env={"FDC_MODEL": ""})
    assert (done.returncode, done.stdout) == (1, "")
    assert "given up: the test command ran no test\n  make: *** No rule to make" in done.stderr
    assert "0 iterations" in done.stderr


@pytest.mark.long
def test_the_repair_of_a_command_without_tests_ends_under_pytest_too(tmp_path: Path) -> None:
    code, said, _ = fixed(shop(tmp_path, {"test_shop.py": TESTS}), f"{PYTEST} -k nothing")
    assert (1, "no-tests", "none", 0) == (code, said["ended"], said["status"], said["iterations"])
