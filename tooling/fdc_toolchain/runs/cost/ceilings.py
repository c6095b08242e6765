"""What a run may use that belongs to something larger: to a task, or to a step of another run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ...program.model import Program

if TYPE_CHECKING:
    from ...engine.state import RunState

_RAISED = ("budget", "overrun")
"""Kinds of stops after which a run goes on with a larger budget."""


def least(program: Program, left: Mapping[str, float]) -> dict[str, float]:
    """The ceilings of a run: what its plan says, and no more than is left."""
    own = program["budget"]
    return {measure: min(most, own.get(measure, most)) for measure, most in left.items()}


def changed(state: RunState, left: Mapping[str, float]) -> dict[str, float]:
    """The ceilings of a run on record that are other ones by now; none where more budget would not make it go on."""
    if state.ended and (state.stop is None or state.stop.kind not in _RAISED):
        return {}
    wanted = least(state.program, left)
    return {one: most for one, most in wanted.items() if state.budget.get(one) != most}
