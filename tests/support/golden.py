"""Golden files: what a thing printed when somebody looked at it and found it right.

`UPDATE_GOLDEN=1` writes them anew (look at the diff before you commit); under CI that is refused.
"""

from __future__ import annotations

import os
from pathlib import Path

from .repository import ROOT

FOLDER = ROOT / "tests" / "golden"


def updating() -> bool:
    """True where golden files are to be written. Raises where a CI server asks for that."""
    if not os.environ.get("UPDATE_GOLDEN"):
        return False
    if os.environ.get("CI"):
        raise AssertionError("golden files are written by people, not by CI: unset UPDATE_GOLDEN")
    return True


def check(name: str, actual: str) -> None:
    """Asserts that `tests/golden/NAME` holds exactly this text."""
    path = FOLDER / name
    if updating():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(actual.encode("utf-8"))
        return
    assert path.is_file(), f"{path.relative_to(ROOT)} is missing: UPDATE_GOLDEN=1 writes it"
    assert expected(path) == actual, (
        f"{path.relative_to(ROOT)} differs: look, then write it with UPDATE_GOLDEN=1"
    )


def expected(path: Path) -> str:
    """The golden text, line ends as they are."""
    return path.read_bytes().decode("utf-8")
