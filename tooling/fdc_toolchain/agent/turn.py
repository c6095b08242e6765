"""One handler's turn at a task: the state, the controller's own notes, the world, the model, agent or person, the log."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..engine.ports import WorldFailed
from ..named_tuples import NamedTuple
from .model_port import ModelFailed, ModelPort
from .state import AgentState
from .world import Logger, World


class Failed(Exception):
    """The turn failed; the message is the reason, and the task goes to ERROR."""


class Turn(NamedTuple):
    """What a handler works with. `control` is a JSON object that is saved with the state."""

    task: str
    state: AgentState
    control: dict[str, Any]
    world: World
    model: ModelPort
    logger: Logger | None

    def log(
        self,
        phase: int,
        action: str,
        details: Mapping[str, object],
        status: str = "SUCCESS",
        message: str = "",
        *,
        error: str | None = None,
        step: str | None = None,
        evidence: str = "",
    ) -> None:
        """Adds a line about this task to the log; where there is a plan under way, with its stack."""
        if self.logger is None:
            return
        stack = [context._asdict() for context in self.state.plan_stack]
        context = {"plan_execution_stack": stack} if stack else None
        self.logger.log(
            f"Phase {phase}",
            self.task,
            step,
            action,
            details,
            status,
            message,
            error,
            evidence,
            context,
        )


def reason(failed: Exception) -> str:
    """Why a turn failed, as text; an unexpected exception is called a bug."""
    if isinstance(failed, OSError):
        return f"{failed.strerror or failed}" + (f" ({failed.filename})" if failed.filename else "")
    if isinstance(failed, (Failed, ModelFailed, WorldFailed, ValueError)):
        return str(failed)
    return f"{type(failed).__name__}: {failed}; this is a bug of fdc, please report it"
