"""What a patch breaks beyond its test command: other files and doctests, with and without it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from fdc_packs.repair.tools import repair_copy, whole_suite

from tests.support.background import PATIENCE

CODE = 'def size(x):\n    """\n    >>> size("ab")\n    2\n    """\n    return len(x)\n'
RUN = f"PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 {sys.executable} -m pytest -q tests/test_one.py"


@dataclass(frozen=True)
class Place:
    """What the functions under test read of a context."""

    run_folder: str
    shell_seconds: float = PATIENCE


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    """A copy with a file, its base and files of tests, one of which fails anyway and one cannot be imported; no sandbox."""

    def plainly(argv: list[str], context: Any, folder: str) -> Any:
        env = {**os.environ, "PYTHONPATH": folder, "PYTHONDONTWRITEBYTECODE": "1"}
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        done = subprocess.run(argv, cwd=folder, env=env, check=False, **streams)  # type: ignore[call-overload]
        return SimpleNamespace(exit_code=done.returncode, output=done.stdout)

    monkeypatch.setattr(repair_copy, "run_in_copy", plainly)
    head = "from code_under import size\n"
    files = {"code_under.py": CODE, "tests/test_one.py": f"{head}def test_one(): assert size([1]) == 1\n",
             "tests/test_two.py": f"{head}def test_two(): assert size([1, 2]) == 2\ndef test_old(): assert 0\n",
             "tests/test_absent.py": "import absent_package\n"}  # fmt: skip
    for name, text in files.items():
        repair_copy.put(str(tmp_path / "copy"), name, text.encode())
    repair_copy.put(str(tmp_path / "base"), "code_under.py", CODE.encode())
    (tmp_path / "case.json").write_text(json.dumps({"code_under.py": ""}))
    return Place(str(tmp_path))


@pytest.mark.long
@pytest.mark.parametrize(
    ("now", "broken"),
    [
        ("len(x)", []), ("1", ["tests/test_two.py::test_two"]),
        ("len(x) if type(x) is list else 0", ["code_under.py::code_under.size"]),
    ],
)  # fmt: skip
def test_what_another_file_or_a_doctest_says_counts(
    place: Place, now: str, broken: list[str]
) -> None:
    """E17: a patch that passes its one red test and breaks another file, or a doctest, is not a repair."""
    folder = repair_copy.copy_of(place)  # type: ignore[arg-type]
    text = CODE.replace("return len(x)", f"return {now}")
    repair_copy.put(folder, "code_under.py", text.encode())
    found = whole_suite.broken(RUN, place, folder, "code_under.py")  # type: ignore[arg-type]
    assert broken == found["broken"]  # test_old fails without the patch too
    assert text == repair_copy.read(folder, "code_under.py").decode()
    if not broken:
        said = "run beside the command: the whole test suite (2 passed), the doctests (1 passed)"
        assert said == found["said"]


@pytest.mark.long
@pytest.mark.parametrize(("now", "broken"), [("len(x)", []), ("1", ["size (code_under)"])])
def test_doctests_run_beside_unittest_too(place: Place, now: str, broken: list[str]) -> None:
    folder = repair_copy.copy_of(place)  # type: ignore[arg-type]
    text = CODE.replace("return len(x)", f"return {now}")
    repair_copy.put(folder, "code_under.py", text.encode())
    run = f"{sys.executable} -m unittest tests.test_one"
    found = whole_suite.broken(run, place, folder, "code_under.py")  # type: ignore[arg-type]
    assert broken == found["broken"]
    assert broken or "the doctests (1 passed)" in found["said"]


@pytest.mark.long
def test_a_test_that_fails_once_by_chance_breaks_nothing(place: Place) -> None:
    """As tests do that have a deadline: it passes when it is run again, and that is said."""
    folder = repair_copy.copy_of(place)  # type: ignore[arg-type]
    once = (
        "import os\ndef test_now_and_then():\n    there = os.path.exists('seen')\n"
        "    open('seen', 'w').close()\n    assert there\n"
    )
    repair_copy.put(folder, "tests/test_slow.py", once.encode())
    found = whole_suite.broken(RUN, place, folder, "code_under.py")  # type: ignore[arg-type]
    assert found["broken"] == []
    assert "tests/test_slow.py::test_now_and_then failed once and passed when it was run again" in found["said"]  # fmt: skip


def test_the_commands_keep_what_says_how_tests_run_and_what_cannot_be_run_is_said() -> None:
    known, missing = whole_suite.commands(
        "cd x && A=1 python3 -m pytest -x -p one -W error tests/a.py::b | cat", ["m.py"]
    )
    options = "-q --tb=short -rfE -p no:cacheprovider --continue-on-collection-errors"
    whole = f"cd x && A=1 python3 -m pytest -p one -W error {options}"
    assert [whole, f"{whole} --doctest-modules m.py"] == list(known.values()) and [] == missing
    known, missing = whole_suite.commands("python -m unittest tests.test_a", ["m.py"])
    assert list(known) == ["the whole test suite", "the doctests"] and [] == missing
    assert known["the whole test suite"] == "python -m unittest discover"
    assert known["the doctests"].startswith("python -c ")
    assert ({}, 1) == (lambda pair: (pair[0], len(pair[1])))(whole_suite.commands("make check", []))
