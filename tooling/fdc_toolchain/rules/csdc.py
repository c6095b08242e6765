"""CSDC models A and B: which definitions a plan may make (FDC-93b to FDC-93d).

It checks the whole tape: the tools, but not the arguments, of every step of the plan and
of the plans that it calls.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..diagnostics.diagnostic import Diagnostic
from ..linking.graph import Instance

NAMES, DIAGONAL = "define_set_of_names", "define_diagonalization_function"
FORBIDS = {"A": DIAGONAL, "B": NAMES}


def check(order: Iterable[Instance], model: str) -> Iterator[Diagnostic]:
    """Every step that model `A` or `B` forbids; both definitions in one tape are refused in either.

    `order` has callees before callers. A tape is what one plan reaches, so plans that only stand
    beside each other do not mix theirs.
    """
    instances = list(order)
    own = {
        id(one): [act for act in one.unit.acts if act.step.tool in (NAMES, DIAGONAL)]
        for one in instances
    }
    made: dict[int, frozenset[str]] = {}
    for instance in instances:
        below = (made[id(callee)] for callee in instance.callees if callee is not None)
        made[id(instance)] = frozenset(act.step.tool for act in own[id(instance)]).union(*below)
    mixed: set[int] = set()
    for instance in reversed(instances):
        if len(made[id(instance)]) > 1 or id(instance) in mixed:
            mixed.update(id(one) for one in (instance, *instance.callees) if one is not None)
    for instance in instances:
        for act in own[id(instance)] if not instance.context else ():
            span = instance.unit.span(act.step)
            if act.step.tool == FORBIDS[model]:
                yield Diagnostic(span, "FDC431", f"CSDC model {model} forbids `{act.step.tool}`")
            elif id(instance) in mixed:
                message = f"`{NAMES}` and `{DIAGONAL}` in one plan: every CSDC model refuses that"
                yield Diagnostic(span, "FDC431", message)
