"""A model behind an OpenAI-API server that writes plans: held to the grammar of the workspace where the server can.

It is asked as `tools.model.messages_api.MessagesModel` is. OPENAI_BASE_URL names the server and OPENAI_API_KEY is its key;
both come from the environment only, since a workspace must not choose where a key goes.
"""

from __future__ import annotations

import http.client
import json
import os
import random
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from typing import NamedTuple

from ..engine.ports import WorldFailed
from ..exits import UsageError
from ..tools.model.json_reply import fitting
from ..tools.model.question import Choice, Question, Reply
from ..tools.model.wire import MAX_REPLY
from ..workspace.failure import ToolFailure
from ..workspace.secrets.scrubber import Scrubber

Body = dict[str, object]


class Way(NamedTuple):
    """How a server is made to keep to a form: its name for people, and what it adds to a request."""

    name: str
    held: bool
    more: Callable[[Question], Body]


class Served:
    """Asks the server. `grammar` gives the grammar in a notation; the replies to it are plans, `{"plan": TEXT}`."""

    def __init__(
        self,
        address: str,
        key: str,
        choice: Choice,
        grammar: Callable[[str], str],
        *,
        secrets: Scrubber | None = None,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self._address = address.rstrip("/")
        self._key = key
        self._choice = choice
        self._grammar = grammar
        self._secrets = secrets or Scrubber()
        self._pause = pause
        self._ways: list[Way] = []

    def choice(self, role: str) -> Choice:
        """The settings, the same for every role."""
        return self._choice

    def ask(self, question: Question) -> Reply:
        """The answer. Raises ToolFailure (`reply`, `budget`, `model`) and WorldFailed. No secret is asked."""
        words = [("system", question.system), ("user", question.text)]
        turns = [
            {"role": role, "content": self._secrets.text(text)} for role, text in words if text
        ]
        body: Body = {
            "model": self._choice.model, "messages": turns, "max_tokens": self._room(question, turns),
        }  # fmt: skip
        if question.temperature is not None:
            body["temperature"] = question.temperature
        self._ways = self._ways or self._known()
        while True:
            way = self._ways[0]
            status, said = self._post({**body, **way.more(question)})
            if status == 200:
                return self._reply(said, way, question)
            if status not in (400, 422) or len(self._ways) == 1:
                why = (
                    f"the model's server refused the request (status {status}): {self._short(said)}"
                )
                raise ToolFailure("model", why)
            del self._ways[0]  # the server does not know this one

    def _room(self, question: Question, turns: list[dict[str, str]]) -> int:
        """The most tokens of the answer. A token of the question is a byte at least."""
        if question.tokens is None:
            return self._choice.max_tokens
        left = question.tokens - sum(len(turn["content"].encode()) + 16 for turn in turns)
        if left < 64:
            why = f"{question.tokens} tokens were set aside for the question, and it leaves no room for a reply"
            raise ToolFailure("budget", why)
        return min(left, self._choice.max_tokens)

    def _known(self) -> list[Way]:
        """What this server can be asked for, the strictest first."""
        root = self._address.removesuffix("/v1")
        props, version = self._get(f"{root}/props"), self._get(f"{root}/version")
        if "default_generation_settings" in props:
            parametric = "%llguidance {}\n"
            ways = [
                Way("llama.cpp, llguidance", True, lambda _: {"grammar": parametric + self._grammar("llguidance")}),
                Way("llama.cpp, GBNF", True, lambda _: {"grammar": self._grammar("gbnf")}),
            ]  # fmt: skip
        elif isinstance(number := version.get("version"), str):
            old = tuple(int(part) for part in number.split(".")[:2] if part.isdigit()) < (0, 11)

            def vllm(form: str) -> Callable[[Question], Body]:
                def more(_: Question) -> Body:
                    text = self._grammar(form)
                    return (
                        {"guided_grammar": text}
                        if old
                        else {"structured_outputs": {"grammar": text}}
                    )

                return more

            ways = [
                Way("vLLM, llguidance", True, vllm("llguidance")),
                Way("vLLM, GBNF", True, vllm("gbnf")),
            ]
        else:
            ways = []
        return [
            *ways,
            Way("a strict schema", False, _strict),
            Way("no form", False, lambda _: {}),
        ]

    def _reply(self, said: str, way: Way, question: Question) -> Reply:
        try:
            found = json.loads(said)
            choice = found["choices"][0]
            text = str(choice["message"]["content"] or "")
            used = dict(found.get("usage") or {})
            tokens = int(used.get("prompt_tokens", 0)) + int(used.get("completion_tokens", 0))
        except (ValueError, LookupError, TypeError, RecursionError, OverflowError) as none:
            raise WorldFailed(
                f"the model's server gave no answer of the OpenAI API: {none}"
            ) from None
        usage = {"model_calls": 1.0, "tokens": float(tokens)}
        notes = {"model": self._choice.model, "role": question.role, "form": way.name}
        if choice.get("finish_reason") == "length":
            why = f"it was cut off after {used.get('completion_tokens', 'all its')} tokens: say it in fewer words"
            raise ToolFailure("reply", why, usage, notes)
        if way.held:
            return Reply({"plan": text}, usage, notes)
        if question.schema is None:
            return Reply(text, usage, notes)
        value, fault = fitting(text, question.schema)
        if fault:
            why = f"the model's reply is not what was asked for: {fault}"
            raise ToolFailure("reply", why, usage, notes)
        return Reply(value, usage, notes)

    # ---- the line ----------------------------------------------------------------------

    def _post(self, body: Body) -> tuple[int, str]:
        """Status and text of the answer, after as many attempts as trouble that passes makes necessary."""
        base = self._address if self._address.endswith("/v1") else f"{self._address}/v1"
        why = ""
        for attempt in range(1, self._choice.attempts + 1):
            try:
                status, said = self._send(f"{base}/chat/completions", body, self._choice.seconds)
            except OSError as wrong:
                why = str(wrong)
            else:
                if status in (401, 403):
                    raise WorldFailed(
                        f"the model's server does not accept the key (status {status})"
                    )
                if status not in (408, 409, 425, 429) and status < 500:
                    return status, said
                why = f"status {status}: {self._short(said)}"
            if attempt < self._choice.attempts:
                self._pause(random.uniform(0.5, 1.0) * min(self._choice.delay * 2.0**attempt, 30.0))
        raise WorldFailed(
            f"the model {self._choice.model} did not answer in {self._choice.attempts} attempts: {why}"
        )

    def _short(self, said: str) -> str:
        """What a server said, for a message: some send the key back."""
        clean = self._secrets.text(said)
        return (clean.replace(self._key, "[key]") if self._key else clean)[:300]

    def _get(self, address: str) -> Mapping[str, object]:
        """The JSON object at an address; empty where there is none."""
        try:
            status, said = self._send(address, None, 10.0)
            found = json.loads(said) if status == 200 else {}
        except (OSError, ValueError, RecursionError):
            return {}
        return found if isinstance(found, dict) else {}

    def _send(self, address: str, body: Body | None, seconds: float) -> tuple[int, str]:
        head = {"Content-Type": "application/json"}
        if self._key:
            head["Authorization"] = f"Bearer {self._key}"
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(address, data, head)
        try:
            with _OPENER.open(request, timeout=seconds) as answer:
                read = answer.read(MAX_REPLY + 1)
        except urllib.error.HTTPError as refused:
            with refused:
                return refused.code, refused.read(4000).decode("utf-8", "replace")
        except http.client.HTTPException as wrong:  # what it says is no HTTP
            raise OSError(f"{type(wrong).__name__}: {str(wrong)[:300]}") from None
        if len(read) > MAX_REPLY:
            raise ToolFailure("reply", f"the model's reply has more than {MAX_REPLY} bytes")
        return 200, read.decode("utf-8", "replace")


class _Stay(urllib.request.HTTPRedirectHandler):
    """A redirect is an answer: the key goes to the server that was named."""

    def redirect_request(self, *_: object, **__: object) -> None:
        return None


_OPENER = urllib.request.build_opener(_Stay)


def _strict(question: Question) -> Body:
    """Structured output, where the question asks for it."""
    if question.schema is None:
        return {}
    schema = {"name": "reply", "strict": True, "schema": dict(question.schema)}
    return {"response_format": {"type": "json_schema", "json_schema": schema}}


def served(root: str, name: str, grammar: Callable[[str], str]) -> Served | None:
    """The model behind OPENAI_BASE_URL; None where that is not set. Raises UsageError for an address that is none."""
    address = os.environ.get("OPENAI_BASE_URL", "")
    if not address:
        return None
    if not address.startswith(("http://", "https://")):
        raise UsageError("OPENAI_BASE_URL is no address that begins with http:// or https://")
    from ..runs.cost.models import model_for
    from ..workspace.secrets.values import values_of

    asked = model_for(root, name or "default")
    assert asked is not None
    secrets = Scrubber(more=lambda: values_of(root))
    key = os.environ.get("OPENAI_API_KEY", "").strip()
    if not (key.isascii() and key.isprintable()):
        raise UsageError("OPENAI_API_KEY holds characters that no key has")
    return Served(address, key, asked.choice("planner"), grammar, secrets=secrets)
