"""The port through which the master controller asks a model, another agent, or a person.

    reply = port.complete("coder", messages, schema)

The adapter of a real model, and the one that waits for a person or another agent, live elsewhere;
`testing.ScriptedModel` answers from a list.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, Protocol, TypedDict


class Message(TypedDict):
    """One turn: `role` is `system`, `user` or `assistant`."""

    role: str
    content: str


Why = Literal["answer", "approval", "budget", "interrupted", "broken"]
"""The required action: an answer, an approval, a larger budget, or resuming after an interruption or a failure."""


class ModelWaiting(Exception):
    """The answer does not exist yet; the message says where it is expected. Ask again later."""

    why: Why = "answer"


class RunStands(ModelWaiting):
    """A run that cannot continue by itself; `why` says who must act."""

    def __init__(self, message: str, why: Why) -> None:
        super().__init__(message)
        self.why = why


class ModelFailed(Exception):
    """There will be no valid answer; the message says why."""


class Malformed(ModelFailed):
    """The answer does not fit the schema; another attempt may."""


class ModelPort(Protocol):
    """The model or person that answers. The same request, asked again after a crash, may be answered again."""

    def complete(
        self, role: str, messages: Sequence[Message], schema: Mapping[str, object]
    ) -> dict[str, object]:
        """A reply that fits the JSON Schema.

        `role` is who is asked (`planner`, `coder`, `debugger`, `analyst`), for settings by role.
        Raises ModelWaiting or ModelFailed.
        """


def validated(reply: object, schema: Mapping[str, object]) -> dict[str, object]:
    """The reply, if it fits the schema. Raises Malformed with every error."""
    from jsonschema import Draft202012Validator

    wrong = sorted(Draft202012Validator(schema).iter_errors(reply), key=lambda one: one.json_path)
    if wrong:
        said = "; ".join(f"{one.json_path}: {one.message}" for one in wrong[:5])
        raise Malformed(f"the reply does not follow its schema: {said[:600]}")
    if not isinstance(reply, dict):
        raise Malformed("the reply is not a JSON object")
    return reply
