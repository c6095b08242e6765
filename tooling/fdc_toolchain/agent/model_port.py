"""What the master controller needs of the model, agent or person: a model, another agent, or a person.

    reply = port.complete("coder", messages, schema)

The adapter of a real model, and the one that waits for a person or another agent, live elsewhere;
`testing.ScriptedModel` answers from a list.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Protocol, TypedDict


class Message(TypedDict):
    """One turn: `role` is `system`, `user` or `assistant`."""

    role: str
    content: str


Why = Literal["answer", "approval", "budget", "interrupted", "broken"]
"""Who has to act: the one who answers, approves, gives more budget, resumes what was interrupted or what the world broke off."""


class ModelWaiting(Exception):
    """No one has answered yet; the message says where the answer is awaited. Ask again later."""

    why: Why = "answer"


class RunStands(ModelWaiting):
    """A run that cannot go on by itself; `why` says who has to act."""

    def __init__(self, message: str, why: Why) -> None:
        super().__init__(message)
        self.why = why


class ModelFailed(Exception):
    """There will be no answer, or none that fits the schema; the message says why."""


class Malformed(ModelFailed):
    """There was an answer, and it does not fit the schema: the model or person that answers may do better the next time."""


class ModelPort(Protocol):
    """The model or person that answers. The same request, asked again after a crash, may be answered again."""

    def complete(
        self, role: str, messages: Sequence[Message], schema: dict[str, Any]
    ) -> dict[str, Any]:
        """A reply that fits the JSON Schema.

        `role` is who is asked (`planner`, `coder`, `debugger`, `analyst`), for settings by role.
        Raises ModelWaiting or ModelFailed.
        """


def validated(reply: Any, schema: dict[str, Any]) -> dict[str, Any]:
    """The reply, if it fits. Raises Malformed, naming every place where it does not."""
    from jsonschema import Draft202012Validator

    wrong = sorted(Draft202012Validator(schema).iter_errors(reply), key=lambda one: one.json_path)
    if wrong:
        said = "; ".join(f"{one.json_path}: {one.message}" for one in wrong[:5])
        raise Malformed(f"the reply does not follow its schema: {said[:600]}")
    if not isinstance(reply, dict):
        raise Malformed("the reply is not a JSON object")
    return reply
