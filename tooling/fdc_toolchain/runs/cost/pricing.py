"""The maximum cost of a run's prompts: decided when the run begins, and enforced whenever it continues.

The rate is in the run's recorded inputs, so that what is reserved for a step is the same on resume and replay.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ...exits import UsageError
from .models import names

if TYPE_CHECKING:
    from ...journal.sqlite import RunRow, Store
    from ...program.model import Program
    from ...workspace.operator import Operator


def settle(
    root: str, program: Program, budget: Mapping[str, float], operator: Operator | None
) -> dict[str, object] | None:
    """Which models a new run may ask and the most that one of their tokens costs (None: not known); None without a prompt.

    Raises UsageError for a budget that nothing could keep to: of money, where a price is not known; of what a prompt
    does not declare a most of.
    """
    if not _prompts(program):
        return None
    asked = _asked(root, operator)
    limits = {**_called(program), **program["budget"], **budget}
    _declared(program, limits)
    if asked and "money" in limits:
        listed(asked)
    rate, _ = _dearest(asked)
    return {"names": asked, "rate": rate}


def check(
    root: str, store: Store, row: RunRow, budget: Mapping[str, float], operator: Operator | None
) -> None:
    """Raises UsageError if a continued run could ask a model that costs more than those it began with.

    `budget` is what is raised now. A record that cannot be read is left to the controller of the run.
    """
    from ...program.codec import ProgramError

    try:
        program = store.program(row)
    except ProgramError:
        return
    limits = {**_called(program), **program["budget"], **row.inputs.get("budget", {})}
    for record in store.records(row):
        if record.kind == "budget":
            limits.update(record.body["budget"])
    limits.update(budget)
    _declared(program, limits)
    if "money" not in limits:
        return
    asked = _asked(root, operator)
    if not asked:
        return
    run, inputs = row.name, row.inputs
    listed(asked)
    rate, dearest = _dearest(asked)
    recorded = inputs.get("model", {}).get("rate")
    if not recorded:
        begun = (
            "no model"
            if not inputs.get("model", {}).get("names")
            else "a model whose price is not known"
        )
        raise UsageError(
            f"the run {run} has a budget of money and began with {begun}, so it cannot ask `{dearest}`"
        )
    if rate is not None and rate > recorded:
        raise UsageError(
            f"the run {run} has a budget of money and began with models that cost at most "
            f"${recorded * 1e6:g} for a million tokens; `{dearest}` costs ${rate * 1e6:g}"
        )


def _called(program: Program) -> dict[str, float]:
    """The measures that the budgets of called plans limit."""
    return {
        measure: most
        for plan in program["plans"].values()
        for measure, most in plan.get("budget", {}).items()
    }


def _prompts(program: Program) -> list[str]:
    return sorted(name for name, row in program["tools"].items() if "prompt" in row.get("run", ()))


def _asked(root: str, operator: Operator | None) -> list[str]:
    from ...workspace.operator import Operator

    return names(root, (operator or Operator.of_environment()).model)


def _declared(program: Program, limits: Mapping[str, float]) -> None:
    for measure, needs in (
        ("model_calls", "model_calls"),
        ("tokens", "tokens"),
        ("money", "tokens"),
    ):
        if measure not in limits:
            continue
        for name in _prompts(program):
            if needs not in program["tools"][name].get("cost", {}):
                missing = f"the prompt `{name}` does not declare `cost.{needs}`, the maximum that one step uses"
                raise UsageError(f"a budget of {measure} cannot be enforced: {missing}")


def listed(asked: list[str]) -> None:
    """Raises UsageError for a model without a known price, for which a budget of money cannot be enforced."""
    from ...tools.model.prices import PRICES, most

    for name in asked:
        if most(name, 1) is None:
            raise UsageError(
                f"a budget of money cannot be enforced: the price of `{name}` is not in {PRICES}"
            )


def _dearest(asked: list[str]) -> tuple[float | None, str]:
    """The highest price of a token, and its model; no price if one is unknown."""
    from ...tools.model.prices import most

    rates = {name: most(name, 1) for name in asked}
    if not rates:
        return 0.0, ""
    if any(rate is None for rate in rates.values()):
        return None, ""
    dearest = max(rates, key=lambda name: (rates[name] or 0.0, name))
    return rates[dearest], dearest
