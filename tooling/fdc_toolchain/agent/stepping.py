"""A run whose steps the caller performs: the engine chooses the next step and records its outcome.

This is the library form of execution (FDC-91): `engine.decide` chooses, the journal keeps every result, and
folding it again gives the same step. Listing files and asking predicates change nothing and are
done here, by the run's own tools.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from ..engine.decide import decide
from ..engine.events import (
    Failure,
    Finish,
    Outcome,
    Perform,
    Performs,
    Record,
    Settle,
    Stop,
    outcome_body,
)
from ..engine.fold import apply, fold
from ..engine.ports import Journal
from ..engine.state import Frame, RunState, Strand, Want
from ..named_tuples import NamedTuple
from ..program.model import Program
from .state import Command, PlanContext, StepResult


class OpenRun(NamedTuple):
    """A run that was taken over: what it executes, what is on record, and how to add to that."""

    program: Program
    inputs: dict[str, Any]
    records: Sequence[Record]
    journal: Journal
    perform: Callable[[Perform], Outcome]
    finish: Callable[[str, dict[str, Any]], None]
    release: Callable[[], None]


class Stepper:
    """One open run. Raises Mismatch, Fenced and WorldFailed, as the engine does."""

    def __init__(self, opened: OpenRun) -> None:
        self._opened = opened
        self._began = time.monotonic()
        self.state: RunState = fold(opened.program, opened.inputs, opened.records)
        self._base = self.state.elapsed
        self.stop: Stop | None = None
        self._over = False

    def current(self) -> Command | None:
        """The next step, or None if the run has ended (`stop`: whether it was stopped)."""
        effect = self._effect()
        return (
            None
            if effect is None
            else Command(effect.tool, effect.args, effect.address, effect.path, effect.line)
        )

    def record(self, result: StepResult) -> Command:
        """Puts on record what became of the current step; returns that step. Raises LookupError where there is none."""
        effect = self._effect()
        if effect is None:
            raise LookupError("no step is running")
        failure = None if result.error is None else Failure("reported", result.error)
        self._record(effect, Outcome(None if failure else result.value, failure))
        return Command(effect.tool, effect.args, effect.address, effect.path, effect.line)

    def stack(self) -> list[PlanContext]:
        """The plans on the stack where the run stands, the root first."""
        return stack_of(self.state)

    def close(self) -> None:
        """Releases the run; records its end if it has ended."""
        try:
            if self._over:
                ending = {
                    "stop": None if self.stop is None else self.stop._asdict(),
                    "steps": self.state.steps,
                }
                self._opened.finish("stopped" if self.stop else "finished", ending)
        finally:
            self._opened.release()

    def _effect(self) -> Perform | None:
        while True:
            decision = decide(self._opened.program, self.state, 1)
            if isinstance(decision, Finish):
                self.stop, self._over = decision.stop, True
                return None
            if isinstance(decision, Settle):
                return (
                    decision.effect
                )  # announced by a lost controller: the process that performs the steps knows
            if not isinstance(decision, Performs):
                return None
            effect = decision.effects[0]
            if effect.kind == "tool":
                return effect
            self._record(effect, self._opened.perform(effect))

    def _record(self, effect: Perform, outcome: Outcome) -> None:
        at = self._base + time.monotonic() - self._began
        body = outcome_body(outcome, 0.0)
        record = Record(
            "outcome", effect.address, effect.turn, effect.tool, effect.request, at, body
        )
        self._opened.journal.append([record])
        apply(self.state, record)


def stack_of(state: RunState) -> list[PlanContext]:
    """The plans on the stack of a run, the root first; of a fork, those of its first branch that is under way."""
    wants: list[Want] = [
        *state.dangling.values(),
        *state.running.values(),
        *state.pending.values(),
        *state.parked.values(),
    ]
    if not wants:
        return []
    strands: list[Strand] = [wants[0].strand]
    while strands[0].join is not None:
        strands.insert(0, strands[0].join.strand)
    frames: list[Frame] = [
        frame for strand in strands for frame in strand.frames if frame.opens_scope
    ]
    return [PlanContext(frame.scope.path, frame.at, len(frame.block)) for frame in frames]
