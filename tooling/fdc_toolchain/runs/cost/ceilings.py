"""Limits of a run that come from its task or from a step of another run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ...program.model import Program

if TYPE_CHECKING:
    from ...engine.state import RunState

_RAISED = ("budget", "overrun")
"""Kinds of stops after which a run continues with a larger budget."""


def least(program: Program, left: Mapping[str, float]) -> dict[str, float]:
    """The limits of a run: those of its plan, but at most the remaining amounts."""
    own = program["budget"]
    return {measure: min(most, own.get(measure, most)) for measure, most in left.items()}


def changed(state: RunState, left: Mapping[str, float]) -> dict[str, float]:
    """The limits of a recorded run that have changed; empty if a larger budget would not make it continue."""
    stop = state.stop
    if state.ended and (stop is None or (stop.kind not in _RAISED and stop.failure != "spent")):
        return {}
    wanted = least(state.program, left)
    return {one: most for one, most in wanted.items() if state.budget.get(one) != most}
