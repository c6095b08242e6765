"""The analyses of files and of names against brute force, on generated plan sets (FDC-19 to FDC-22, FDC-32)."""

from __future__ import annotations

from fdc_toolchain.analyses import files as rule
from fdc_toolchain.check import Checked, check
from fdc_toolchain.resolve.files import Files
from fdc_toolchain.resolve.link import Linker
from fdc_toolchain.resolve.settings import Settings

from tests.support.filesets import AUTOMATON, CATALOGUE, FileSet, TooMany, failures, file_set, unbound

KEPT_SETS = 450
SETS = 1500
"""At least 1,000 of them are small enough to walk; the tests count."""


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


def test_the_steps_that_fail_in_some_run_are_those_of_brute_force():
    """Exactly: the line in the judged plan, and the step that it leads to (FDC-19 to FDC-22, FDC-32)."""
    compared, wrong = compare([file_set(seed) for seed in range(SETS)])
    assert compared >= 1000
    assert compared // 10 < wrong < compared - compared // 10, "the generator must make both good and bad plans"


def test_the_steps_that_fail_after_branches_that_stopped_are_those_of_brute_force():
    """LGTM-38: what a branch creates may not be there afterwards, and what it removes in the end may still be."""
    sets = [file_set(seed, kept=True) for seed in range(KEPT_SETS)]
    compared, wrong = compare([made for made in sets if any(b"keep failures" in data for data in made.files.values())])
    assert compared >= 120
    assert compared // 10 < wrong < compared - compared // 10, "the generator must make both good and bad plans"


def compare(sets: list[FileSet]) -> tuple[int, int]:
    """How many sets were compared with brute force, and in how many of them a step fails."""
    compared = wrong = 0
    for seed, made in enumerate(sets):
        try:
            expected = failures(made)
        except TooMany:
            continue
        result = checked(made)
        actual = set()
        for item in rule.check(result.context):
            step = item.labels[0].span if item.labels else item.span
            assert item.span.path == "p0.plan"
            actual.add((item.span.line, step.path, step.line, item.code))
        text = "".join(f"-- {name}\n{data.decode()}" for name, data in made.files.items())
        assert actual == expected, f"seed {seed}, there: {sorted(made.there)}\n{text}"
        shown = {(d.span.line, d.code) for d in result.diagnostics if d.code in ("FDC411", "FDC412", "FDC414")}
        assert shown == {(item[0], item[3]) for item in expected}, f"seed {seed}"
        compared += 1
        wrong += bool(expected)
    return compared, wrong


def test_the_uses_of_names_that_some_run_leaves_unbound_are_those_of_brute_force():
    compared = wrong = 0
    for seed in range(SETS // 3):
        made = file_set(seed)
        result = checked(made)
        for key in result.context.linker.units:
            number = int(key[1])
            try:
                expected = unbound(made, number)
            except TooMany:
                continue
            actual = {d.span.line for d in result.diagnostics if d.code in ("FDC311", "FDC312") and d.span.path == key}
            assert actual == expected, f"seed {seed}, {key}\n{made.files[key].decode()}"
            compared += 1
            wrong += bool(expected)
    assert compared >= 500
    assert compared // 20 < wrong < compared - compared // 20
