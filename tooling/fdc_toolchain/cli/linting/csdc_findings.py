"""Findings of a CSDC model and of an expected complexity class (FDC-93b, FDC-93c)."""

from __future__ import annotations

from ...check import Checked
from ...diagnostics.diagnostic import Diagnostic
from ...diagnostics.span import Span
from ...rules.bounds import Bounds
from ...rules.csdc import check as check_model


def findings(checked: Checked, model: str, complexity: str | None) -> list[Diagnostic]:
    """The findings of a model, and of a complexity class if one is given."""
    found = list(check_model(checked.context.order, model))
    bounds = Bounds()
    for instance, _ in checked.context.roots:
        actual = "EXP" if bounds.plan(instance).nesting > 1 else "P"
        if complexity and actual != complexity:
            span = Span(instance.unit.key, 1, 1, 1, 2)
            message = f"the plan's complexity class is {actual}, expected {complexity}"
            found.append(Diagnostic(span, "FDC432", message))
    return found
