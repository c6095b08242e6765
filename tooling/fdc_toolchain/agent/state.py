"""The state of one task in the master controller, as a value that can be saved and read back (FDC-105).

The stack in it is a picture for its reader: the journal of the run has the truth, and `stepping`
draws the picture anew from there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..named_tuples import NamedTuple
from ..tasks.activity import task_id_of


class PlanContext(NamedTuple):
    """One plan on the stack: its instruction under way (the first is 0) and how many it has."""

    plan_path: str
    current_step: int
    plan_length: int


class Command(NamedTuple):
    """The step that is next: a tool, its arguments by name, and where the plan says so."""

    tool_name: str
    args: dict[str, Any]
    address: str
    plan_path: str
    line: int


class StepResult(NamedTuple):
    """The outcome of a step: its value, or why it failed."""

    value: Any = None
    error: str | None = None


_TEXTS = ("plan_path", "vm_capability_report", "draft_postmortem_path", "final_report", "error")


@dataclass(slots=True)
class AgentState:
    """A task on its way through the controller.

    `task` is what was asked, or just the task's id. `task_id` names it in the log and in file names;
    it follows from `task` unless it is given, and is not a key of the saved form.
    """

    task: str
    plan_path: str | None = None
    plan_stack: list[PlanContext] = field(default_factory=list)
    messages: list[dict[str, str]] = field(default_factory=list)
    orientation_complete: bool = False
    vm_capability_report: str | None = None
    research_findings: dict[str, Any] = field(default_factory=dict)
    draft_postmortem_path: str | None = None
    final_report: str | None = None
    error: str | None = None
    task_id: str = ""

    def __post_init__(self) -> None:
        self.task_id = self.task_id or task_id_of(self.task)

    def say(self, role: str, content: str) -> None:
        """Adds a message that the planner or analyst is to see."""
        self.messages.append({"role": role, "content": content})

    def to_json(self) -> dict[str, object]:
        """The state with exactly the keys of FDC-105; `json.dumps` takes it."""
        return {
            "task": self.task,
            "plan_path": self.plan_path,
            "plan_stack": [context._asdict() for context in self.plan_stack],
            "messages": [dict(message) for message in self.messages],
            "orientation_complete": self.orientation_complete,
            "vm_capability_report": self.vm_capability_report,
            "research_findings": self.research_findings,
            "draft_postmortem_path": self.draft_postmortem_path,
            "final_report": self.final_report,
            "error": self.error,
        }

    @classmethod
    def from_json(cls, data: object, task_id: str = "") -> AgentState:
        """The state that `to_json` wrote. Raises ValueError for anything else, naming what is wrong."""
        if not isinstance(data, Mapping):
            raise ValueError("the agent's state is not a JSON object")
        known = cls("x").to_json().keys()
        for key in data:
            if key not in known:
                raise ValueError(f"the agent's state has the unknown key `{key}`")
        for key in known:
            if key not in data:
                raise ValueError(f"the agent's state has no `{key}`")
        if not isinstance(data["task"], str) or not isinstance(data["orientation_complete"], bool):
            raise ValueError(
                "the agent's state: `task` is a text, `orientation_complete` true or false"
            )
        for key in _TEXTS:
            if data[key] is not None and not isinstance(data[key], str):
                raise ValueError(f"the agent's state: `{key}` is a text or null")
        if not isinstance(data["research_findings"], dict):
            raise ValueError("the agent's state: `research_findings` is an object")
        return cls(
            data["task"], data["plan_path"], _stack(data["plan_stack"]), _messages(data["messages"]),
            data["orientation_complete"], data["vm_capability_report"], dict(data["research_findings"]),
            data["draft_postmortem_path"], data["final_report"], data["error"], task_id,
        )  # fmt: skip


def _stack(rows: Any) -> list[PlanContext]:
    try:
        stack = [
            PlanContext(row["plan_path"], row["current_step"], row["plan_length"]) for row in rows
        ]
    except (TypeError, KeyError) as wrong:
        raise ValueError(
            "the agent's state: `plan_stack` lists plan_path, current_step, plan_length"
        ) from wrong
    for row in stack:
        if (
            not isinstance(row.plan_path, str)
            or type(row.current_step) is not int
            or type(row.plan_length) is not int
        ):
            raise ValueError(
                "the agent's state: `plan_stack` lists a path and two whole numbers a plan"
            )
    return stack


def _messages(rows: Any) -> list[dict[str, str]]:
    if not isinstance(rows, list) or not all(
        isinstance(row, dict) and all(isinstance(part, str) for part in row.values())
        for row in rows
    ):
        raise ValueError("the agent's state: `messages` is a list of objects of texts")
    return [dict(row) for row in rows]
