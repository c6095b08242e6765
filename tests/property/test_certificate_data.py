"""The part `data` of certificates against worlds: two runs with different texts from outside do the same (`flow_world`).

Whatever the checker says yes to, of programs and certificates that were damaged, has no run in which text from outside makes a
difference to what is done. What lint proves has a certificate. Each commit has a seed of its own, which a test prints;
FDC_TEST_SEED gives another.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import Any

import pytest
from fdc_toolchain.certificate import control, data, file_sets, steps, touches
from fdc_toolchain.certificate.labels import Name, paths, sum_of
from fdc_toolchain.certificate.making import make_control, make_data
from fdc_toolchain.certificate.plans import Wrong
from fdc_toolchain.check import program_of
from fdc_toolchain.linking.project.settings import SettingsError
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.reference.runs import folder
from tests.reference.wide import plan_set
from tests.support import (
    damage,
    filesets,
    flow_claims,
    flow_world,
    flows,
    linting,
    profiles,
    second_opinion,
    typed,
)
from tests.support.flow_claims import PROGRAM_WAYS
from tests.support.profiles import quick_and_whole, share

SEED = profiles.seed()


def wrong(of: dict[str, Any]) -> str | None:
    """Why the part cannot be claimed of a program; None where it can."""
    try:
        return data.check(of, make_data.make(of))
    except Wrong as found:
        return str(found)


# ---- what lint proves has a certificate ---------------------------------------------------------------


@given(st.integers(0, 2**40), st.sampled_from(("made", "kept", *flows.AIMS)))
@settings(max_examples=share(400))
def test_what_lint_proves_has_a_certificate_and_what_has_one_keeps_the_promise(
    seed: int, way: str
) -> None:
    """Where only the checker says yes, it is the more precise one: then no run may tell."""
    plans = (
        flows.made(seed, kept=way == "kept") if way in ("made", "kept") else flows.aimed(seed, way)
    )
    checked = flows.checked(plans)
    found = wrong(program_of(checked))
    if flows.accepted(checked):
        assert found is None
    elif found is None:
        assert not flows.interferes(checked)


def proved(kind: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Programs of what lint proves, of the generators for other promises."""
    for seed in range(SEED, SEED + 800):
        if kind == "reference":
            plans = plan_set(seed)
            with folder(plans.files) as root:
                try:
                    checked = second_opinion.lint(plans, root)
                except SettingsError:
                    continue
        elif kind == "types":
            checked = typed.lint(typed.plan_set(seed))
        else:
            made = filesets.file_set(seed, kept=kind == "kept", rich=kind == "rich")
            checked = linting.lint(
                {**made.files, "fdc_tools.json": filesets.CATALOGUE}, "p0.plan", there=made.there
            )
        if not checked.fragments and not any(
            item.severity == "error" for item in checked.diagnostics
        ):
            yield seed, program_of(checked)


@pytest.mark.parametrize("most", quick_and_whole(4, 12))
@pytest.mark.parametrize("kind", ["reference", "types", "files", "kept", "rich"])
def test_what_lint_proves_of_other_generators_has_both_parts(kind: str, most: int) -> None:
    found = list(islice(proved(kind), most))
    assert len(found) == most
    for seed, of in found:
        assert None is wrong(of), f"seed {seed}"
        assert None is control.check(of, make_control.make(of)), f"seed {seed}"


@pytest.mark.long
def test_what_declarations_say_counts_for_the_checker_as_for_lint() -> None:
    """Other trust, sinks, clearing, effects and accesses. What lint refuses is claimed only where the checker is more precise:
    what an earlier run left and a command of a called plan copies."""
    count: Counter[str] = Counter()
    for seed in range(SEED, SEED + 250):
        checked = flow_claims.under_other_declarations(seed)
        codes = {item.code for item in checked.diagnostics if item.severity == "error"}
        if not any(code < "FDC4" for code in codes):
            accepted, found = (
                not any(code.startswith("FDC47") for code in codes),
                wrong(program_of(checked)),
            )
            assert found is None or not accepted, f"seed {seed}: {found}"
            count[
                "proved" if accepted else "refused" if found else "proved by the checker only"
            ] += 1
    print(f"seed {SEED}: {dict(count)}")
    assert (
        count["refused"] > 50 and count["proved"] > 50 and count["proved by the checker only"] <= 12
    )


# ---- damage -------------------------------------------------------------------------------------------


def judged(seed: int, each: int, count: Counter[str]) -> None:
    """One program, and so many ways to damage it and its certificate. Counts; raises AssertionError for a wrong yes."""
    damage.judged(flow_claims.Part(seed), seed, each, count)


@pytest.mark.parametrize("programs", quick_and_whole(15, 60))
def test_the_checker_says_yes_to_nothing_that_text_from_outside_changes(programs: int) -> None:
    count: Counter[str] = Counter()
    for seed in range(SEED, SEED + programs):
        judged(seed, 10, count)
    print(f"seed {SEED}: {dict(count)}")
    assert count["mutants"] > 5 * programs and count["yes"] > programs // 3


@pytest.mark.soak
def test_the_checker_says_yes_to_nothing_that_text_from_outside_changes_however_often_it_is_asked() -> (
    None
):
    count: Counter[str] = Counter()
    for seed in range(SEED, SEED + 2500):
        judged(seed, 12, count)
    print(f"seed {SEED}: {dict(count)}")


@given(st.integers(0, 2**40), st.sampled_from(PROGRAM_WAYS))
@settings(max_examples=share(200))
def test_a_certificate_of_one_program_is_none_of_another(seed: int, way: str) -> None:
    of = flow_claims.program(seed)
    certificate = flow_claims.careless(of)
    other = flow_claims.damaged_program(of, random.Random(seed), way)
    if other != of:
        assert "for another program" in str(data.check(other, certificate))


# ---- the oracle is worth something --------------------------------------------------------------------


FORGOTTEN: dict[str, tuple[str, Any, str, Any]] = {
    "what is in files": ("existence", steps.Steps, "in_files", lambda self, kind, files: 0),
    "that conditions count": ("existence", steps.Steps, "condition", lambda self, state, cond: 0),
    "that a kept failure is a condition": (
        "kept",
        steps.Steps,
        "stop",
        lambda self, state, label: None,
    ),
    "that a command executes what it sees": ("code", steps, "hidden", lambda files: True),
    "that only one folder is hidden": (
        "code",
        steps,
        "hidden",
        lambda files: not file_sets.lasting(files),
    ),
    "that a shell is not a data command": (
        "code",
        touches,
        "only_looks",
        lambda command: [] if command[:3] == "cat" else None,
    ),
    "who chose which items there are": (
        "own",
        steps.Steps,
        "items",
        lambda self, state, value: (0, state.names.get(next(iter(paths(value)), [""])[0], Name(0))),
    ),
    "that only some fields are the service's own": (
        "own",
        steps.Steps,
        "label",
        lambda self, state, value, bare=True: sum_of(
            one.inner if one.own else one.label
            for ref in paths(value)
            for one in [state.names.get(ref[0], Name(0))]
        ),
    ),
    "that settings name files": ("named", steps.Steps, "of_others", lambda self, files: 0),
    "that text is cleared by nobody": ("clears", steps, "cleared", lambda label, sinks: 0),
}


@pytest.mark.parametrize("name", FORGOTTEN)
def test_what_a_checker_can_forget_is_noticed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of these checkers says yes to a program that text from outside changes."""
    aim, place, attribute, mistake = FORGOTTEN[name]
    monkeypatch.setattr(place, attribute, mistake)
    programs = (program_of(flows.checked(flows.aimed(seed, aim))) for seed in range(300))
    assert any(wrong(of) is None and flow_world.interferes(of) for of in programs)
