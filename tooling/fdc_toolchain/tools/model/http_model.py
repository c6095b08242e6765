"""A language model behind an HTTP server (design 9): the Messages API, or the API of OpenAI that many servers speak.

    model = HttpModel(Choice("claude-sonnet-5"))
    reply = model.ask(Question("explorer", "You search code.", "Where is X?", schema))

The name says which: `openai:NAME` is asked of the server at OPENAI_BASE_URL, every other name of the one at
ANTHROPIC_BASE_URL. Addresses and keys come from the environment only, since a workspace must not choose where a key goes.
A schema goes to the server, and in words too, because many servers ignore it; the reply is validated here, and one that does
not fit is put back to the model a bounded number of times, then is a failure.

Trouble that passes (busy, broken line) is tried again with growing pauses, then raised as
WorldFailed: the run stops and can be resumed. Nothing of the key is in any message or note.
"""

from __future__ import annotations

import json
import random
import threading
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from ...engine.ports import WorldFailed
from ...text.whole import whole
from ...workspace.failure import ToolFailure
from ...workspace.secrets.scrubber import Scrubber
from .deadline import in_time
from .json_reply import fitting
from .prices import price
from .question import Choice, Question, Reply
from .servers import known_by
from .wire import MOST_SAID, Hear, Passing, Refused, Request, Said, Server

_LEAST = 64
_TIGHT = 2048
"""Tokens of room for a reply below which the server is asked to count the input: bytes are more than there are tokens."""
_UNSEEN = 1024
"""The maximum number of tokens that a server adds to a question."""


class HttpModel:
    """The model port. One client a protocol, used by several threads; `hear` is told the text as it comes."""

    def __init__(
        self,
        choice: Choice,
        roles: Mapping[str, Choice] | None = None,
        *,
        hear: Hear | None = None,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self._choice = choice
        self._roles = dict(roles or {})
        self.hear = hear
        self.pause = pause
        self._servers: dict[type[Server], Server] = {}
        self._making = threading.Lock()
        self.without: set[tuple[str, str]] = set()
        """What a model's server does not support: temperature, or a schema."""
        self.secrets = Scrubber()

    def choice(self, role: str) -> Choice:
        """The settings of a role."""
        return self._roles.get(role, self._choice)

    def choices(self) -> list[Choice]:
        """All settings that questions may use."""
        return [self._choice, *self._roles.values()]

    def ask(self, question: Question) -> Reply:
        """The answer. Raises ToolFailure (`refusal`, `reply`, `budget`, `model`) and WorldFailed. No secret is asked."""
        clean = self.secrets.text
        question = question._replace(
            system=clean(question.system),
            text=clean(question.text),
            kept=tuple(map(clean, question.kept)),
        )
        return _Dialogue(self, question, self.choice(question.role)).run()

    def server(self, model: str) -> Server:
        """The adapter for a model. Raises WorldFailed if its SDK or the key is missing."""
        kind = known_by(model)
        with self._making:
            if kind not in self._servers:
                self._servers[kind] = kind()
            return self._servers[kind]

    def close(self) -> None:
        """Closes the connections; a question that is asked later opens new ones."""
        with self._making:
            for server in self._servers.values():
                server.close()
            self._servers.clear()


class _Dialogue:
    """One question, with the turns that correct its reply."""

    def __init__(self, model: HttpModel, question: Question, choice: Choice) -> None:
        self.model = model
        self.question = question
        self.choice = choice
        self.used = {"input": 0, "output": 0, "cache_read": 0, "cache_write": 0}
        self.calls = 0
        self.notes: dict[str, Any] = {"model": choice.model, "role": question.role}
        if question.temperature is not None:
            self.notes["temperature"] = question.temperature

    def run(self) -> Reply:
        schema = self.question.schema
        system = self.question.system
        if schema is not None:
            wanted = json.dumps(schema, indent=1, sort_keys=True, ensure_ascii=False)
            system = f"{system}\n\nReply with one JSON value and nothing else. It must follow this JSON Schema:\n{wanted}".strip()
        kept = tuple(piece for piece in self.question.kept if piece.strip())
        request = Request(system, kept, (self.question.text,), schema, self.question.temperature)
        turns = self.choice.repairs + 1
        if self.question.calls is not None:
            turns = min(turns, max(1, self.question.calls))
        for turn in range(turns):
            text, why = self._turn(request)
            if schema is None:
                if why:
                    raise self._failed("reply", why)
                return self._reply(text)
            value, wrong = (None, why) if why else fitting(text, schema)
            if not wrong:
                return self._reply(value)
            if turn == turns - 1:
                raise self._failed(
                    "reply", f"the model's reply does not have the requested form: {wrong}"
                )
            self.notes["repairs"] = turn + 1
            again = f"That reply cannot be used: {wrong}\nReply again with the JSON value alone."
            request = request._replace(turns=(*request.turns, text or "(nothing)", again))
        raise AssertionError("the last turn returns or raises")

    def _turn(self, request: Request) -> tuple[str, str]:
        """One turn: the text, and why it cannot be used."""
        said = self._attempts(request)
        said = said._replace(text=whole(said.text))
        self.calls += 1
        for kind, number in said.used.items():
            self.used[kind] += number
        if said.request:
            self.notes.setdefault("requests", []).append(said.request[:80])
        if said.reckoned:
            self.notes["usage"] = "estimated: the server does not report it"
        if said.end == "refusal":
            raise self._failed("refusal", "the model refused to answer")
        if said.end == "length":
            cut = "it was cut off at the maximum number of tokens; write a shorter reply"
            return said.text, cut
        return said.text, "" if said.text.strip() else "it is empty"

    def _room(self, request: Request) -> int:
        """The tokens that this turn's reply may have, so that all turns stay below the ceiling.

        A token is a byte at least, so the input has no more tokens than bytes. Only where that leaves too little the server
        is asked to count.
        """
        most = self.choice.max_tokens
        if self.question.tokens is None:
            return most
        left = self.question.tokens - sum(self.used.values())
        room = left - request.size() - _UNSEEN
        if room < min(most, _TIGHT):
            counted = self.model.server(self.choice.model).count(self.choice, request)
            room = max(room, left - counted) if counted is not None else room
        if room < _LEAST:
            message = f"{self.question.tokens} tokens are reserved for the question, which leaves none for a reply"
            raise self._failed("budget", message)
        return min(room, most)

    def _attempts(self, request: Request) -> Said:
        """The answer, after retries for temporary failures."""
        most = self._room(request)
        broken: dict[str, int] = {}
        for attempt in range(1, self.choice.attempts + 1):
            if broken:
                self._lost(broken)
                most = self._room(request)
            try:
                return self._taken(request._replace(most=most), broken)
            except Refused as failed:
                why = self.model.secrets.text(str(failed))
                if failed.status in (401, 403):
                    said = f"the model's server does not accept the key (status {failed.status})"
                    raise WorldFailed(said) from None
                said = f"the model's server refused the request (status {failed.status}): {why[:MOST_SAID]}"
                self.notes["status"] = failed.status
                raise self._failed("model", said) from None
            except ToolFailure as failed:  # a reply that is too long
                self._lost(broken)
                raise self._failed(failed.kind, str(failed)) from None
            except Passing as failed:
                why, wait = self.model.secrets.text(str(failed))[:MOST_SAID], failed.wait
            self.notes["attempts"] = attempt + 1
            if attempt == self.choice.attempts:
                break
            if wait is None:
                wait = random.uniform(0.5, 1.0) * min(
                    self.choice.delay * 2.0**attempt, max(30.0, self.choice.delay)
                )
            self.model.pause(wait)
        raise WorldFailed(
            f"the model {self.choice.model} did not answer in {self.choice.attempts} attempts: {why}"
        )

    def _asked(self, server: Server, request: Request, broken: dict[str, int], hear: Hear) -> Said:
        return server.ask(self.choice, request, hear, broken)

    def _taken(self, request: Request, broken: dict[str, int]) -> Said:
        """One attempt. What the server does not take, a temperature (Anthropic's own, from October 2026) or a schema, is left out
        from then on."""
        server, lacks = self.model.server(self.choice.model), self.model.without
        warmth = (self.choice.model, "temperature")
        form = (self.choice.model, json.dumps(request.schema, sort_keys=True))
        while True:
            if warmth in lacks:
                request = request._replace(temperature=None)
            if form in lacks:
                request = request._replace(schema=None)
            try:
                said = in_time(
                    self.choice.seconds,
                    self.model.hear,
                    partial(self._asked, server, request, broken),
                )
                break
            except Refused as failed:
                if failed.status not in (400, 422):
                    raise
                if request.temperature is not None and "temperature" in str(failed):
                    lacks.add(warmth)
                elif request.schema is not None:
                    lacks.add(form)
                else:
                    raise
        warm = self.question.temperature
        if warm is not None and request.temperature is None:
            self.notes["temperature"] = f"{warm:g}, which the server does not accept"
        return said

    def _lost(self, broken: dict[str, int]) -> None:
        """Counts an incomplete answer, because it costs money too."""
        for kind, number in broken.items():
            self.used[kind] += number
        broken.clear()

    def _usage(self) -> dict[str, float]:
        usage: dict[str, float] = {"model_calls": self.calls, "tokens": sum(self.used.values())}
        cost = price(self.choice.model, self.used)
        if cost is not None:
            usage["money"] = cost
        return usage

    def _reply(self, value: Any) -> Reply:
        return Reply(value, self._usage(), self.notes)

    def _failed(self, kind: str, why: str) -> ToolFailure:
        return ToolFailure(kind, why, self._usage(), self.notes)
