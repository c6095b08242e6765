"""Where plans come from: a file that another agent writes, or a model. Both are judged before the controller is (FDC-03).

A version that the linter refuses goes back to its author with the findings, a bounded number of times. What
was refused, and how often, is in the controller's notes, so that a resumed task goes on counting.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from .. import durable
from . import planning, provenance
from .master_control import MasterControlGraph
from .model_port import Malformed, Message, ModelPort, validated
from .prompts import prompt
from .state import AgentState

PLAN_REPLY: dict[str, Any] = {
    "type": "object",
    "required": ["plan"],
    "additionalProperties": False,
    "properties": {"plan": {"type": "string", "minLength": 1}},
}


class PlanFile:
    """Looks at a file until it holds a plan that can be proved, or a request for research.

    `path` is relative to the workspace. `seconds` is how long to wait for each version; `attempts`, how many
    versions may be refused. `told` hears what goes on. `other`: whose plan the file still holds, in words, by the hash of
    its text; None where it is new.
    """

    def __init__(
        self,
        graph: MasterControlGraph,
        root: str,
        path: str,
        *,
        seconds: float,
        attempts: int,
        told: Callable[[str], None],
        pause: Callable[[float], None],
        now: Callable[[], float],
        other: Callable[[str], str | None],
    ) -> None:
        self._graph = graph
        self._root = root
        self._path = path
        self._file = os.path.join(root, *path.split("/"))
        self._seconds = seconds
        self._attempts = attempts
        self._told = told
        self._pause = pause
        self._now = now
        self._other = other
        self._old = ""  # whose plan the file holds

    @property
    def by(self) -> str:
        """The author of the plans, known only by the file."""
        return f"the author of {self._path}"

    @property
    def findings(self) -> str:
        """Where the findings of a refused version are written, relative to the workspace."""
        stem, dot, _ = self._path.rpartition(".")
        return f"{stem if dot and '/' not in _ else self._path}.findings.txt"

    def __call__(self, state: AgentState) -> str | None:
        """The plan's text, or None after the time limit. The last version that may be refused is passed on unchanged."""
        notes = self._graph.notes(state)
        state.plan_path = self._path
        if notes.get("request"):
            return str(notes["request"])
        deadline = self._now() + self._seconds
        said = False
        while True:
            data = durable.read(self._file, limit=16 * 1024 * 1024)
            digest = None if data is None else hashlib.sha256(data).hexdigest()
            self._old = self._other(digest) or "" if digest else ""
            seen = notes.get("seen_plans")
            fresh = not isinstance(seen, list) or digest not in seen
            if data is not None and not self._old and fresh:
                text = data.decode("utf-8", "replace")
                judged = self._judge(state, notes, text, str(digest))
                if judged:
                    return text
                deadline = self._now() + self._seconds
                said = False
            if self._now() >= deadline:
                self._graph.waiting = self._awaited(notes)
                return None
            if not said:
                self._told(self._awaited(notes))
                said = True
            self._pause(0.2)

    def _awaited(self, notes: dict[str, Any]) -> str:
        if self._old:
            return (
                f"waiting for a new {self._path}: it holds the plan of {self._old}"
                f" (`touch {self._path}` gives that plan to this task, too)"
            )
        if notes.get("seen_plans"):
            return f"waiting for a new version of {self._path}"
        return f"waiting for {self._path} (`fdc draft` writes a skeleton of a plan)"

    def _judge(self, state: AgentState, notes: dict[str, Any], text: str, digest: str) -> bool:
        """Whether to pass this version to the controller."""
        wanted = planning.research_request(text) is not None
        compiled = planning.compile_text(self._root, self._path, text)
        if wanted:  # delete it: it is not a plan, and research must not find it as a document
            notes["request"] = text
            self._graph.save(state)
            with suppress(FileNotFoundError):
                os.unlink(self._file)
        if wanted or compiled.program is not None:
            with suppress(FileNotFoundError):
                os.unlink(os.path.join(self._root, *self.findings.split("/")))
            return True
        notes["seen_plans"] = [*notes.get("seen_plans", []), digest]
        notes["refused_plans"] = int(notes.get("refused_plans", 0)) + 1
        durable.replace(
            os.path.join(self._root, *self.findings.split("/")),
            compiled.findings.encode("utf-8", "replace"),
        )
        self._graph.save(state)
        self._told(compiled.findings.rstrip("\n"))
        left = self._attempts - notes["refused_plans"]
        if left <= 0:
            return True
        self._told(
            f"{self._path} is refused; the findings are in {self.findings}; {left} more {'try' if left == 1 else 'tries'}"
        )
        return False


class ModelPlanner:
    """Asks a model for the plan; findings go back to it, `attempts` versions at most. Raises as the model does."""

    def __init__(
        self,
        graph: MasterControlGraph,
        model: ModelPort,
        root: str,
        path: str,
        *,
        attempts: int,
        tools: tuple[str, ...] = (),
        name: str = "a model",
    ) -> None:
        self.by = name
        self._graph = graph
        self._model = model
        self._root = root
        self._path = path
        self._attempts = attempts
        self._tools = tools

    def __call__(self, state: AgentState) -> str | None:
        """The plan's text; the last version that may be refused is passed on unchanged."""
        notes = self._graph.notes(state)
        state.plan_path = self._path
        waits = provenance.held(notes, "plan") or provenance.held(notes, "request")
        if waits is not None:
            return str(waits["text"])  # do not ask again while a person checks its text
        declined = provenance.declined(notes, "plan", "request")
        findings = (
            "" if declined is None else f"{declined.rstrip()}\n\nA person did not approve this.\n"
        )
        while True:
            asked = prompt(
                "planner", task=state.task, task_id=state.task_id, tools=self._tools,
                notes=[message["content"] for message in state.messages], findings=findings,
                outside=bool(provenance.seen(notes)),
            )  # fmt: skip
            messages: list[Message] = [{"role": "user", "content": asked}]
            try:
                reply = validated(self._model.complete("planner", messages, PLAN_REPLY), PLAN_REPLY)
            except Malformed as failed:
                if not self._again(notes):
                    raise
                findings = f"{failed}\n"
                continue
            text = str(reply["plan"])
            if planning.research_request(text) is not None:
                return text
            compiled = planning.compile_text(self._root, self._path, text)
            if compiled.program is None:
                findings = f"{text.rstrip()}\n\n{compiled.findings}"
                if self._again(notes):
                    continue
            return text

    def _again(self, notes: dict[str, Any]) -> bool:
        """Counts a version that was refused, and a reply that was none; whether the model is asked for another."""
        notes["refused_plans"] = int(notes.get("refused_plans", 0)) + 1
        return bool(notes["refused_plans"] < self._attempts)
