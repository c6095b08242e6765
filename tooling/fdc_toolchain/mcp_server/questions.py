"""How the person is asked: a question of a run as a form of the agent's program, and its answer.

Nothing that a model can send is an answer. The form shows all that a person has to see before they answer; a question
that is too long for a form is not asked here, so that nobody approves what they were not shown.
"""

from __future__ import annotations

from collections.abc import Mapping
from shlex import quote
from typing import TYPE_CHECKING, Literal

from .. import api
from .results import shown

if TYPE_CHECKING:
    from mcp_types import ElicitResult

MOST_FORM = 6_000
"""Characters of a form's text."""
MOST_ANSWER = 4_000

Said = Literal["done", "not-done"]


def form(run: str, plan: str, question: api.Question) -> str | None:
    """The text of the form; None where the question does not fit in one."""
    screen = question.screen or (
        f"{question.path}:{question.line} ({question.address}): {question.text}",
    )
    if question.how == "assume":
        head = "Nobody knows whether this step happened. Look for yourself, then say so."
    elif question.approval:
        head = "Your approval is asked. The run goes on only if you give it."
    else:
        head = "The plan asks you a question."
    lines = [f"fdc asks you, and not the agent. Run {run} of {plan}.", head, "", *screen]
    text = shown("\n".join(lines))
    return text if len(text) <= MOST_FORM else None


def schema(question: api.Question) -> dict[str, object]:
    """The form's one field. Nothing is chosen in advance."""
    field: dict[str, object]
    if question.how == "assume":
        name, field = (
            "happened",
            {"type": "string", "title": "Did it happen?", "enum": ["done", "not-done"]},
        )
    elif question.approval:
        name, field = "approve", {"type": "boolean", "title": "Do you approve?"}
    else:
        name, field = "answer", {"type": "string", "title": "Your answer", "maxLength": MOST_ANSWER}
    return {"type": "object", "properties": {name: field}, "required": [name]}


def answer_of(question: api.Question, result: ElicitResult) -> str | None:
    """What the person said; None where they said nothing that can be taken for an answer."""
    content = result.content
    if result.action != "accept" or not isinstance(content, Mapping):
        return None
    if question.how == "assume":
        said = content.get("happened")
        return said if said in ("done", "not-done") else None
    if question.approval:
        approved = content.get("approve")
        return None if not isinstance(approved, bool) else "yes" if approved else "no"
    text = content.get("answer")
    return text if isinstance(text, str) and len(text) <= MOST_ANSWER else None


def by_hand(run: str, question: api.Question) -> str:
    """The command with which the person answers at their terminal."""
    if question.how == "assume":
        said = (quote(f"{question.address}={word}") for word in ("done", "not-done"))
        return " or ".join(f"fdc resume {run} --assume {word}" for word in said)
    return f"fdc answer {run}"
