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


def test_an_error_that_a_test_wants_is_no_crash_where_the_rest_goes_on(folder: Path) -> None:
    """`f(None)` shall raise AttributeError; before the edit all calls raise TypeError, and now the others answer."""
    code = "def f(x):\n    if isinstance(x):\n        x = x.decode()\n    return x.upper()\n"
    (folder / "code_under.py").write_text(code, "utf-8")
    (folder / "test_code.py").write_text(
        "import pytest\nfrom code_under import f\n\ndef test_text():\n    assert f('a') == 'A'\n\n"
        "def test_none():\n    with pytest.raises(AttributeError):\n        f(None)\n",
        "utf-8",
    )
    at = code.index("):\n        x =")
    edits = [{"key": "bytes", "path": "code_under.py", "pieces": [[at, at, ", bytes"]]}]
    found = repair_probe.probe(PYTEST, None, str(folder), edits)  # type: ignore[arg-type]
    assert {"bytes": "passes"} == found["verdicts"]
    assert not found["changes"]["bytes"][3]


@pytest.mark.long
def test_what_needs_its_module_anew_is_judged_by_doctests_as_well(folder: Path) -> None:
    """pytest imports a file that it takes doctests from in its own way. `super()` needs the class around its function."""
    code = (
        'class A:\n    """\n    >>> A().kept\n    1\n    """\n\n'
        "    def __init__(self):\n        any().__init__()\n        self.kept = 1\n"
    )
    (folder / "code_under.py").write_text(code, "utf-8")
    at = code.index("any()")
    edits = [
        {"key": one, "path": "code_under.py", "pieces": [[at, at + 3, one]]}
        for one in ("super", "dict", "all")
    ]
    command = PYTEST.replace("test_code.py", "--doctest-modules code_under.py")
    found = repair_probe.probe(command, None, str(folder), edits, every=True)  # type: ignore[arg-type]
    assert {"super": "passes", "dict": "passes", "all": "leaves"} == found["verdicts"]


@pytest.mark.long
def test_edits_of_two_functions_are_compared_by_the_inputs_of_both(folder: Path) -> None:
    """What the caller gives is wrong, `plain=True`; that `short` never asks it again does as much, and more."""
    code = (
        "def short(n, plain):\n    if plain:\n        return str(n)\n    return f'{n} of {n}'\n\n\n"
        "def said(n):\n    return short(n, plain=False)\n"
    )
    (folder / "code_under.py").write_text(code, "utf-8")
    (folder / "test_code.py").write_text(
        "from code_under import said, short\n\ndef test_said(): assert said(3) == '3'\n\n"
        "def test_short(): assert short(2, True) == '2'\n",
        "utf-8",
    )
    edits = [
        {"key": new, "path": "code_under.py", "pieces": [[code.index(old), code.index(old) + len(old), new]]}
        for old, new in (("False", "True"), ("plain:", "plain or n:"))
    ]  # fmt: skip
    found = repair_probe.probe(PYTEST, None, str(folder), edits)  # type: ignore[arg-type]
    right, wrong = found["changes"]["True"], found["changes"]["plain or n:"]
    assert right[1] == wrong[1] and right[0] < wrong[0] and right[7] < wrong[7]
    assert set(right[5]) == set(wrong[5])


@pytest.mark.long
def test_an_object_that_the_tests_hold_is_made_anew_with_the_edit(folder: Path) -> None:
    """The right edit is the last of more than are tried anew in a process: in memory it is seen that the others are none."""
    code = (
        "class Zone:\n    def __init__(self, name):\n        self.name = 0\n        self.near = self\n\n"
        "    def said(self):\n        return self.near.name\n\n\nHERE = Zone('here')\n"
    )
    (folder / "code_under.py").write_text(code, "utf-8")
    asked = "from code_under import HERE\n\ndef test_said(): assert HERE.said() == 'here'\n"
    (folder / "test_code.py").write_text(asked, "utf-8")
    at = code.index("0")
    edits = [
        {"key": new, "path": "code_under.py", "pieces": [[at, at + 1, new]]}
        for new in (*map(str, range(1, repair_probe.SLOW + 20)), "name")
    ]
    found = repair_probe.probe(PYTEST, None, str(folder), edits)  # type: ignore[arg-type]
    assert found["verdicts"]["name"] == "passes"


@pytest.mark.long
def test_of_a_member_that_only_other_functions_read_no_effect_is_expected(folder: Path) -> None:
    """Both edits give what the test asks; only what `keep` itself names can be said to have no effect there."""
    code = (
        "class Bag:\n    def __init__(self, n):\n        self.n, self.spare, self.own = n, 7, 3\n\n"
        "    def fill(self):\n        self.spare = self.n\n\n    def renew(self):\n        self.n = 2\n\n"
        "    def keep(self):\n        pass\n        return self.n + self.own - self.own\n"
    )
    (folder / "code_under.py").write_text(code, "utf-8")
    asked = "from code_under import Bag\n\ndef test_keep(): assert Bag(1).keep() == 2\n"
    (folder / "test_code.py").write_text(asked, "utf-8")
    at = code.index("pass")
    edits = [
        {"key": new, "path": "code_under.py", "pieces": [[at, at + 4, new]]}
        for new in ("self.renew()", "self.fill(); self.n = 2")
    ]
    found = repair_probe.probe(PYTEST, None, str(folder), edits)  # type: ignore[arg-type]
    assert dict.fromkeys(("self.renew()", "self.fill(); self.n = 2"), "passes") == found["verdicts"]
    for row in found["changes"].values():
        assert {name.partition("self.")[2] for name in row[5] if "self." in name} == {"n", "own"}
