"""Servers that speak the Messages API, by the `anthropic` SDK. ANTHROPIC_BASE_URL names one, ANTHROPIC_API_KEY is its key."""

from __future__ import annotations

from typing import Any

from ...engine.ports import WorldFailed
from .deadline import watched
from .question import Choice
from .wire import Hear, Passing, Refused, Request, Said, heard, of_status

_ENDS = {"refusal": "refusal", "max_tokens": "length"}


class MessagesServer:
    """The adapter (`wire.Server`)."""

    def __init__(self) -> None:
        try:
            import anthropic
        except ImportError:
            raise WorldFailed(
                "the `anthropic` package is not installed: `pip install fdc-toolchain[model]`"
            ) from None
        try:
            made = anthropic.Anthropic(max_retries=0)
        except anthropic.AnthropicError as wrong:
            raise WorldFailed(f"no model can be asked: {Passing(wrong)}") from None
        if not (made.api_key or made.auth_token or getattr(made, "credentials", None)):
            raise WorldFailed(
                "no model can be asked: set ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN"
            )
        made._client.follow_redirects = False  # httpx would send `x-api-key` to wherever it leads
        watched(made._client)
        self._client = made

    def close(self) -> None:
        self._client.close()

    def ask(
        self, choice: Choice, request: Request, hear: Hear | None, broken: dict[str, int]
    ) -> Said:
        import anthropic
        import httpx2

        try:
            return self._streamed(choice, request, hear, broken)
        except anthropic.APIStatusError as failed:
            raise of_status(failed, failed.status_code) from None
        except anthropic.APIError as failed:  # no connection, or an error in the middle of a stream
            raise Passing(failed) from None
        except anthropic.AnthropicError as wrong:
            raise WorldFailed(f"no model can be asked: {Passing(wrong)}") from None
        except (httpx2.HTTPError, ValueError) as cut:  # a stream that was cut, or is none
            raise Passing(f"{type(cut).__name__}: {cut}") from None
        except (AssertionError, AttributeError, LookupError, TypeError):  # from inside the SDK
            raise Passing("its answer does not have the form of the Messages API") from None

    def _streamed(
        self, choice: Choice, request: Request, hear: Hear | None, broken: dict[str, int]
    ) -> Said:
        sent = {**_sent(choice, request), "max_tokens": request.most, "timeout": choice.seconds}
        if request.temperature is not None:  # the SDK does not know it any more; many servers do
            sent["extra_body"] = {"temperature": request.temperature}
        config: dict[str, Any] = {"effort": choice.effort} if choice.effort else {}
        if request.schema is not None:
            config["format"] = _format(request)
        if config:
            sent["output_config"] = config
        size = 0
        with self._client.messages.stream(**sent) as stream:
            try:
                for text in stream.text_stream:
                    size = heard(text, size, hear)
                message = stream.get_final_message()
            except Exception:
                broken.update(_cost(stream, size))
                raise
        text = "".join(block.text for block in message.content if block.type == "text")
        named = str(getattr(message, "_request_id", None) or "")
        end = _ENDS.get(str(message.stop_reason), "")
        used = _used(message.usage)
        if used is None:
            return Said(text, end, request.reckoned(text), named, reckoned=True)
        return Said(text, end, used, named)

    def count(self, choice: Choice, request: Request) -> int | None:
        import anthropic

        sent = _sent(choice, request)
        if request.schema:
            sent["output_config"] = {"format": _format(request)}
        try:
            counted = self._client.messages.count_tokens(**sent, timeout=30.0)
            return int(counted.input_tokens)
        except (anthropic.APIError, Refused, AttributeError, TypeError, ValueError):
            return None


def _sent(choice: Choice, request: Request) -> dict[str, Any]:
    """The model and its input. What comes again in the next question ends with a mark, of which a request may have four: one
    behind the system's words, one behind the first piece, two behind the last ones, of which the next question finds one."""
    keep = {"cache_control": {"type": "ephemeral"}}
    pieces = (*request.kept, request.turns[0])
    last = len(request.kept) - 1
    marked = {0, last - 1, last} if request.kept else set()
    content: Any = [
        {"type": "text", "text": text, **(keep if number in marked else {})}
        for number, text in enumerate(pieces)
        if text.strip()
    ]
    content = content if request.kept else request.turns[0]
    messages = [
        {"role": ("user", "assistant")[number % 2], "content": text}
        for number, text in enumerate((content, *request.turns[1:]))
    ]
    system = [{"type": "text", "text": request.system, **keep}] if request.system else None
    sent: dict[str, Any] = {"model": choice.model, "messages": messages}
    return {**sent, "system": system} if system else sent


def _used(usage: object) -> dict[str, int] | None:
    """The tokens that a server counted; None where they are no numbers of tokens."""
    names = {
        "input": "input_tokens",
        "output": "output_tokens",
        "cache_read": "cache_read_input_tokens",
        "cache_write": "cache_creation_input_tokens",
    }
    used = {kind: getattr(usage, name, None) or 0 for kind, name in names.items()}
    counted = all(isinstance(number, int) and number >= 0 for number in used.values())
    return used if counted else None


def _format(request: Request) -> dict[str, Any]:
    """The schema as the server takes it: what it cannot hold the reply to stands in descriptions."""
    from anthropic import transform_schema

    try:
        made = transform_schema(dict(request.schema or {}))
    except (ValueError, TypeError, AttributeError, AssertionError) as wrong:
        raise Refused(f"the server does not support the schema: {wrong}", 400) from None
    return {"type": "json_schema", "schema": made}


def _cost(stream: Any, size: int) -> dict[str, int]:
    """What an answer that broke off has cost at least: its input, and a token for four characters that came."""
    try:
        usage = stream.current_message_snapshot.usage
        return {
            "input": int(usage.input_tokens or 0),
            "output": max(int(usage.output_tokens or 0), size // 4),
        }
    except Exception:  # it broke before it began
        return {}
