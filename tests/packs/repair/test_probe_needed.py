"""Which tests run again with an edit that is tried in memory: those that the edit can change, and no others."""

from __future__ import annotations

from pathlib import Path

import pytest
from fdc_packs.repair.tools import repair_probe

from .test_probe import PYTEST, TESTS, edit, folder

__all__ = ["folder"]
LOGGED = """\
import os, subprocess, sys
import pytest

def note(name):
    with open("ran", "a") as out: out.write(f"{os.environ.get('FDC_PROBE_EDIT')} {name}\\n")

"""
APART = "def test_apart():\n    note('apart'); assert twice(3) == 6\n"
FIXTURE = "@pytest.fixture(scope='module', autouse=True)\ndef made(): return limit(0, 1)\n"
OUTSIDE = "def test_outside(): subprocess.run([sys.executable, '-c', 'import code_under'])\n"
RIGHT = edit("right", "most else x", "most else most")


@pytest.mark.long
@pytest.mark.parametrize(
    ("more", "again"), [("", False), (FIXTURE, True), (OUTSIDE, True)], ids=["", "fixture", "outside"]
)  # fmt: skip
def test_a_test_that_does_not_run_what_is_edited_does_not_run_again(
    folder: Path, more: str, again: bool
) -> None:
    """But it does where a fixture ran it for all, or another process could have."""
    (folder / "test_code.py").write_text(LOGGED + TESTS + APART + more, "utf-8")
    found = repair_probe.probe(PYTEST, None, str(folder), [RIGHT])  # type: ignore[arg-type]
    assert {"right": "passes"} == found["verdicts"]
    ran = (folder / "ran").read_text("utf-8").split("\n")
    assert "-1 apart" in ran and again == ("0 apart" in ran)


@pytest.mark.long
def test_an_edit_breaks_a_test_of_a_command_that_passes_without_it(folder: Path) -> None:
    """As doctests do that the fault does not touch: of edits that pass the command, it tells who breaks one."""
    (folder / "test_code.py").write_text(TESTS.replace("limit(9, 3) == 3", "limit(2, 3) == 2"))
    edits = [RIGHT, edit("wrong", "return x if x", "return 0 if x")]
    found = repair_probe.probe(PYTEST, None, str(folder), edits, every=True)  # type: ignore[arg-type]
    assert {"right": "passes", "wrong": "breaks"} == found["verdicts"]


@pytest.mark.long
def test_a_test_of_very_many_calls_may_run_all_and_runs_again(folder: Path) -> None:
    """What it runs is taken down for a time only, as that takes longer than the test; the next one is taken down whole."""
    busy = "def test_busy():\n    note('busy')\n    for _ in range(600_000): len('')\n    assert limit(0, 1) == 0\n"
    (folder / "test_code.py").write_text(LOGGED + busy + TESTS + APART, "utf-8")
    wrong = edit("wrong", "return x if x", "return (x or 7) if x")
    found = repair_probe.probe(PYTEST, None, str(folder), [wrong, RIGHT])  # type: ignore[arg-type]
    assert "passes" == found["verdicts"]["right"] and "passes" != found["verdicts"]["wrong"]
    ran = (folder / "ran").read_text("utf-8").split("\n")
    assert "1 busy" in ran and "1 apart" not in ran


@pytest.mark.long
def test_texts_of_other_kinds_tell_functions_of_texts_apart(folder: Path) -> None:
    """With the text of the test alone, all of these give the same."""
    code = "def limit(text):\n    text = len(text)\n    return text + '!'\n"
    (folder / "code_under.py").write_text(code, "utf-8")
    asked = "from code_under import limit\n\n\ndef test_one():\n    assert limit('ab1') == 'ab1!'\n"
    (folder / "test_code.py").write_text(asked, "utf-8")
    at = code.index("len(text)")
    said = [
        "text.lower()",
        "text.replace('_', '')",
        "text.replace(' ', '')",
        "text.encode('ascii', 'ignore').decode()",
    ]
    edits = [
        {"key": new, "path": "code_under.py", "pieces": [[at, at + len("len(text)"), new]]}
        for new in said
    ]
    found = repair_probe.probe(PYTEST, None, str(folder), edits)  # type: ignore[arg-type]
    assert found["verdicts"] == dict.fromkeys(said, "passes")
    assert len({row[2] for row in found["changes"].values()}) == len(said)


@pytest.mark.long
def test_what_a_dictionary_or_an_object_holds_is_exchanged(folder: Path) -> None:
    """With what the test gives, the keys are the values; of an object, what it holds is."""
    code = "def limit(d, loop=None, away=None):\n    return len(d)\n"
    (folder / "code_under.py").write_text(code, "utf-8")
    said = ["list(d.keys())", "list(d.values())"]
    edits = [
        {"key": new, "path": "code_under.py", "pieces": [[code.index("len(d)"), code.index("len(d)") + 6, new]]}
        for new in said
    ]  # fmt: skip
    held = "class Held:\n    def __init__(self, d):\n        self.d = d\n"
    held += "    def keys(self): return self.d.keys()\n    def values(self): return self.d.values()\n\n\n"
    held += "class Away:\n    __dict__ = property(lambda self: 1 / 0)\n    def __deepcopy__(self, _): return self\n\n\n"
    held += "loop = {1: 1, 2: 2}\n"
    held += "loop[3] = loop\n\n\n"
    for given in ("{1: 1, 2: 2}", "Held({1: 1, 2: 2})", "{1: 1, 2: 2}, loop, Away()"):
        asked = f"from code_under import limit\n\n\n{held}def test_one():\n    assert limit({given}) == [1, 2]\n"
        (folder / "test_code.py").write_text(asked, "utf-8")
        found = repair_probe.probe(PYTEST, None, str(folder), edits)  # type: ignore[arg-type]
        assert found["verdicts"] == dict.fromkeys(said, "passes")
        assert len({row[2] for row in found["changes"].values()}) == 2
