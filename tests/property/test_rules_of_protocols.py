"""Rules of protocols against brute force, on generated plan sets with calls, loops, branches, gates and forks (FDC-64).

A set that the linter accepts has no run that breaks its rule, ever. One that it says a run breaks has such a run;
where no one can know before the plan runs, it says that (FDC463).
"""

from __future__ import annotations

import re
from collections import Counter

import pytest
from fdc_toolchain.check import Checked, check
from fdc_toolchain.linking.link import Linker
from fdc_toolchain.linking.project.settings import Settings

from tests.support import rulesets
from tests.support.linting import World
from tests.support.profiles import quick_and_whole, share

pytestmark = pytest.mark.slow


def linted(made: rulesets.RuleSet) -> tuple[str, Checked]:
    checked = check(Linker("/nonexistent", Settings(), World(made.files)), ["p0.plan"])
    codes = {item.code for item in checked.diagnostics}
    assert not codes & {"FDC462", "FDC501"}
    return (
        "violated" if "FDC461" in codes else "unproved" if "FDC463" in codes else "holds",
        checked,
    )


def compared(sets: int, *, same: bool, forks: bool = False, kept: bool = False) -> Counter[str]:
    """The verdicts, each compared with what all runs do; `doubtful` are violations that no run on these files shows."""
    count: Counter[str] = Counter()
    for seed in range(sets):
        made = rulesets.rule_set(seed, same=same, forks=forks, kept=kept)
        if kept and not any(b"keep failures" in data for data in made.files.values()):
            continue
        try:
            broken = rulesets.breaks(made)
            status, checked = linted(made)
            if status == "violated" and not broken:  # with other files than those, then
                shown = [
                    re.search(r" (?:the|a) path (?:such as )?`(.*?)`", item.message)
                    for item in checked.diagnostics
                ]
                more = dict.fromkeys(
                    [*rulesets.FILES, *(one[1] for one in shown if one), "d/x", "d/y", "z.txt"]
                )
                broken = (
                    rulesets.breaks(made, tuple(more)) if same else rulesets.breaks(made, free=True)
                )
        except rulesets.TooMany:
            continue
        text = f"seed {seed}, {made.check}:\n" + "\n".join(
            f"--- {name}\n{data.decode()}"
            for name, data in made.files.items()
            if name.endswith(".plan")
        )
        assert not (status == "holds" and broken), text
        if status == "violated" and not broken:
            assert same, text
            status = "doubtful"
        count[status] += 1
    return count


@pytest.mark.parametrize("sets", quick_and_whole(share(150), share(500)))
def test_rules_agree_with_brute_force(sets: int) -> None:
    count = compared(sets, same=False)
    assert sum(count.values()) >= sets * 9 // 10
    assert count["unproved"] < 10
    assert min(count["holds"], count["violated"]) > sets // 4


@pytest.mark.parametrize("sets", quick_and_whole(share(165), share(550)))
def test_rules_about_each_path_never_accept_a_violation_on_any_files(sets: int) -> None:
    """`doubtful`: a loop over files counts as one that may run any number of times, here too, for the other files."""
    count = compared(sets, same=True)
    assert sum(count.values()) >= sets * 10 // 11
    assert count["doubtful"] < 6
    assert count["unproved"] < 60
    assert min(count["holds"], count["violated"]) > sets // 4


@pytest.mark.parametrize("sets", quick_and_whole(share(75), share(250)))
def test_rules_over_forks_never_accept_an_order_that_breaks_them(sets: int) -> None:
    count = compared(sets, same=False, forks=True)
    assert sum(count.values()) >= sets * 8 // 10
    assert count["unproved"] < 25
    assert min(count["holds"], count["violated"]) > sets // 4


@pytest.mark.parametrize("sets", quick_and_whole(share(60), share(200)))
def test_rules_about_each_path_over_forks_never_accept_an_order_that_breaks_them(sets: int) -> None:
    count = compared(sets, same=True, forks=True)
    assert sum(count.values()) >= sets * 17 // 20
    assert count["doubtful"] < 6
    assert min(count["holds"], count["violated"]) > sets // 4


@pytest.mark.long
def test_rules_over_branches_that_stop_never_accept_a_beginning_that_breaks_them() -> None:
    """LGTM-38: a branch may end anywhere; what it owes then, the run owes. A gate in it stops no run."""
    count = compared(share(900), same=False, forks=True, kept=True)
    assert sum(count.values()) >= share(100)
    assert count["unproved"] < 25
    assert min(count["holds"], count["violated"]) > share(30)
    count = compared(share(1000), same=True, forks=True, kept=True)
    assert sum(count.values()) >= share(100)
    assert min(count["holds"], count["violated"]) > share(28)
