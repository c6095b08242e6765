"""What wrong code makes the tests write is not read by the next run."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support import inside

CODE = "def double(n):\n    return n - n\n"
TESTS = """\
from pathlib import Path
from code_under import double

KEPT = Path("kept.txt")

def test_a_kept(): assert KEPT.read_text() == "4"
def test_b_double():
    KEPT.write_text(str(double(2)))
    assert double(2) == 4 and double(3) == 6
"""


@pytest.mark.long
def test_a_file_that_tests_overwrite_is_what_it_was_in_each_run(tmp_path: Path) -> None:
    for name, text in (("code_under.py", CODE), ("test_code.py", TESTS), ("kept.txt", "4")):
        (tmp_path / name).write_text(text, "utf-8")
    done = inside.fdc("fix", "--test", "python3 -m pytest -q test_code.py", cwd=tmp_path)
    assert 0 == done.returncode, done.stderr
    assert "+    return n + n" in done.stdout.splitlines()
    assert "4" == (tmp_path / "kept.txt").read_text("utf-8")
