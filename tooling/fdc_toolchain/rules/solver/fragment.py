"""Fragments: plans that name no automaton, that cannot start one, and that can continue one where another plan calls them.

Which plans are fragments depends on their text, on the default automaton and on what they reach: neither a registry nor a
caller makes a plan one. `fdc run` refuses a fragment with the errors of the whole run.
"""

from __future__ import annotations

from ...automata.model import Automaton
from ...diagnostics.diagnostic import Diagnostic
from ...diagnostics.span import Span
from ...linking.graph import Instance
from .rule import Context
from .words import Machine

MOST = 2
"""Entry states that the summary names."""


def as_fragment(
    context: Context, instance: Instance, automaton: Automaton | None
) -> Diagnostic | None:
    """The summary of a plan that is a fragment, None of every other. `automaton` governs it as a root.

    A fragment names no automaton of its own, and called in some state all of its runs are accepted step by step.
    Either its text says that it is one (`use fragment`), or it cannot start the default automaton: a step of
    it is refused from the start state. A plan that only lacks its end (it does not close, or ends where the automaton
    does not accept) is a whole run with an error.
    """
    unit = instance.unit
    automaton = automaton if unit.part is None else unit.continues
    if automaton is None or unit.stated is not None:
        return None
    machine = Machine.of(automaton)
    summaries = context.summaries(machine)
    if unit.part is None and not summaries.root(instance) & machine.sink:
        return None
    ways = [(state, summaries.call(instance, 1 << state)) for state in range(machine.size)]
    fits = [(state, ends) for state, ends in ways if not ends & machine.sink]
    if not fits:
        return None
    shown = ", ".join(
        f"from `{machine.states[state]}` to {_names(machine, ends)}" for state, ends in fits[:MOST]
    )
    more = f", and from {len(fits) - MOST} more" if len(fits) > MOST else ""
    message = f"a fragment of `{machine.name}`: {shown}{more}"
    help_ = "it is proved in the plans that call it; to run it alone, make it a whole run of the automaton"
    return Diagnostic(Span(instance.unit.key, 1, 1, 1, 1), "FDC700", message, help=help_)


def _names(machine: Machine, mask: int) -> str:
    return (
        " or ".join(f"`{name}`" for number, name in enumerate(machine.states) if mask >> number & 1)
        or "no state"
    )
