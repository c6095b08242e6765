"""Servers that speak the API of OpenAI (Ollama, vLLM, llama.cpp, OpenAI itself), by the `openai` SDK.

OPENAI_BASE_URL names one, with its `/v1`; OPENAI_API_KEY is its key, which a server of one's own need not have.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

from ...engine.ports import WorldFailed
from .deadline import watched
from .question import Choice
from .wire import MAX_REPLY, OPENAI, Hear, Passing, Request, Said, heard, of_status

_STREAM = "text/event-stream"
_ENDS = {"content_filter": "refusal", "length": "length"}


class ChatServer:
    """The adapter (`wire.Server`). `more`: what requests have besides, for a server that knows it; `strict`: schemas are those
    that OpenAI calls strict."""

    more: Mapping[str, object] = {}
    strict = False

    def __init__(self) -> None:
        try:
            import openai
        except ImportError:
            raise WorldFailed(
                "the `openai` package is not installed: `pip install fdc-toolchain[openai]`"
            ) from None
        self._own = bool(os.environ.get("OPENAI_BASE_URL"))
        key = os.environ.get("OPENAI_API_KEY", "").strip() or ("none" if self._own else "")
        if not key:
            raise WorldFailed("no model can be asked: set OPENAI_API_KEY or OPENAI_BASE_URL")
        if not (key.isascii() and key.isprintable()):
            raise WorldFailed("OPENAI_API_KEY contains invalid characters")
        try:
            self._client = openai.OpenAI(api_key=key, max_retries=0)
        except (openai.OpenAIError, ValueError) as wrong:
            raise WorldFailed(f"no model can be asked: {Passing(wrong)}") from None
        self._client._client.follow_redirects = False  # what is asked goes to who is named
        watched(self._client._client)

    def close(self) -> None:
        self._client.close()

    def count(self, choice: Choice, request: Request) -> int | None:
        return None

    def ask(
        self, choice: Choice, request: Request, hear: Hear | None, broken: dict[str, int]
    ) -> Said:
        import httpx2
        import openai

        try:
            return self._streamed(choice, request, hear, broken)
        except openai.APIStatusError as failed:
            raise of_status(failed, failed.status_code) from None
        except openai.APIError as failed:
            # vLLM answers 200, and says in the stream that it refuses the request.
            said = failed.body.get("code") if isinstance(failed.body, dict) else None
            status = said if isinstance(said, int) else 0
            raise (of_status(failed, status) if status >= 400 else Passing(failed)) from None
        except (httpx2.HTTPError, ValueError) as cut:
            raise Passing(f"{type(cut).__name__}: {cut}") from None
        except (AttributeError, TypeError):
            raise Passing("its answer does not have the form of the API of OpenAI") from None

    def _streamed(
        self, choice: Choice, request: Request, hear: Hear | None, broken: dict[str, int]
    ) -> Said:
        sent: dict[str, Any] = {
            "model": choice.model.removeprefix(OPENAI),
            "messages": _messages(request),
            "stream": True,
            "stream_options": {"include_usage": True},
            "timeout": choice.seconds,
            # servers of one's own know the older name, OpenAI's newer models the newer one alone
            ("max_tokens" if self._own else "max_completion_tokens"): request.most,
        }
        if request.temperature is not None:
            sent["temperature"] = request.temperature
        if choice.effort:
            sent["reasoning_effort"] = choice.effort
        if request.schema is not None:
            made: dict[str, object] = {"name": "reply", "schema": dict(request.schema)}
            if self.strict:
                made["strict"] = True
            sent["response_format"] = {"type": "json_schema", "json_schema": made}
        if self.more:
            sent["extra_body"] = {**self.more}
        pieces: list[str] = []
        size, end, named, usage, ended = 0, "", "", None, False
        try:
            with self._client.chat.completions.create(**sent) as stream:
                for chunk in stream:
                    named = chunk.id if isinstance(chunk.id, str) else named
                    usage = chunk.usage or usage
                    for one in chunk.choices[:1]:
                        if one.delta.refusal:
                            end = "refusal"
                        if one.delta.content:
                            size = heard(one.delta.content, size, hear)
                            pieces.append(one.delta.content)
                        if one.finish_reason:
                            end, ended = end or _ENDS.get(one.finish_reason, ""), True
                if not ended:
                    raise _cut(stream.response.headers.get("content-type", ""))
        except Exception:
            if size:
                broken.update(request.reckoned("".join(pieces)))
            raise
        text = "".join(pieces)
        used = _used(usage)
        if used is None:  # the server does not say it
            return Said(text, end, request.reckoned(text), named, reckoned=True)
        return Said(text, end, used, named)

    def found(self, path: str) -> Mapping[str, object]:
        """The JSON object beside `/v1`, by which servers tell what they are; empty where there is none."""
        import httpx2

        address = f"{str(self._client.base_url).rstrip('/').removesuffix('/v1')}/{path}"
        read = bytearray()
        try:
            with self._client._client.stream(
                "GET", address, headers=self._client.auth_headers, timeout=10.0
            ) as answer:
                for piece in answer.iter_bytes():
                    read += piece
                    if answer.status_code != 200 or len(read) > MAX_REPLY:
                        return {}
            value = json.loads(read)
        except (httpx2.HTTPError, OSError, ValueError, RecursionError):
            return {}
        return value if isinstance(value, dict) else {}


def _cut(kind: str) -> Passing:
    """What is wrong with a reply of a content type that has no end."""
    said = kind.partition(";")[0].strip()
    if said in ("", _STREAM):
        return Passing("the answer ended before its end mark")
    return Passing(f"it answers with `{said}`, not with a stream ({_STREAM})")


def _messages(request: Request) -> list[dict[str, str]]:
    """The input. Such servers find by themselves what they have read before; it only has to come first."""
    turns = ("".join((*request.kept, request.turns[0])), *request.turns[1:])
    system = [{"role": "system", "content": request.system}] if request.system else []
    return system + [
        {"role": ("user", "assistant")[number % 2], "content": text}
        for number, text in enumerate(turns)
    ]


def _used(usage: Any) -> dict[str, int] | None:
    """The tokens that a server counted; None where it does not say it, or no number of tokens."""
    try:
        read = int(getattr(usage.prompt_tokens_details, "cached_tokens", None) or 0)
        used = {"input": int(usage.prompt_tokens) - read, "cache_read": read}
        used["output"] = int(usage.completion_tokens)
        return None if min(used.values()) < 0 else used
    except (AttributeError, TypeError, ValueError, OverflowError):
        return None
