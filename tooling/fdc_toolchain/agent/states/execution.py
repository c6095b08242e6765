"""EXECUTING (FDC-05, FDC-91): the plan of a task, driven by the engine or performed step by step by an outsider."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .. import coding, provenance
from ..model_port import ModelWaiting, RunStands
from ..state import Command, PlanContext, StepResult
from ..stepping import Stepper, stack_of
from ..turn import Failed, Turn
from ..world import Driven

_EXHAUSTED = ("budget", "overrun")
"""Kinds of stops after which a run continues with a larger budget."""


class Execution:
    """The runs of a controller's tasks: those whose steps are performed elsewhere are held until `close`."""

    def __init__(self) -> None:
        self._steppers: dict[str, Stepper] = {}

    def current(self, turn: Turn) -> Command | None:
        """The step to perform next, or None where execution is complete. Raises Failed."""
        return self._stepper(turn).current()

    def step(self, turn: Turn, result: object) -> str:
        """Records what became of the current step, and advances: returns the state that follows. Raises Failed."""
        stepper = self._stepper(turn)
        command = stepper.current()
        answer = (
            None if command is None else (turn.control.get("answer") or {}).get(command.address)
        )
        if turn.control.get("given_up") and answer is None:
            raise Failed(turn.control["given_up"])
        if command is None:
            return self._ended(turn, stepper)
        if command.tool_name == "generate_code" and result is None and answer is None:
            provenance.of_run(turn, _known(turn), "what this task's run brought")
            if turn.control.get("code") is None:
                turn.control["code"] = coding.wanted(turn, command.address, command.args)
            return "GENERATING_CODE"
        outcome = _result(result if answer is None else answer)
        stepper.record(outcome)
        turn.control.update(answer={}, code=None)
        after = stepper.current()
        details = {"tool": command.tool_name, "plan": command.plan_path, "line": command.line}
        failed = outcome.error is not None
        turn.log(
            3,
            "TOOL_EXEC",
            details,
            "FAILURE" if failed else "SUCCESS",
            error=outcome.error,
            step=command.address,
        )
        turn.state.plan_stack = stepper.stack()
        return self._ended(turn, stepper) if after is None else "EXECUTING"

    def drive(self, turn: Turn) -> str:
        """Drives the plan by the engine until it cannot go on: returns the state that follows. Raises Failed, ModelWaiting."""
        code = turn.control.get("code")
        if code is not None and not turn.control.get("answer"):
            return "GENERATING_CODE"  # debugging is done, but the step that needs the code is not
        if turn.control.get("given_up") and not turn.control.get("answer"):
            raise Failed(
                turn.control["given_up"]
            )  # the failure was not in a step of a plan, so no run handles it
        self.close()
        given = {**(turn.control.get("answer") or {}), **(turn.control.get("answers") or {})}
        driven = turn.world.drive(_known(turn), given)
        provenance.of_run(turn, _known(turn), "what this task's run brought")
        turn.control["driven"] = {"steps": driven.steps, "seconds": driven.seconds}
        turn.control["answer"] = {}
        return _came_to(turn, driven)

    def close(self) -> None:
        """Gives back the runs whose steps were performed elsewhere."""
        while self._steppers:
            self._steppers.popitem()[1].close()

    def _stepper(self, turn: Turn) -> Stepper:
        run = turn.control.get("run")
        if run is None:
            raise Failed("no plan is on the stack")
        if run not in self._steppers:
            self._steppers[run] = Stepper(turn.world.take(run))
        return self._steppers[run]

    def _ended(self, turn: Turn, stepper: Stepper) -> str:
        turn.state.plan_stack = []
        turn.control["driven"] = {"steps": stepper.state.steps}
        stop = stepper.stop
        self.close()
        if stop is not None:
            raise Failed(f"{stop.message} ({stop.path}:{stop.line})")
        return "FINALIZING"


def _came_to(turn: Turn, driven: Driven) -> str:
    if driven.status == "finished":
        turn.state.plan_stack = []
        return "FINALIZING"
    if driven.kind in _EXHAUSTED:
        raise RunStands(
            f"{driven.why}; `fdc resume {_known(turn)} --budget MEASURE=NUMBER` continues with a larger budget",
            "budget",
        )
    if driven.status == "stopped":
        raise Failed(f"{driven.why} ({driven.where})" if driven.where else driven.why)
    turn.state.plan_stack = _drawn(turn)
    if driven.status == "waiting":
        asked = next(
            (
                question
                for question in driven.questions
                if question["tool"] == "generate_code" and question["how"] == "answer"
            ),
            None,
        )
        if asked is not None:
            turn.control.update(
                code=coding.wanted(turn, asked["address"], asked["args"]), answer={}
            )
            return "GENERATING_CODE"
        raise ModelWaiting(
            "; ".join(f"{question['address']}: {question['text']}" for question in driven.questions)
        )
    raise RunStands(driven.why or f"the run was {driven.status}", driven.status)


def _drawn(turn: Turn) -> list[PlanContext]:
    from ...engine.fold import fold

    return stack_of(fold(*turn.world.peek(_known(turn))))


def _known(turn: Turn) -> str:
    run = turn.control.get("run")
    if not isinstance(run, str):
        raise Failed("no plan is on the stack")
    return run


def _result(given: Any) -> StepResult:
    """What an outsider says of a step, as a value or a failure; nothing that failed is recorded as a success (T-23)."""
    if isinstance(given, StepResult):
        return given
    if isinstance(given, BaseException):
        return StepResult(error=f"{type(given).__name__}: {given}")
    if isinstance(given, str) and given.startswith("failed: "):
        return StepResult(error=given.removeprefix("failed: "))
    if isinstance(given, Mapping):
        status = str(given.get("status", "")).upper()
        if given.get("error") or status in ("FAILURE", "FAILED", "ERROR"):
            return StepResult(
                error=str(given.get("error") or given.get("message") or "the step failed")
            )
    return StepResult(given)
