"""What is measured of an edit that is of no function: a constant of the module, a default. And what edits write."""

from __future__ import annotations

from pathlib import Path

import pytest
from fdc_packs.repair.tools import repair_probe

from .test_probe import PYTEST, folder

__all__ = ["folder"]
CODE = "MOST = 3\n\n\ndef limit(x, least=0):\n    return max(min(x, MOST), least)\n"
TESTS = "from code_under import limit\n\ndef test_high(): assert limit(9) == 5\n"


@pytest.mark.long
@pytest.mark.parametrize(("old", "new", "other"), [("3", "5", "5.0"), ("0", "5", "5.0")])
def test_of_a_constant_and_of_a_default_the_functions_of_the_file_are_compared(
    folder: Path, old: str, new: str, other: str
) -> None:
    """Two that pass are told apart by what the functions that read them give."""
    (folder / "code_under.py").write_text(CODE, "utf-8")
    (folder / "test_code.py").write_text(TESTS, "utf-8")
    at = CODE.index(old)
    edits = [
        {"key": key, "path": "code_under.py", "pieces": [[at, at + 1, key]]} for key in (new, other)
    ]
    found = repair_probe.probe(PYTEST, None, str(folder), edits)  # type: ignore[arg-type]
    assert {new: "passes", other: "passes"} == found["verdicts"]
    one, two = found["changes"][new], found["changes"][other]
    assert 0 < one[0] <= one[1] and 0 < two[0] and one[2] != two[2]


@pytest.mark.long
def test_what_the_tests_of_an_edit_overwrite_is_written_again_before_the_next_one(
    folder: Path,
) -> None:
    """A wrong edit saves a wrong file, which the tests of the right one read."""
    (folder / "code_under.py").write_text("def double(n):\n    return n - n\n", "utf-8")
    (folder / "kept.txt").write_text("4", "utf-8")
    (folder / "test_code.py").write_text(
        "from pathlib import Path\nfrom code_under import double\n\n"
        "def test_kept():\n    assert Path('kept.txt').read_text() == '4'\n"
        "    Path('kept.txt').write_text(str(double(2)))\n\n"
        "def test_double(): assert double(3) == 6\n",
        "utf-8",
    )
    edits = [
        {"key": key, "path": "code_under.py", "pieces": [[28, 29, key]]} for key in ("*", "/", "+")
    ]
    found = repair_probe.probe(PYTEST, None, str(folder), edits)  # type: ignore[arg-type]
    assert {"*": "fails", "/": "fails", "+": "passes"} == found["verdicts"]
    assert "4" == (folder / "kept.txt").read_text("utf-8")
