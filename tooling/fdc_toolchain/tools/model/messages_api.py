"""A language model behind the Messages API, by the `anthropic` SDK (design 9).

    model = MessagesModel(Choice("claude-sonnet-5"))
    reply = model.ask(Question("explorer", "You search code.", "Where is X?", schema))

Any server that speaks the Messages API will do: ANTHROPIC_BASE_URL names it, ANTHROPIC_API_KEY is
its key; both come from the environment only, since a workspace must not choose where a key goes.
Structured replies are asked for in words and validated here, because many servers ignore a schema;
a reply that does not fit is put back to the model a bounded number of times, then is a failure.

Trouble that passes (busy, broken line) is tried again with growing pauses, then raised as
WorldFailed: the run stops and can be resumed. Nothing of the key is in any message or note.
"""

from __future__ import annotations

import json
import random
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

from ...engine.ports import WorldFailed
from ...workspace.failure import ToolFailure
from ...workspace.secrets.scrubber import Scrubber
from .json_reply import fitting
from .prices import price
from .question import Choice, Question, Reply
from .server_errors import passes, retry_after, short

MAX_REPLY = 8 * 1024 * 1024
"""Characters of a reply that are taken; a server that sends more is cut off."""

_LEAST = 64


class MessagesModel:
    """The model port over HTTP. One client, used by several threads; `hear` is told the text as it comes."""

    def __init__(
        self,
        choice: Choice,
        roles: Mapping[str, Choice] | None = None,
        *,
        hear: Callable[[str], None] | None = None,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self._choice = choice
        self._roles = dict(roles or {})
        self._hear = hear
        self._pause = pause
        self._client: Any = None
        self.cold: set[str] = set()
        """Models that take no temperature."""
        self._making = threading.Lock()
        self.secrets = Scrubber()

    def choice(self, role: str) -> Choice:
        """The settings that a role is asked with."""
        return self._roles.get(role, self._choice)

    def choices(self) -> list[Choice]:
        """Every setting that a question may be asked with."""
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

    def client(self) -> Any:
        """The SDK's client. Raises WorldFailed where the SDK or the key is missing."""
        with self._making:
            if self._client is None:
                try:
                    import anthropic
                except ImportError:
                    raise WorldFailed(
                        "the `anthropic` package is not installed: `pip install fdc-toolchain[model]`"
                    ) from None
                try:
                    made = anthropic.Anthropic(max_retries=0)
                except anthropic.AnthropicError as wrong:
                    raise WorldFailed(f"no model can be asked: {short(wrong)}") from None
                if (
                    made.api_key is None
                    and made.auth_token is None
                    and getattr(made, "credentials", None) is None
                ):
                    raise WorldFailed(
                        "no model can be asked: neither ANTHROPIC_API_KEY nor ANTHROPIC_AUTH_TOKEN is set"
                    )
                self._client = made
            return self._client

    def stream(
        self,
        choice: Choice,
        system: str,
        messages: list[dict[str, Any]],
        most: int,
        broken: dict[str, int],
        temperature: float | None = None,
    ) -> Any:
        """One request, its answer as the SDK's message. Raises what `_Dialogue` understands.

        Where the answer breaks off, `broken` says what it had cost by then, as far as that was heard.
        """
        request: dict[str, Any] = {
            "model": choice.model,
            "max_tokens": most,
            "messages": messages,
            "timeout": choice.seconds,
        }
        if system:
            request["system"] = [
                {"type": "text", "text": system, "cache_control": {"type": "ephemeral"}}
            ]
        if temperature is not None:
            request["extra_body"] = {
                "temperature": temperature
            }  # the SDK does not know it any more; many servers do
        if choice.effort:
            request["output_config"] = {"effort": choice.effort}
        size = 0
        with self.client().messages.stream(**request) as stream:
            try:
                for text in stream.text_stream:
                    size += len(text)
                    if size > MAX_REPLY:
                        raise ToolFailure(
                            "reply", f"the model's reply has more than {MAX_REPLY} characters"
                        )
                    if self._hear is not None:
                        self._hear(text)
                return stream.get_final_message()
            except Exception:
                broken.update(_heard(stream, size))
                raise

    def close(self) -> None:
        """Closes the connections; a question that is asked later opens new ones."""
        with self._making:
            if self._client is not None:
                self._client.close()
                self._client = None

    def pause(self, seconds: float) -> None:
        """Waits before another attempt."""
        self._pause(seconds)


class _Dialogue:
    """One question, with the turns that mend its reply."""

    def __init__(self, model: MessagesModel, question: Question, choice: Choice) -> None:
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
        messages: list[dict[str, Any]] = [{"role": "user", "content": _content(self.question)}]
        turns = self.choice.repairs + 1
        if self.question.calls is not None:
            turns = min(turns, max(1, self.question.calls))
        for turn in range(turns):
            text, why = self._turn(system, messages)
            if schema is None:
                if why:
                    raise self._failed("reply", why)
                return self._reply(text)
            value, wrong = (None, why) if why else fitting(text, schema)
            if not wrong:
                return self._reply(value)
            if turn == turns - 1:
                raise self._failed("reply", f"the model's reply is not what was asked for: {wrong}")
            self.notes["repairs"] = turn + 1
            messages += [
                {"role": "assistant", "content": text or "(nothing)"},
                {
                    "role": "user",
                    "content": f"That reply cannot be used: {wrong}\nReply again with the JSON value alone.",
                },
            ]
        raise AssertionError("the last turn returns or raises")

    def _turn(self, system: str, messages: list[dict[str, Any]]) -> tuple[str, str]:
        """One turn: the text, and why it cannot be used as it is."""
        message = self._attempts(system, messages)
        self.calls += 1
        usage = message.usage
        self.used["input"] += usage.input_tokens or 0
        self.used["output"] += usage.output_tokens or 0
        self.used["cache_read"] += getattr(usage, "cache_read_input_tokens", None) or 0
        self.used["cache_write"] += getattr(usage, "cache_creation_input_tokens", None) or 0
        request = getattr(message, "_request_id", None)
        if request:
            self.notes.setdefault("requests", []).append(str(request)[:80])
        if message.stop_reason == "refusal":
            raise self._failed("refusal", "the model refused to answer")
        text = "".join(block.text for block in message.content if block.type == "text")
        if message.stop_reason == "max_tokens":
            return (
                text,
                "it was cut off at the most tokens that a reply may have; say it in fewer words",
            )
        return text, "" if text.strip() else "it is empty"

    def _room(self, system: str, messages: list[dict[str, Any]]) -> int:
        """The tokens that this turn's reply may have, so that all turns stay below the ceiling."""
        if self.question.tokens is None:
            return self.choice.max_tokens
        left = self.question.tokens - sum(self.used.values()) - self._input(system, messages)
        if left < _LEAST:
            message = f"{self.question.tokens} tokens were set aside for the question, and it leaves no room for a reply"
            raise self._failed("budget", message)
        return min(left, self.choice.max_tokens)

    def _input(self, system: str, messages: list[dict[str, Any]]) -> int:
        """What the input will cost: as the server counts, else the most that it can be (a token is a byte at least)."""
        import anthropic

        try:
            given = {"system": system} if system else {}
            counted = self.model.client().messages.count_tokens(
                model=self.choice.model, messages=messages, timeout=30.0, **given
            )
            return int(counted.input_tokens)
        except (anthropic.APIError, AttributeError, TypeError, ValueError):
            text = system + json.dumps(messages, ensure_ascii=False)
            return len(text.encode("utf-8", "replace")) + 16 * (len(messages) + 1)

    def _attempts(self, system: str, messages: list[dict[str, Any]]) -> Any:
        """The message, after as many attempts as trouble that passes makes necessary."""
        import anthropic
        import httpx2

        waited = 0.0
        most = self._room(system, messages)
        broken: dict[str, int] = {}
        for attempt in range(1, self.choice.attempts + 1):
            if broken:
                self._lost(broken)
                most = self._room(system, messages)
            try:
                return self._streamed(system, messages, most, broken)
            except anthropic.APIStatusError as failed:
                if not passes(failed):
                    raise self._refused(failed) from None
                why, wait = short(failed), retry_after(failed)
            except (anthropic.APIConnectionError, anthropic.APIResponseValidationError) as failed:
                why, wait = short(failed), None
            except anthropic.APIError as failed:  # an error in the middle of a stream
                why, wait = short(failed), None
            except ToolFailure as failed:  # a reply that is too long
                self._lost(broken)
                raise self._failed(failed.kind, str(failed)) from None
            except WorldFailed:
                raise
            except anthropic.AnthropicError as wrong:
                raise WorldFailed(f"no model can be asked: {short(wrong)}") from None
            except (httpx2.HTTPError, ValueError) as cut:  # a stream that was cut, or is none
                why, wait = f"{type(cut).__name__}: {short(cut)}", None
            self.notes["attempts"] = attempt + 1
            if attempt == self.choice.attempts:
                break
            if wait is None:
                wait = random.uniform(0.5, 1.0) * min(
                    self.choice.delay * 2.0**attempt, max(30.0, self.choice.delay)
                )
            waited += wait
            self.model.pause(wait)
        raise WorldFailed(
            f"the model {self.choice.model} did not answer in {self.choice.attempts} attempts: {why}"
        )

    def _streamed(
        self, system: str, messages: list[dict[str, Any]], most: int, broken: dict[str, int]
    ) -> Any:
        """One attempt. A server that takes no temperature (Anthropic's own, from October 2026) is asked without, from then on."""
        import anthropic

        warm = self.question.temperature
        if warm is not None and self.choice.model not in self.model.cold:
            try:
                return self.model.stream(self.choice, system, messages, most, broken, warm)
            except anthropic.BadRequestError as refused:
                if "temperature" not in str(refused):
                    raise
                self.model.cold.add(self.choice.model)
        if warm is not None:
            self.notes["temperature"] = f"{warm:g}, which the server does not take"
        return self.model.stream(self.choice, system, messages, most, broken)

    def _lost(self, broken: dict[str, int]) -> None:
        """Counts an answer that broke off: it is paid for all the same."""
        for kind, number in broken.items():
            self.used[kind] += number
        broken.clear()

    def _refused(self, failed: Any) -> ToolFailure | WorldFailed:
        if failed.status_code in (401, 403):
            return WorldFailed(
                f"the model's server does not accept the key (status {failed.status_code})"
            )
        return self._failed(
            "model",
            f"the model's server refused the request (status {failed.status_code}): {short(failed)}",
        )

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


def _content(question: Question) -> str | list[dict[str, Any]]:
    """The question; where pieces of it come again, in blocks: the server keeps what ends with one of the marks, at most four."""
    if not question.kept:
        return question.text
    blocks = [
        {"type": "text", "text": text} for text in (*question.kept, question.text) if text.strip()
    ]
    last = len(question.kept) - 1
    for number in {0, last - 1, last} & {*range(len(question.kept))}:
        blocks[number]["cache_control"] = {"type": "ephemeral"}  # type: ignore[assignment]
    return blocks


def _heard(stream: Any, size: int) -> dict[str, int]:
    """What an answer that broke off has cost at least: its input, and a token for four characters that came."""
    try:
        usage = stream.current_message_snapshot.usage
        return {
            "input": int(usage.input_tokens or 0),
            "output": max(int(usage.output_tokens or 0), size // 4),
        }
    except Exception:  # it broke before it began
        return {}
