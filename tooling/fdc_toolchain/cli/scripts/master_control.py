"""`master_control.py`: the controller as a library with real effects, and `fdc agent` as a script."""

from __future__ import annotations

import os

from ...agent import master_control
from ...agent.host.real_world import LocalWorld
from ...agent.model_port import ModelPort, ModelWaiting
from ...agent.state import AgentState, Command, PlanContext, StepResult
from ...linking.project.root import find_root

__all__ = ["AgentState", "Command", "MasterControlGraph", "PlanContext", "StepResult", "main"]


class _Nobody:
    """A model that is missing (port `ModelPort`)."""

    def complete(self, role: str, messages: object, schema: object) -> dict[str, object]:
        """Raises ModelWaiting."""
        raise ModelWaiting(f"the {role} is missing: pass `model` to the controller")


class MasterControlGraph(master_control.MasterControlGraph):
    """The controller of the workspace that the working directory lies in (FDC-86).

    Args:
        fsm_path: the automaton of a task's life; relative to the working directory or the workspace.
        root: the workspace; the nearest one above the working directory otherwise.
        model: who writes code (`agent.model_port.ModelPort`).
        network: `HOST:PORT` that the network probe connects to; `off` tries none.

    Raises:
        ValueError: the automaton is missing or wrong; the message has its path and the reason.
    """

    def __init__(
        self,
        fsm_path: str = "tooling/fsm.json",
        *,
        root: str | None = None,
        model: ModelPort | None = None,
        network: str | None = None,
    ) -> None:
        world = LocalWorld(find_root(os.getcwd()) if root is None else root, network=network)
        super().__init__(fsm_path, world=world, model=model or _Nobody())


def main(argv: list[str] | None = None) -> int:
    """`fdc agent` under its old name; returns the exit code."""
    from ..main import run
    from ..project.agent import command

    return run(argv, command, "master_control")
