"""How the person is asked: a question of a run as a form of the agent's program, and its answer.

Nothing that a model can send is an answer. The form shows all that a person has to see before they answer; a question
that is too long for a form is not asked here, so that no one approves what they were not shown.
"""

from __future__ import annotations

import json
from shlex import quote

from mcp.types import ElicitRequestFormParams, ElicitResult

from .. import api
from .results import shown

MOST_FORM = 6_000  # characters of a form's text
MOST_ANSWER = 4_000


def fillable(question: api.Question) -> bool:
    """Whether an answer to the question is needed, and would settle it."""
    return question.given is None and question.how != "nested"


def form(run: str, question: api.Question) -> ElicitRequestFormParams | None:
    """The form; None where the question does not fit in one.

    Some programs choose the first value in advance, so that Enter sends it: the first one never approves.
    """
    field: dict[str, object]
    if question.how == "assume":
        head = "It is unknown whether this step happened. Look for yourself, then say so."
        field = {"type": "string", "title": "Did it happen?", "enum": ["later", "done", "not-done"]}
    elif question.approval:
        head = "Your approval is asked. The run goes on only if you give it."
        field = {"type": "string", "title": "Do you approve?", "enum": ["later", "no", "yes"]}
    else:
        head = "The plan asks you a question."
        field = {"type": "string", "title": "Your answer"}
        field |= {"minLength": 1, "maxLength": MOST_ANSWER}
    place = (
        f"{question.path}:{question.line} ({question.address}): {' '.join(question.text.split())}"
    )
    screen = question.screen or (place, f"{question.tool} {json.dumps(question.args)}")
    # The question first: programs of agents fold what is long, and show its first lines.
    text = shown("\n".join([*screen, "", f"{head} fdc asks you, and not the agent. Run {run}."]))
    name = _field(question)
    schema = {"type": "object", "properties": {name: field}, "required": [name]}
    if len(text) > MOST_FORM:
        return None
    return ElicitRequestFormParams(message=text, requested_schema=schema)


def _field(question: api.Question) -> str:
    return "happened" if question.how == "assume" else "approve" if question.approval else "answer"


def answer_of(question: api.Question, result: ElicitResult) -> str | None:
    """What the person said; None where they said nothing that can be taken for an answer."""
    if result.action != "accept" or not result.content:
        return None
    said = result.content.get(_field(question))
    if question.how == "assume":
        return said if said in ("done", "not-done") else None
    if question.approval:
        return said if said in ("yes", "no") else None
    return said if isinstance(said, str) and 1 <= len(said) <= MOST_ANSWER else None


def by_hand(run: str, question: api.Question) -> str:
    """The command with which the person answers at their terminal."""
    if question.how == "assume":
        said = (quote(f"{question.address}={word}") for word in ("done", "not-done"))
        return " or ".join(f"fdc resume {run} --assume {word}" for word in said)
    if question.how == "nested":
        return " or ".join(
            f"fdc resume {run} --all --assume {word}" for word in ("done", "not-done")
        )
    return f"fdc answer {run}"
