"""Mutants are what they say, and a mutant meets the tests that may find it (`benchmarks.mutants`)."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import mutants, mutants_run, mutants_tests

NAMES = mutants.PACKAGE / "rules" / "names.py"


def test_what_the_mutants_leave_uncounted_is_there_and_what_a_mutant_may_break_has_tests() -> None:
    assert mutants.stale() == []
    some = {
        "tests/unit/test_file_rule.py",
        "tests/spec/test_rules.py",
        "tests/property/test_verdicts.py",
    }
    assert some <= {*mutants.test_files()}


def test_a_mutant_meets_golden_files_first_and_then_what_is_quickest() -> None:
    golden = "tests/golden/test_situations.py::t[a]"
    seconds = {"b": 2.0, "a": 1.0, golden: 5.0, "slow": 40.0, "elsewhere": 0.1}
    notes = mutants.Notes(seconds, {7: {"", "a", "b", golden, "slow"}, 8: {"b"}})
    assert notes.tests(7) == [golden, "a", "b"]
    assert notes.early(7) and not notes.early(8)


def test_a_file_notes_which_statements_of_mutants_are_executed() -> None:
    path = mutants.PACKAGE / "rules" / "solver" / "rounds.py"
    made = [one for site in mutants.sites(path) if (one := mutants.planted(*site))]
    text = mutants.probed(path, dict(enumerate(made)))
    hits: set[int] = set()
    scope: dict[str, object] = {"__name__": "rounds"}
    exec(compile(text, "rounds.py", "exec"), scope)
    scope["_hit"] = hits.add
    states_after = scope["states_after"]
    assert callable(states_after) and states_after(0, 1, 0, lambda mask: mask) == 1
    seen = {made[number].lines.start for number in hits}
    (guarded,) = (
        one for one in made if one.what.startswith("left out: left -= 1") and one.lines.start < 30
    )
    assert seen and guarded.lines.start not in seen  # no round was made


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("def f(a=1):\n    return a + 1\n", ["f"]),
        ("def f(a=2):\n    return a\n", None),
        ("def f(a=1):\n    return a\nB = 1\n", None),
        ("def f(a=1):\n    return a\n", []),
    ],
)
def test_what_only_functions_of_a_mutant_do_is_put_into_a_process_that_imported_them(
    text: str, names: list[str] | None
) -> None:
    plain = compile("def f(a=1):\n    return a\n", "x.py", "exec")
    found = mutants_tests.differing(plain, compile(text, "x.py", "exec"))
    assert (None if found is None else [old.co_name for old, _ in found]) == names


@pytest.mark.long
def test_a_planted_mistake_is_found_in_a_fork_and_where_all_is_imported_anew(
    tmp_path: Path,
) -> None:
    plain = mutants.plain(NAMES)
    tests = {
        f"tests/unit/test_names.py::{name}": 1.0
        for name in (
            "test_a_name_that_is_misspelt_is_met_with_the_one_that_was_meant",
            "test_a_text_that_only_looks_like_a_name_is_repaired_safely",
        )
    }
    there = mutants_run.Checkout(tmp_path, {NAMES: plain}, ["tests/unit/test_names.py"])
    try:
        assert there.run(NAMES, plain, plain, tests, early=False) == ""
        for old, new in (
            ("return did_you_mean(name", "return str(name"),
            ("_SUGGESTED = 50", "_SUGGESTED = 0"),
        ):
            assert old in plain
            assert there.run(NAMES, plain, plain.replace(old, new), tests, early=False) in tests
        assert (there.forked, there.anew) == (2, 1)
    finally:
        there.close()


def test_the_page_of_mutants_says_how_many_the_time_allowed() -> None:
    one = mutants.Outcome(mutants.sample(1, 1)[0], "a test", 1.0, 1)
    assert "1 small changes in the analyses, drawn with seed 1: 1 are" in mutants.page(
        [one], 1, 60, 1
    )
    assert "1 of 3, after which the time was up, small changes" in mutants.page([one], 1, 60, 3)


def test_a_mutant_is_one_change_and_knows_the_lines_of_its_statement() -> None:
    path = mutants.PACKAGE / "rules" / "solver" / "files" / "log.py"
    made = [mutants.planted(*site) for site in mutants.sites(path)]
    assert len({one.text for one in made if one}) == len(made)
    plain = mutants.plain(path).split("\n")
    for one in made:
        assert one and one.lines and one.text != mutants.plain(path)
        changed = {
            at
            for at, (old, new) in enumerate(zip(plain, one.text.split("\n"), strict=True), 1)
            if old != new
        }
        assert changed and changed <= {*one.lines}, one.what
