"""The bound of a workflow script is never below what the script starts: scripts by chance, run under a stub runtime."""

from __future__ import annotations

import pytest
from fdc_toolchain.foreign.workflow.bound import Bound, bound_of

from tests.support.workflow_scripts import runtime
from tests.support.workflow_scripts.generate import script
from tests.support.workflow_scripts.runtime import Case

without_node = pytest.mark.skipif(runtime.NODE is None, reason="Node is not on the PATH")


def compare(seeds: range) -> tuple[int, int, int]:
    """(scripts with a bound, of these with a bound of one number, runs that reached their bound exactly)."""
    cases: list[Case] = []
    bounds: list[Bound] = []
    texts = []
    for seed in seeds:
        case = script(seed)
        bound = bound_of(case.text, "chance.js")
        assert isinstance(bound, Bound)
        if bound.cost is None:
            continue
        cases.append(case._replace(text=runtime.measured(case.text, bound)))
        texts.append(case.text)
        bounds.append(bound)
    exact = 0
    for case, text, bound, happened in zip(cases, texts, bounds, runtime.run(cases)):
        cost = bound.cost
        assert cost is not None and "SyntaxError" not in happened.failed, (
            happened.failed,
            case.text,
        )
        sizes = {name: happened.sizes.get(name, 0) for name in bound.sizes}
        assert happened.agents <= cost.agents.value(sizes) + 1e-6, (
            case.seed,
            str(cost.agents),
            sizes,
            happened,
            text,
        )
        assert happened.rounds <= cost.rounds.value(sizes) + 1e-6, (
            case.seed,
            str(cost.rounds),
            sizes,
            happened,
            text,
        )
        total = sum(number.value(sizes) for _, number in cost.models)
        assert happened.agents <= total + 1e-6, (case.seed, cost.models, text)
        exact += happened.agents == cost.agents.value(sizes)
    return (
        len(bounds),
        sum(bound.cost is not None and bound.cost.agents.number is not None for bound in bounds),
        exact,
    )


@without_node
def test_no_script_starts_more_than_its_bound() -> None:
    bounded, plain, exact = compare(range(40))
    assert bounded >= 35 and plain >= 1 and exact >= 4, (bounded, plain, exact)


@without_node
@pytest.mark.soak
@pytest.mark.parametrize("start", range(0, 10_000, 1_000))
def test_no_script_of_many_starts_more_than_its_bound(start: int) -> None:
    bounded, _, _ = compare(range(start, start + 1_000))
    assert bounded >= 800
