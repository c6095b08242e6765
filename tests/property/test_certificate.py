"""The checker of certificates against the enumeration of all runs, on programs and certificates that were damaged.

Whatever the checker says yes to has no run that breaks an automaton, a rule that is claimed to be kept, or the limit of the
stack, or that uses an unbound name or more steps than claimed. What lint proves has a certificate. Each commit has a
seed of its own, which a test prints; FDC_TEST_SEED gives another.
"""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest
from fdc_toolchain.certificate.control import check, digest
from fdc_toolchain.certificate.making.make_control import Wrong, make
from fdc_toolchain.certificate.plans import known
from fdc_toolchain.certificate.readers import pattern
from fdc_toolchain.check import check as lint
from fdc_toolchain.check import program_of
from fdc_toolchain.engine.values import Unusable, holds
from fdc_toolchain.linking.link import Linker
from fdc_toolchain.linking.project.files import Files
from fdc_toolchain.linking.project.settings import Settings
from fdc_toolchain.text import glob_match

from tests.support import allruns, certified, profiles, rulesets
from tests.support.linting import World
from tests.support.plansets import CATALOGUE, plan_set

SEED = profiles.seed()


def judge(of: dict[str, Any], certificate: dict[str, Any]) -> None:
    """Raises allruns.Broken where a run does what the certificate denies, allruns.TooMany."""
    claimed = {
        number
        for number, _ in enumerate(of.get("rules", ()))
        if certificate["rules"][number] is not None
    }
    most = allruns.longest(of, claimed)
    bound = sum(
        number * allruns.FILES ** len(sizes)
        for number, sizes in certificate["plans"][of["root"]]["steps"]
    )
    if most > bound:
        raise allruns.Broken(f"a run takes {most} steps, and {bound} are claimed")


def careless(of: dict[str, Any]) -> dict[str, Any] | None:
    try:
        return certified.careless(of)
    except (Wrong, LookupError, TypeError):
        return None


def judged(seed: int, each: int, count: Counter[str]) -> None:
    """One program with its honest certificate, and so many ways to damage both."""
    chance = random.Random(seed)
    of = certified.made(seed)
    certificate = None
    try:
        certificate = make(of)
    except Wrong:
        count["without a certificate"] += 1
    else:
        assert None is check(of, certificate), f"seed {seed}: the honest certificate is refused"
        count["certified"] += 1
        said_yes(seed, of, certificate, count)
    for _ in range(each):
        other, claims, kind = of, certificate or careless(of), chance.random()
        for _ in range(chance.choice((1, 1, 2)) if kind < 0.6 else 0):
            other = certified.damaged_program(other, chance)
        if kind < 0.6 and chance.random() < 0.6:
            claims = careless(other) or claims
        if claims is None:
            continue
        if kind > 0.4:
            claims = certified.damaged_certificate(claims, chance)
        claims = {**claims, "program": digest(other)}
        count["mutants"] += 1
        if check(other, claims) is None:
            said_yes(seed, other, claims, count)


def said_yes(
    seed: int, of: dict[str, Any], certificate: dict[str, Any], count: Counter[str]
) -> None:
    """Compares a yes with all runs."""
    count["yes"] += 1
    try:
        judge(of, certificate)
    except allruns.TooMany:
        count["too many runs"] += 1
    except allruns.Broken as broken:
        raise AssertionError(f"seed {seed}: the checker says yes, and {broken}") from None


@pytest.mark.long
def test_the_checker_says_yes_to_nothing_that_some_run_breaks() -> None:
    count: Counter[str] = Counter()
    for seed in range(SEED, SEED + 40):
        judged(seed, 10, count)
    print(f"seed {SEED}: {dict(count)}")
    assert count["mutants"] > 200 and count["yes"] - count["too many runs"] > 20


@pytest.mark.soak
def test_the_checker_says_yes_to_nothing_that_some_run_breaks_however_often_it_is_asked() -> None:
    count: Counter[str] = Counter()
    for seed in range(SEED, SEED + 800):
        judged(seed, 25, count)
    print(f"seed {SEED}: {dict(count)}")


def linked(files: dict[str, bytes], *, rules: bool = False) -> Any:
    found: Files = World(files) if rules else Files("/nonexistent")
    found.seen |= files
    return lint(Linker("/nonexistent", Settings(), found), ["p0.plan"])


@pytest.mark.slow
@pytest.mark.parametrize("kept", [False, True])
def test_what_lint_proves_has_a_certificate(kept: bool) -> None:
    proved = 0
    for seed in range(SEED, SEED + 90):
        checked = linked(plan_set(seed, kept=kept).files | {"fdc_tools.json": CATALOGUE})
        if not any(item.severity == "error" for item in checked.diagnostics):
            proved += 1
            of = program_of(checked)
            assert None is check(of, make(of)), f"seed {seed}"
    assert proved > 3


@pytest.mark.slow
def test_what_lint_proves_under_rules_has_a_certificate() -> None:
    count: Counter[str] = Counter()
    for seed in range(SEED, SEED + 60):
        made = rulesets.rule_set(seed, same=seed % 2 == 0, forks=seed % 3 == 0, kept=seed % 3 == 0)
        checked = linked(made.files, rules=True)
        if not any(item.severity == "error" for item in checked.diagnostics):
            of = program_of(checked)
            certificate = make(of)
            assert None is check(of, certificate), f"seed {seed}"
            count["proved"] += 1
            count["kept"] += any(claims is not None for claims in certificate["rules"])
    assert count["kept"] > count["proved"] / 3 > 1, count


def test_conditions_of_constants_are_what_the_engine_makes_of_them() -> None:
    chance = random.Random(SEED)
    decided = 0
    for _ in range(2000):
        cond = certified.Writer(chance, {}).condition({"x"})
        verdict = known(cond)
        if verdict is not None and "ref" not in str(cond):
            try:
                assert verdict is holds(cond, {}, []), cond
                decided += 1
            except Unusable:
                pass  # the run stops there
    assert decided > 300


def test_globs_are_read_as_the_engine_reads_them() -> None:
    chance = random.Random(SEED)
    matched = 0
    for _ in range(4000):
        glob = "".join(
            chance.choice(("a", "b", ".", "/", "*", "?", "**", "**/", "[", "\n"))
            for _ in range(chance.randint(0, 5))
        )
        path = "".join(
            chance.choice(("a", "b", ".", "/", "[", "\n")) for _ in range(chance.randint(0, 5))
        )
        found = pattern(glob).fullmatch(path) is not None
        assert found is glob_match.matches(path, glob), (glob, path)
        matched += found
    assert matched > 100
