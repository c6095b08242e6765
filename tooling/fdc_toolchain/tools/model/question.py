"""What a model is asked, with which settings, and what it answers: the words of the model port."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...named_tuples import NamedTuple


class Choice(NamedTuple):
    """Which model, and how it is asked. `effort`: low to max, where the model has it; `repairs`: turns to mend a reply.
    `seconds`: how long one attempt may take until all of its answer is there.
    `delay`: seconds that the first pause before another attempt is made of; each further one is twice as long."""

    model: str
    max_tokens: int = 8192
    effort: str = ""
    seconds: float = 600.0
    attempts: int = 5
    repairs: int = 1
    delay: float = 0.5


class Question(NamedTuple):
    """What is asked: who answers (`role`), what they are told to be, the question, the JSON Schema of the reply or None.

    `tokens` is the most that all turns together may use, `calls` the most turns; None for no ceiling.
    `temperature`: how warm the reply is to be; None leaves it to the server.
    """

    role: str
    system: str
    text: str
    schema: Mapping[str, Any] | None = None
    tokens: int | None = None
    calls: int | None = None
    temperature: float | None = None
    kept: tuple[str, ...] = ()
    """What stands before `text`, in pieces; the next question of its kind begins with the same pieces."""


class Reply(NamedTuple):
    """The answer (text, or the JSON value that the schema asks for), what it cost, remarks for the journal."""

    value: Any
    usage: dict[str, float]
    notes: dict[str, Any]
