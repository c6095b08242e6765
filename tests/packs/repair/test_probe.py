"""Edits that are tried in memory: what is seen of each, in real processes; nothing of it stays on the disk."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from fdc_packs.repair import weighing
from fdc_packs.repair.tools import repair_copy, repair_probe

from tests.support.background import PATIENCE

CODE = """\
def limit(x, most):
    return x if x < most else x


def twice(x=1):
    return x + x


TABLE = [twice(n) for n in range(3)]
"""
TESTS = """\
from code_under import TABLE, limit, twice

def test_high(): assert limit(9, 3) == 3
def test_low(): assert limit(1, 3) == 1
def test_twice(): assert twice(2) == 4
def test_table(): assert TABLE == [0, 2, 4]
"""
UNIT = """\
import unittest
from code_under import TABLE, limit, twice

class T(unittest.TestCase):
    def test_high(self): self.assertEqual(limit(9, 3), 3)
    def test_low(self): self.assertEqual(limit(1, 3), 1)
    def test_table(self): self.assertEqual(TABLE, [0, 2, 4])

unittest.main()
"""
PYTHON = shlex.quote(sys.executable)
PYTEST = f"PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 {PYTHON} -m pytest -q -p no:cacheprovider test_code.py"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy, whose commands run without a sandbox."""

    def plainly(
        argv: list[str], context: Any, place: str, environment: dict[str, str] | None = None
    ) -> Any:
        env = {**os.environ, "PYTHONPATH": place, **(environment or {})}
        done = subprocess.run(
            argv, cwd=place, env=env, capture_output=True, timeout=PATIENCE, check=False
        )
        return SimpleNamespace(exit_code=done.returncode, output=done.stdout)

    monkeypatch.setattr(repair_copy, "run_in_copy", plainly)
    files = {"code_under": CODE, "test_code": TESTS, "unit": UNIT, "plugin": "import code_under"}
    for name, text in files.items():
        (tmp_path / f"{name}.py").write_text(text, "utf-8")
    return tmp_path


def edit(key: str, old: str, new: str) -> dict[str, Any]:
    at = CODE.index(old)
    return {"key": key, "path": "code_under.py", "pieces": [[at, at + len(old), new]]}


EDITS = [
    edit("useless", "x < most", "x <= most"), edit("harmful", "most else x", "most else most - most"),
    edit("endless", "return x if", "\n    while True: pass\n    return x if"), edit("header", "x=1", "x=2"),
    edit("right", "most else x", "most else most"),
]  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize("command", [PYTEST, f"{PYTEST} -p plugin", f"{PYTHON} unit.py"])
def test_an_edit_that_helps_is_told_from_those_that_do_not(folder: Path, command: str) -> None:
    """Before and after the tests are collected, and where pytest itself imports what is edited; an edit that never ends is
    stopped; the file is as it was."""
    found = repair_probe.probe(command, None, str(folder), EDITS)  # type: ignore[arg-type]
    seen = {
        key: said for key, said in found["verdicts"].items() if key != "header"
    }  # under pytest it comes after the others
    assert {"useless": "fails", "harmful": "fails", "endless": "fails", "right": "passes"} == seen
    assert ("pytest" in command) == (found["changes"].get("right", [0, 0])[1] > 0), "measured"
    assert (
        CODE == (folder / "code_under.py").read_text("utf-8")
        and not (folder / repair_probe.HIDDEN).exists()
    )


@pytest.mark.long
def test_several_edits_that_pass_are_all_seen_and_said(folder: Path) -> None:
    """The most credible one is taken; that the tests do not tell it from the others is said (issue 6: honest)."""
    (folder / "far.py").write_text("def far():\n    return 0\n", "utf-8")
    (folder / "test_code.py").write_text(f"import far\n{TESTS}", "utf-8")
    edits = [
        edit("right", "most else x", "most else most"),
        *(
            {"key": f"far{n}", "path": "far.py", "pieces": [[22, 23, str(n)]]}
            for n in range(1, 120)
        ),
        edit("wrong", "x if x < most else x", "{(9, 3): 3, (1, 3): 1}.get((x, most))"),
        EDITS[0],
    ]
    found = repair_probe.probe(PYTEST, None, str(folder), edits)  # type: ignore[arg-type]
    near = {"right": "passes", "wrong": "passes", "useless": "fails"}
    assert near.items() <= found["verdicts"].items(), (
        "of the same characters, so tried before the others"
    )
    assert len(found["verdicts"]) < len(edits)
    right, wrong = (found["changes"][key] for key in ("right", "wrong"))
    assert 0 < right[0] < wrong[0] <= wrong[1] == right[1]  # over generated inputs it changes less
    rows = [
        {"key": key, "confidence": worth, "risky": False, "mends": False}
        for key, worth in (("wrong", 0.9), ("right", 0.1))
    ]
    assert ["right", "wrong"] == [row["key"] for row in weighing.weighed(rows, found)]
    assert "2 different small edits pass" in weighing.remarks(found)[0] and [] == weighing.remarks(
        {"verdicts": {"a": "passes"}}
    )


def test_an_edit_that_passes_because_it_cannot_run_is_shown_and_not_applied(folder: Path) -> None:
    """A test expects TypeError: the edited line raises one by accident, instead of the one that the code says."""
    code = (
        "def given(x):\n    if x < 0:\n        raise TypeError('below %d' % x[0])\n    return x\n"
    )
    broken = code.replace("x[0]", "(0 / 0)")
    (folder / "code_under.py").write_text(broken, "utf-8")
    (folder / "test_under.py").write_text(
        "import code_under, pytest\n\ndef test_below():\n"
        "    with pytest.raises(TypeError):\n        code_under.given(-1)\n",
        "utf-8",
    )
    at = broken.index("(0 / 0)")
    edits = [
        {"key": key, "path": "code_under.py", "pieces": [[at, at + 7, new]], "risky": False}
        for key, new in (("crash", "x[0]"), ("right", "x"), ("other", "-x"))
    ]
    found = repair_probe.probe(PYTEST.replace("test_code", "test_under"), None, str(folder), edits)  # type: ignore[arg-type]
    assert dict.fromkeys(("crash", "right", "other"), "passes") == found["verdicts"]
    assert [True, False] == [found["changes"][key][3] for key in ("crash", "right")]
    right, other = (found["changes"][key] for key in ("right", "other"))
    assert right[:2] == other[:2] and right[2] != other[2], "the words of its own `raise` count"
    rows = [
        {"risky": False, "mends": False, "change": one, "before": 0.5} for one in (right, other)
    ]
    assert not weighing.told_apart(rows)
    rows = [
        {"key": key, "confidence": 0.5, "risky": False, "mends": False} for key in found["verdicts"]
    ]
    assert ["right", "other", "crash"] == [row["key"] for row in weighing.weighed(rows, found)]


@pytest.mark.long
@pytest.mark.parametrize(
    ("made", "taken", "wrong", "right"),
    [("set", "[0]", "set", "list"), ("list", "[2]", "[2]", "[0]")],
    ids=["a type error", "an index error"],
)
def test_an_edit_after_which_no_test_gets_to_what_failed_comes_last(
    folder: Path, made: str, taken: str, wrong: str, right: str
) -> None:
    """`xs = set(xs)` lets `xs[0]` fail, and so does `xs[2]` of a list of one; with another number before it the line is
    never run, and all tests pass."""
    code = f"def only(xs):\n    xs = {made}(xs)\n    if len(xs) == 1:\n        return xs{taken}\n    return tuple(sorted(xs))\n"
    (folder / "code_under.py").write_text(code, "utf-8")
    (folder / "test_code.py").write_text(
        "from code_under import only\n\ndef test_two():\n    assert only('ba') == ('a', 'b')\n\n"
        "def test_one():\n    assert only('a') in ('a', ('a',))\n",
        "utf-8",
    )
    edits = [
        {"key": new, "path": "code_under.py", "pieces": [[code.index(old), code.index(old) + len(old), new]]}
        for old, new in (("1:", "5:"), (wrong, right))
    ]  # fmt: skip
    found = repair_probe.probe(PYTEST, None, str(folder), edits)  # type: ignore[arg-type]
    assert {"5:": "passes", right: "passes"} == found["verdicts"]
    assert [True, False] == [found["changes"][key][4] for key in ("5:", right)]
    rows = [
        {"key": key, "confidence": worth, "risky": False, "mends": False, "score": worth}
        for key, worth in (("5:", 0.3), (right, 0.2))
    ]
    ordered = weighing.weighed(rows, found)
    assert right == ordered[0]["key"] and weighing.told_apart(ordered)


@pytest.mark.long
def test_fewer_failures_are_told_from_none(folder: Path) -> None:
    """What ran while the tests were imported is edited before they are."""
    broken = CODE.replace("x + x", "x * x + 1")
    (folder / "code_under.py").write_text(broken, "utf-8")
    at = broken.index("x * x + 1")
    pieces = {"right": "x + x", "other": "4"}
    edits = [
        {"key": key, "path": "code_under.py", "pieces": [[at, at + 9, new]]}
        for key, new in reversed(pieces.items())
    ]
    found = repair_probe.probe(PYTEST, None, str(folder), edits)  # type: ignore[arg-type]
    assert {"other": "helps", "right": "helps"} == found["verdicts"], "test_high fails with either"


@pytest.mark.long
def test_of_many_edits_of_code_that_ran_while_it_was_imported_the_right_one_is_found(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each needs an import of its own, and few can have one: those go first that pass with the module run once more."""
    monkeypatch.setattr(repair_probe, "SLOW", 2)
    broken = CODE.replace("x + x", "x * x + 1").replace("(x, most):", "(x, most, table=[]):")
    (folder / "code_under.py").write_text(broken, "utf-8")
    (folder / "test_code.py").write_text(
        TESTS.replace("limit(9, 3) == 3", "limit(9, 3) == 9"), "utf-8"
    )
    at = broken.index("x * x + 1")
    texts = [*(f"x * x + {number}" for number in range(2, 40)), "x + x", "2 * x + 1"]
    edits = [
        {"key": text, "path": "code_under.py", "pieces": [[at, at + 9, text]]} for text in texts
    ]
    found = repair_probe.probe(PYTEST, None, str(folder), edits)  # type: ignore[arg-type]
    assert "passes" == found["verdicts"].get("x + x") and len(found["verdicts"]) <= 2
    assert found["changes"]["x + x"][1] > 0, "how much it changes is measured as for any other"


@pytest.mark.parametrize("command", ["exit 1", f"{PYTHON} -c 'raise SystemExit(2)'", "true"])
def test_a_command_that_runs_none_of_the_files_says_nothing(folder: Path, command: str) -> None:
    found = repair_probe.probe(command, None, str(folder), EDITS[:1])  # type: ignore[arg-type]
    assert ({}, 0) == (found["verdicts"], found["tried"]) and "could be forked" in found["why"]


def _passing(
    key: str, differ: int, every: int, outcomes: str = "", risky: bool = False, **more: float
) -> dict[str, Any]:
    change = [differ, every, outcomes, more.get("crashes", False), more.get("hides", False)]
    row = {"key": key, "risky": risky, "mends": more.get("mends", False), "change": change}
    return {**row, "before": more.get("before", 1.0)}


@pytest.mark.parametrize(
    ("rows", "decided"),
    [
        ([_passing("a", 1, 10, "x"), _passing("b", 5, 10, "y")], True),
        ([_passing("a", 5, 10, "x"), _passing("b", 5, 10, "y")], False),  # as many, and others
        ([_passing("a", 5, 10, "x", before=3.0), _passing("b", 5, 10, "y")], True),  # and likelier
        ([_passing("a", 5, 10, "x"), _passing("b", 5, 10, "x")], True),  # the same behaviour
        ([_passing("a", 5, 10, "x"), _passing("b", 0, 0)], False),  # one of them is not measured
        (
            [_passing("a", 0, 0), _passing("b", 0, 0)],
            True,
        ),  # nothing can be measured, and that is said
        ([_passing("a", 0, 0, "x"), _passing("b", 0, 0, "x")], False),  # it was tried in vain
        (
            [_passing("a", 9, 10, "x"), _passing("b", 1, 10, "y", risky=True)],
            True,
        ),  # a negation does not compete
        (
            [_passing("a", 1, 10, "x"), _passing("b", 9, 10, "y", risky=True, before=3.0)],
            False,
        ),  # unless it was much likelier
        ([_passing("a", 1, 10, "x", risky=True), _passing("b", 5, 10, "y", risky=True)], False),
        ([_passing("a", 1, 10, "x", risky=True)], True),
        ([_passing("a", 0, 0, risky=True), _passing("b", 0, 0, risky=True)], False),
        ([_passing("a", 5, 10, "x", mends=True), _passing("b", 5, 10, "y")], True),
        ([_passing("a", 1, 10, "x", crashes=True)], False),  # the edited code itself cannot run
        ([_passing("a", 1, 10, "x", hides=True)], True),
        ([_passing("a", 1, 10, "x", hides=True), _passing("b", 1, 10, "x", hides=True)], False),
        ([_passing("a", 9, 10, "x"), _passing("b", 1, 10, "y", hides=True)], True),
        ([_passing("a", 52, 100, "x", before=4.0), _passing("b", 50, 100, "y")], True),
        ([_passing("a", 52, 100, "x", before=2.0), _passing("b", 50, 100, "y")], False),
        ([_passing("a", 70, 100, "x", before=8.0), _passing("b", 50, 100, "y")], False),
        ([_passing("a", 9, 96, "x", before=0.2), _passing("b", 16, 96, "y", before=0.5)], False),
        ([_passing("a", 9, 96, "x"), _passing("b", 16, 96, "y", before=0.25)], True),
    ],
)
def test_a_choice_is_made_by_what_changes_least_or_not_at_all(
    rows: list[dict[str, Any]], decided: bool
) -> None:
    """Issue 14: the edit that changes least behaviour wins, or the choice is shown and not applied."""
    assert decided == weighing.told_apart(rows)


@pytest.mark.parametrize(("worth", "decided"), [(0.02, True), (0.008, False)])
def test_a_far_fetched_edit_is_shown_and_not_applied(worth: float, decided: bool) -> None:
    """It alone passes; but hundreds are worth as little, and the likely ones were not what is wrong, or were not made."""
    found = [
        {"key": key, "confidence": score, "score": score, "risky": False, "mends": mends}
        for key, score, mends in (("likely", 1.0, False), ("far", worth, False), ("lost", worth, True))
    ]  # fmt: skip
    for key, trusted in (("far", decided), ("lost", True)):
        ordered = weighing.weighed(found, {"verdicts": {key: "passes"}, "changes": {}})
        passing = [row for row in ordered if row.get("probe") == "passes"]
        assert [key] == [row["key"] for row in passing]
        assert trusted == weighing.told_apart(passing)
        assert ("far-fetched" in weighing.why_undecided(passing)) is (worth < 0.01)


@pytest.mark.parametrize(
    ("worth", "likelier", "decided"),
    [(0.1, 600, False), (0.1, 400, True), (0.9, 600, True), (0.3, 600, True)],
)
def test_an_edit_that_hundreds_of_likelier_ones_precede_is_shown_and_not_applied(
    worth: float, likelier: int, decided: bool
) -> None:
    """`ANY = iscoroutinefunction("ANY")` was tried as one of 1,800 and passed, since `False == 0`."""
    worths = {f"name-{number}": 0.4 for number in range(likelier)} | {"callee-1": worth}
    worths |= {f"wrapped-{number}": 0.02 for number in range(500)}
    found = [
        {"key": key, "confidence": score, "score": score, "risky": False, "mends": False}
        for key, score in worths.items()
    ]
    ordered = weighing.weighed(found, {"verdicts": {"callee-1": "passes"}, "changes": {}})  # type: ignore[arg-type, typeddict-item]
    assert decided == weighing.told_apart([row for row in ordered if "probe" in row])


def test_half_a_repair_that_changes_less_does_not_win() -> None:
    """`len(xs) >= 2` for `== 2`: with `>= 4` all tests of up to three pass as well, and fewer results change."""
    rows = [
        {**_passing(new, differ, 96, kind, before=before), "confidence": before, "score": before}
        for new, differ, kind, before in (
            (">= 4", 9, "half", 0.14), ("<= 2", 16, "whole", 0.55), ("== 2", 16, "whole", 0.2), ("< 2", 16, "whole", 0.15),
        )
    ]  # fmt: skip
    probed = {
        "verdicts": {row["key"]: "passes" for row in rows},
        "changes": {row["key"]: row["change"] for row in rows},
    }
    ordered = weighing.weighed(rows, probed)
    assert ">= 4" == ordered[-1]["key"] and weighing.told_apart(ordered)
    assert not weighing.told_apart([rows[0], rows[2]])


def test_an_edit_that_others_only_elaborate_is_taken() -> None:
    """`return x`, where `return int(x)` and `return x or None` pass as well: no test asks for more."""
    diff = "--- a/f.py\n+++ b/f.py\n@@ -{0} +{0} @@\n-pass\n+{1}\n"
    texts = {"return x": True, "return int(x)": True, "return x or None": True, "return y": False}
    for text, decided in texts.items():
        rows = [
            _passing(new, 9, 9, new) | {"diff": diff.format(1, new)} for new in ("return x", text)
        ]
        assert decided == weighing.told_apart(rows)
        rows[1]["before"] = 1.1
        assert (text == "return x") == weighing.told_apart(rows)
    assert not weighing.told_apart([rows[0], {**rows[1], "diff": diff.format(2, "return int(x)")}])


def _weighed(*rows: dict[str, Any]) -> list[Any]:
    """Candidates that pass, weighed; `worth` is what they were worth."""
    found = [{**row, "confidence": row["before"], "score": row["before"]} for row in rows]
    probed: Any = {
        "verdicts": {row["key"]: "passes" for row in rows},
        "changes": {row["key"]: row["change"] for row in rows},
    }
    return weighing.weighed(found, probed)  # type: ignore[arg-type]


TURNED = {**_passing("negation-1", 6, 6, "turned", risky=True, before=0.3), "old": "rows"}


def test_a_condition_is_turned_where_all_that_passes_beside_it_does_the_same() -> None:
    """`if rows` for `if not rows`: `if self` and `if rows or not x` pass as well, since no test has rows."""
    others = [
        {**_passing(key, 6, 6, "turned", before=before), "old": old, "pieces": [[3, 7, new]]}
        for key, before, old, new in (
            ("name-1", 0.1, "rows", "self"), ("narrowed-1", 0.2, "rows", "rows or not x"),
            ("condition-1", 0.4, "rows", "rows is not None"),
        )
    ]  # fmt: skip
    ordered = _weighed(*others, TURNED)
    assert ordered[0]["key"] == "negation-1" and weighing.told_apart(ordered)
    likelier = {**others[0], "key": "name-2", "before": 0.7}
    assert _weighed(*others, likelier, TURNED)[0]["key"] == "name-2"
    other = {**TURNED, "change": [6, 6, "other", False, False]}
    assert _weighed(*others, other)[0]["key"] == "name-1"


def test_a_condition_more_is_trusted_no_more_than_the_same_one_turned_round() -> None:
    """`if x is not None` for `if x is None`: with `and not y`, which holds in no test, all pass as well, and less changes."""
    narrowed = [
        {**_passing(f"narrowed-{number}", 2, 10, "never", before=0.2), "old": "rows"}
        for number in range(3)
    ]
    turned = {**TURNED, "change": [5, 10, "turned", False, False]}
    assert not weighing.told_apart(_weighed(*narrowed, turned))
    assert weighing.told_apart(_weighed(*narrowed))
    elsewhere = {**turned, "old": "other"}
    assert weighing.told_apart(_weighed(*narrowed, {**elsewhere, "before": 0.2}))
    assert not weighing.told_apart(_weighed(*narrowed, {**elsewhere, "before": 0.4}))
    dropped = {**elsewhere, "key": "removed-1", "before": 0.4}
    assert weighing.told_apart(_weighed(*narrowed, dropped))


def test_one_choice_is_shown_for_each_behaviour_the_likeliest_first() -> None:
    rows = _weighed(
        _passing("narrowed-1", 2, 10, "never", before=0.2), _passing("narrowed-2", 2, 10, "never", before=0.1),
        _passing("comparison-1", 5, 10, "turned", risky=True, before=0.4), _passing("name-1", 0, 0, before=0.3),
        _passing("name-2", 0, 0, before=0.3),
    )  # fmt: skip
    shown = [row["key"] for row in weighing.of_each_behaviour(rows)]
    assert shown == ["comparison-1", "name-1", "name-2", "narrowed-1"]


def test_a_far_fetched_edit_that_was_not_tried_in_memory_is_not_tried_at_all() -> None:
    tried = {**_passing("name-1", 0, 0), "probe": "fails", "confidence": 0.1, "score": 0.1}
    blind = [
        {"key": f"callee-{worth}", "confidence": worth, "score": worth} for worth in (0.05, 0.4)
    ]
    assert [row["key"] for row in weighing.credible([tried, *blind])] == ["name-1", "callee-0.4"]  # type: ignore[list-item]


def test_of_edits_that_behave_alike_the_one_that_adds_least_comes_first() -> None:
    """`tuple(sorted(sorted(x)))` and `tuple(sorted(x))` are the same; the second one is what a person writes."""
    rows = [
        {"key": key, "confidence": worth, "risky": False, "mends": False, "pieces": pieces}
        for key, worth, pieces in (
            ("around", 0.9, [[5, 9, "tuple(sort)"]]),
            ("instead", 0.1, [[5, 9, "tuple"]]),
        )
    ]
    for other, first, said in (("x", "instead", 0.0), ("y", "around", 0.0), ("x", "around", 0.5)):
        rows[0]["likelier"] = said  # what the file says elsewhere, and were it longer
        changes = {"around": [3, 9, "x", False], "instead": [3, 9, other, False]}
        probed = {"verdicts": dict.fromkeys(changes, "passes"), "changes": changes}
        assert first == weighing.weighed(rows, probed)[0]["key"]


def test_a_copy_without_settings_of_pytest_ends_its_search(tmp_path: Path) -> None:
    """pytest looks for settings above the copy, where the sandbox lets no one read; settings that are there stay."""
    for name, text, ended in (
        ("setup.cfg", "[metadata]\n", True),
        ("setup.cfg", "[tool:pytest]\n", False),
    ):
        (tmp_path / "pytest.ini").unlink(missing_ok=True)
        (tmp_path / name).write_text(text, "utf-8")
        repair_copy._end_search(str(tmp_path))
        assert ended == (tmp_path / "pytest.ini").exists()


def test_an_argument_that_no_result_depends_on_is_seen(folder: Path) -> None:
    """`limit(9, 3) == 3` and `limit(1, 3) == 1` hold for `min(x, most)`, and for `3 if x > 3 else x`."""
    at = CODE.index("x if x < most else x")
    texts = ("min(x, most)", "3 if x > 3 else x")
    edits = [{"key": text, "path": "code_under.py", "pieces": [[at, at + 20, text]]} for text in texts]  # fmt: skip
    found = repair_probe.probe(PYTEST, None, str(folder), edits)  # type: ignore[arg-type]
    assert dict.fromkeys(texts, "passes") == found["verdicts"]
    ignored = [
        {name.split(":")[2]: one for name, one in found["changes"][text][5].items() if ":" in name[6:] and one}
        for text in texts
    ]  # fmt: skip
    assert [sorted(one) for one in ignored] == [[], ["most"]]


@pytest.mark.long
def test_what_begins_an_object_is_measured_although_it_cannot_show_itself_yet(folder: Path) -> None:
    """`repr` and `copy` of an object in its own `__init__` fail where they need what `__init__` stores."""
    code = (
        "class Box:\n    def __init__(self, size=None):\n        self.size = 1\n        if not size is None:\n"
        "            self.size = size\n        self.held = {}\n\n    def __repr__(self):\n        return repr(self.held)\n\n"
        "    def __getstate__(self):\n        return self.held, self.size\n"
    )
    (folder / "code_under.py").write_text(code.replace("not size", "size"), "utf-8")
    (folder / "test_code.py").write_text(
        "from code_under import Box\n\ndef test_size():\n    assert Box(3).size == 3\n\n"
        "def test_none():\n    assert Box().size == 1\n",
        "utf-8",
    )
    at = code.index("not size is None")
    texts = ("size is not None", "size")
    edits = [
        {"key": text, "path": "code_under.py", "pieces": [[at, at + 12, text]]} for text in texts
    ]
    found = repair_probe.probe(PYTEST, None, str(folder), edits)  # type: ignore[arg-type]
    assert dict.fromkeys(texts, "passes") == found["verdicts"]
    assert all(found["changes"][text][1] > 4 for text in texts)
    assert found["changes"][texts[0]][2] != found["changes"][texts[1]][2]


def test_parameters_in_another_order_get_what_callers_put_there(folder: Path) -> None:
    """`def limit(most, x)`: who calls it gives by place, not by name; so does what is measured."""
    (folder / "test_code.py").write_text(
        "from code_under import limit\n\ndef test_high(): assert limit(9, 3) == 3\n", "utf-8"
    )
    swapped = edit("swapped", "limit(x, most)", "limit(most, x)")
    found = repair_probe.probe(PYTEST, None, str(folder), [swapped])  # type: ignore[arg-type]
    assert "passes" == found["verdicts"]["swapped"] and found["changes"]["swapped"][0] > 0
