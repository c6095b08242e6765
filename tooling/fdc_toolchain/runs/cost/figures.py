"""The cost of a plan for `fdc analyze` and the API: complexity, modality, worst case (FDC-13 to FDC-15)."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

from ...program.polynomial import Polynomial
from ...rules.bounds import Bounds, shown

if TYPE_CHECKING:
    from ...check import Checked
    from ...diagnostics.diagnostic import Diagnostic

MEASURES = ("steps", "model_calls", "tokens", "money")
_LABELS = ("Constant (O(1))", "Polynomial (P-Class)", "Exponential (EXPTIME-Class)")


class Figures(TypedDict):
    """The figures as JSON. `worst_now`: the numbers with the files that there are now and those that the plan creates, None
    where it cannot be known. `worst_created` says whether such files are counted, `worst_notes` what the numbers assume."""

    plan: str
    complexity: str
    complexity_class: str
    degree: int
    modality: str
    shell: bool
    stack: int
    worst: dict[str, str]
    worst_now: dict[str, float | None]
    worst_created: bool
    worst_notes: list[str]


def figures(path: str, root: str) -> tuple[Figures, list[Diagnostic]]:
    """The figures of the plan at `path`, and the errors that make them uncertain."""
    from ...check import check_paths

    return figures_of(check_paths([path], root), root)


def figures_of(checked: Checked, root: str) -> tuple[Figures, list[Diagnostic]]:
    """The figures of the first checked plan, and the errors that make them uncertain.

    The complexity class has the name that the seeds use; `degree` is exact.
    """
    instance = checked.context.graph.instance(checked.keys[0])
    cost = Bounds().plan(instance)
    worst = {name: getattr(cost, name) for name in MEASURES}
    errors = [item for item in checked.diagnostics if item.severity == "error"]
    now, created, notes = _now(checked, root, worst, errors)
    found: Figures = {
        "plan": checked.keys[0],
        "complexity": _LABELS[min(cost.nesting, 2)],
        "complexity_class": "EXP" if cost.nesting > 1 else "P",
        "degree": cost.degree,
        "modality": "Construction (Read-Write)" if cost.writes else "Analysis (Read-Only)",
        "shell": cost.shell,
        "stack": instance.height,
        "worst": {name: shown(poly) for name, poly in worst.items()},
        "worst_now": now,
        "worst_created": created,
        "worst_notes": notes,
    }
    return found, errors


def _now(
    checked: Checked, root: str, formulas: dict[str, Polynomial], errors: list[Diagnostic]
) -> tuple[dict[str, float | None], bool, list[str]]:
    """`worst_now`, `worst_created` and `worst_notes`.

    A plan whose errors leave it without a program has numbers only where no file decides.
    """
    if any(not item.code.startswith("FDC4") for item in errors):
        return {name: _number(poly) for name, poly in formulas.items()}, False, []
    from ...check import program_of
    from ..dry_run import listing, said
    from .cost_bound import worst

    program = program_of(checked)
    given = dict.fromkeys(param["name"] for param in program["plans"][program["root"]]["params"])
    now = worst(program, given, 0.0, lambda glob: listing(root, glob))
    numbers = {name: _number(poly) for name, poly in now.cost.items()}
    return numbers, now.created, said(now)


def _number(poly: Polynomial) -> float | None:
    """The value of a constant polynomial; None for others."""
    if any(poly):
        return None
    total = poly.get((), 0)
    return int(total) if total == int(total) else total
