"""What is measured of an edit that is of no function: a constant of the module, a default."""

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
