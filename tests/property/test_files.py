"""The analyses of files and of names against brute force, on generated plan sets (FDC-19 to FDC-22, FDC-32)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from fdc_toolchain.check import Checked, check
from fdc_toolchain.linking.link import Linker
from fdc_toolchain.linking.project.files import Files
from fdc_toolchain.linking.project.settings import Settings
from fdc_toolchain.rules import files as rule

from tests.support.filesets import AUTOMATON, CATALOGUE, FileSet, file_set
from tests.support.filewalks import TooMany, failures, told_of, unbound, unsaid
from tests.support.profiles import share

SETS = share(400)
UNBOUND_SETS = share(500)


class World(Files):
    """The files of a set, where the generator put them."""

    def __init__(self, made: FileSet) -> None:
        super().__init__("/nonexistent")
        self.seen |= made.files | {"fdc_tools.json": CATALOGUE, "any.json": AUTOMATON}
        self.there = made.there

    def exists(self, path: str) -> bool:
        return path in self.there


def checked(made: FileSet) -> Checked:
    return check(Linker("/nonexistent", Settings(), World(made)), ["p0.plan"])


def compare(sets: Iterable[tuple[str, FileSet]]) -> Counter[str]:
    """Holds the analysis to brute force; returns how many sets were compared, accepted, refused, and so on.

    Every step that fails in a run of some world is an error of the plan, or an assumption of the proof is false in
    that world. Where all runs in all worlds were walked, every error is one that some run makes.
    """
    count: Counter[str] = Counter()
    for name, made in sets:
        try:
            found, whole = failures(made)
        except TooMany:
            continue
        result = checked(made)
        text = "".join(f"-- {key}\n{data.decode()}" for key, data in made.files.items())
        text = f"{name}, there: {sorted(made.there)}\n{text}"
        findings = list(rule.check(result.context))
        errors, told = told_of(findings)
        failed = unsaid(found, findings)
        assert failed is None, f"{failed}\nerrors: {errors}\nassumed: {told}\n{text}"
        refused = any(item.code in ("FDC411", "FDC412", "FDC413") for item in result.diagnostics)
        count["compared"] += 1
        count["refused" if refused else "accepted"] += 1
        count["assuming"] += bool(told) and not refused
        count["failing"] += bool(found)
        if whole:
            count["walked whole"] += 1
            count["refused without a run"] += not errors <= {item[:4] for item in found}
    return count


def test_no_run_in_any_world_uses_a_file_that_is_not_there_unless_an_assumption_is_false():
    """Paths are languages: globs that meet literals, items that repeat, commands that may write some files only."""
    count = compare((f"rich {seed}", file_set(seed, rich=True)) for seed in range(SETS))
    assert count["compared"] >= share(200)
    assert (
        min(count["accepted"], count["refused"], count["assuming"], count["failing"])
        > count["compared"] // 20
    ), count
    assert count["refused without a run"] <= count["walked whole"] // 8, count


def test_the_steps_that_fail_in_some_run_are_those_of_brute_force():
    """With values that no glob gives (FDC-19 to FDC-22, FDC-32)."""
    count = compare((f"plain {seed}", file_set(seed)) for seed in range(SETS))
    assert count["compared"] >= share(200)
    assert min(count["accepted"], count["refused"]) > count["compared"] // 10, count
    assert count["refused without a run"] <= count["walked whole"] // 8, count


def test_the_steps_that_fail_after_branches_that_stopped_are_those_of_brute_force():
    """LGTM-38: what a branch creates may not be there afterwards, and what it removes in the end may still be."""
    sets = ((f"kept {seed}", file_set(seed, kept=True, rich=seed % 2 == 0)) for seed in range(SETS))
    count = compare(
        (name, made)
        for name, made in sets
        if any(b"keep failures" in data for data in made.files.values())
    )
    assert count["compared"] >= share(80)
    assert min(count["accepted"], count["refused"]) > count["compared"] // 10, count


def test_the_uses_of_names_that_some_run_leaves_unbound_are_those_of_brute_force():
    compared = wrong = 0
    for seed in range(UNBOUND_SETS):
        made = file_set(seed)
        result = checked(made)
        for key in result.context.linker.units:
            number = int(key[1])
            try:
                expected = unbound(made, number)
            except TooMany:
                continue
            actual = {
                d.span.line
                for d in result.diagnostics
                if d.code in ("FDC311", "FDC312") and d.span.path == key
            }
            assert actual == expected, f"seed {seed}, {key}\n{made.files[key].decode()}"
            compared += 1
            wrong += bool(expected)
    assert compared >= share(500)
    assert compared // 20 < wrong < compared - compared // 20
