"""The part `files` of certificates against worlds: no step misses a file, or meets one, but where the certificate says so.

Whatever the checker says yes to, of programs and certificates that were damaged, has no run in a world (`path_world`) in which a
use fails that is not claimed as open, while every listed assumption is true. What lint proves has a certificate. Each commit has
a seed of its own, which a test prints; FDC_TEST_SEED gives another.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest
from fdc_toolchain.certificate.files import paths, places, rounds, uses
from fdc_toolchain.certificate.making import make_files
from fdc_toolchain.certificate.plans import Wrong
from fdc_toolchain.check import program_of
from fdc_toolchain.linking.project.files import Files
from fdc_toolchain.linking.project.settings import SettingsError

from tests.reference.runs import folder
from tests.reference.wide import plan_set
from tests.support import (
    damage,
    filesets,
    linting,
    path_claims,
    path_world,
    profiles,
    second_opinion,
    typed,
)
from tests.support.path_claims import KINDS

SEED = profiles.seed()
RUNS = 40


# ---- what lint proves has a certificate ---------------------------------------------------------------


def certified(seeds: range, runs: int) -> Counter[str]:
    """Holds what lint proves to the checker, and both to worlds. Counts; raises AssertionError."""
    count: Counter[str] = Counter()
    for seed in seeds:
        found = path_claims.program(seed, KINDS[seed % len(KINDS)])
        if found is None:
            continue
        of, there, proved = found
        try:
            made = path_claims.honest(of, there)
        except Wrong as wrong:
            assert not proved, f"seed {seed}: {wrong}"
            count["refused by both"] += 1
            continue
        assert paths.check(of, json.loads(json.dumps(made))) is None, f"seed {seed}"
        assert {"FDC414", "FDC702", "FDC703", "FDC704"} >= {
            of["assumptions"][number]["code"] for number in made["assumes"]
        }
        failed = path_world.wrong(of, made, runs, seed)
        assert failed is None, f"seed {seed}: {failed}"
        count["proved" if proved else "proved by the checker only"] += 1
        count["assuming"] += bool(made["assumes"])
        count["with open uses"] += bool(made["open"])
    return count


@pytest.mark.slow
def test_what_lint_proves_has_a_certificate_and_what_has_one_keeps_the_promise() -> None:
    """With the assumptions that lint lists of it, and no other."""
    count = certified(range(SEED, SEED + 120), RUNS)
    print(f"seed {SEED}: {dict(count)}")
    assert min(count["proved"], count["refused by both"], count["assuming"]) > 0


@pytest.mark.slow
def test_what_lint_proves_of_other_generators_has_a_certificate() -> None:
    count: Counter[str] = Counter()
    for first in range(SEED, SEED + 400, 10):
        count += others(range(first, first + 10))
        if count["reference"] > 4:
            break
    print(f"seed {SEED}: {dict(count)}")
    assert count["reference"] > 4


def others(seeds: range) -> Counter[str]:
    """Plan sets of other generators: those that lint proves have a certificate. Counts; raises AssertionError."""
    count: Counter[str] = Counter()
    for seed in seeds:
        plans = plan_set(seed)
        with folder(plans.files) as root:
            try:
                checked = second_opinion.lint(plans, root)
            except SettingsError:
                continue
            if not checked.fragments and not any(
                item.severity == "error" for item in checked.diagnostics
            ):
                of = program_of(checked)
                made = make_files.make(of, Files(str(root)).kind)
                assert made is not None and paths.check(of, made) is None, f"seed {seed}"
                count["reference"] += 1
                count["open"] += len(made["open"])
        checked = typed.lint(typed.plan_set(seed))
        if not checked.fragments and not any(
            item.severity == "error" for item in checked.diagnostics
        ):
            of, exists = program_of(checked), checked.context.linker.files.exists
            made = make_files.make(
                of, lambda path, exists=exists: "file" if exists(path) else "missing"
            )
            assert made is not None and paths.check(of, made) is None, f"seed {seed}"
            count["types"] += 1
    return count


# ---- damage -------------------------------------------------------------------------------------------


def judged(seed: int, each: int, count: Counter[str]) -> None:
    """One program, and so many ways to damage it and its certificate. Counts; raises AssertionError for a wrong yes."""
    found = path_claims.program(seed, KINDS[seed % len(KINDS)])
    if found is not None:
        of, there, _ = found
        damage.judged(path_claims.Part(seed, of, there, RUNS), seed, each, count)


@pytest.mark.slow
def test_the_checker_says_yes_to_nothing_that_fails_in_some_world() -> None:
    """At least 70 programs, and as many more as it takes until enough of the damaged ones were accepted rightly."""
    count: Counter[str] = Counter()
    for seed in range(SEED, SEED + 300):
        judged(seed, 8, count)
        if seed >= SEED + 69 and count["mutants"] > 80 and count["yes"] > 8:
            break
    print(f"seed {SEED}: {dict(count)}")
    assert count["mutants"] > 80 and count["yes"] > 8


@pytest.mark.soak
def test_the_checker_says_yes_to_nothing_that_fails_in_some_world_however_often_it_is_asked() -> (
    None
):
    count: Counter[str] = Counter()
    for seed in range(SEED, SEED + 4500):
        judged(seed, 12, count)
    print(f"seed {SEED}: {dict(count)}")
    print(
        f"seed {SEED}: {dict(certified(range(SEED, SEED + 1500), 100))} {dict(others(range(SEED, SEED + 200)))}"
    )


# ---- the oracle is worth something --------------------------------------------------------------------


GLOBBED = "for_each_file *.txt as f\n  t_delete {f}\nt_read a.txt\n"
COMMANDS = "t_shell\nt_read a.txt\nt_read b.txt\n"
STOPS = "fork i in {items} max 1 keep failures\n  t_delete a.txt\n  t_create a.txt\nt_read a.txt\n"
FORGOTTEN: dict[str, tuple[str, Any, str, Any]] = {
    "that a command changes files": ("t_shell\nt_read a.txt\n", uses.Uses, "command", lambda self, here, where: None),
    "that other paths may be the same": (GLOBBED, uses.Uses, "touch", lambda self, here, access, cause: None),
    "that globs meet literal paths": (GLOBBED, places, "found_by", lambda one, other: False),
    "that branches take turns": ("fork i in {items} max 2\n  t_create b.txt\n  t_delete b.txt\n", rounds.Rounds, "conflicts",
                                 lambda self, node, prefix, did: None),
    "that a branch may stop": (STOPS, uses.Uses, "note", lambda self, here: setattr(self, "passed", [here.copy()])),
    "what an assumption is about": (COMMANDS, uses.Uses, "about", lambda self, node, key, reason: [0]),
}  # fmt: skip


@pytest.mark.parametrize("name", FORGOTTEN)
def test_what_a_checker_can_forget_is_noticed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of these checkers says yes to a program in which a step fails."""
    text, place, attribute, mistake = FORGOTTEN[name]
    files = {
        "a.plan": "use fsm any.json\nparam items = x\n" + text,
        "fdc_tools.json": filesets.CATALOGUE,
    }
    of = program_of(
        linting.lint(
            {**files, "any.json": filesets.AUTOMATON}, "a.plan", there=("a.txt",), whole=True
        )
    )
    of["assumptions"] = [
        one for one in of["assumptions"] if one["code"] == "FDC702" and attribute == "about"
    ]  # not all of them
    assert not says_yes(of, "a.txt")
    monkeypatch.setattr(place, attribute, mistake)
    assert says_yes(of, "a.txt") and path_world.wrong(
        of, path_claims.honest(of, frozenset({"a.txt"})), 300, 1
    )


def says_yes(of: dict[str, Any], *there: str) -> bool:
    places.apart.cache_clear()
    try:
        return paths.check(of, path_claims.honest(of, frozenset(there))) is None
    except Wrong:
        return False
    finally:
        places.apart.cache_clear()


def test_a_certificate_of_one_program_is_none_of_another() -> None:
    found = path_claims.program(0, "plain") or path_claims.program(1, "plain")
    assert found is not None
    of, there, _ = found
    claims = path_claims.careless(of, there)
    assert "for another program" in str(paths.check({**of, "sources": {"x": "y"}}, claims))
