"""Lines on stdin that are no messages of the protocol. They are answered, because a client waits for the reply to a request."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Protocol

from mcp.shared.message import SessionMessage
from mcp.types import INVALID_REQUEST, PARSE_ERROR, ErrorData, JSONRPCError

Item = SessionMessage | Exception


class Reads(Protocol):
    """What the SDK reads from a client: messages, and an exception for each line that is none."""

    async def receive(self) -> Item: ...
    async def aclose(self) -> None: ...
    async def __anext__(self) -> Item: ...


class Answering:
    """The messages of a client, without the lines that are none: `send` gets the reply to such a line.

    If the line is the answer to a form, the form ends without an answer.
    """

    def __init__(self, reads: Reads, send: Callable[[SessionMessage], Awaitable[None]]) -> None:
        self._reads, self._send = reads, send

    @property
    def last_context(self) -> object:
        """The context of the last message, for which the SDK asks."""
        return getattr(self._reads, "last_context", None)

    async def receive(self) -> Item:
        """The next message."""
        return await self._next(self._reads.receive)

    async def __anext__(self) -> Item:
        return await self._next(self._reads.__anext__)

    async def _next(self, read: Callable[[], Awaitable[Item]]) -> Item:
        while True:
            item = await read()
            rows = _errors(item)
            if not rows:
                return item
            line = next((row["input"] for row in rows if row["type"] == "json_invalid"), None)
            if isinstance(line, str) and not line.strip():
                continue
            message = _loaded(line) if isinstance(line, str) else _whole(rows)
            error = SessionMessage(_error(message, is_json=line is None))
            if "method" not in message and ("result" in message or "error" in message):
                return error
            await self._send(error)

    async def aclose(self) -> None:
        """Ends the reading."""
        await self._reads.aclose()

    def __aiter__(self) -> Answering:
        return self

    async def __aenter__(self) -> Answering:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()


def _errors(item: Item) -> list[dict[str, object]]:
    """What the SDK's validation found wrong with a line; empty for a message, and for any other exception."""
    listed = getattr(item, "errors", None)
    return list(listed(include_url=False)) if isinstance(item, ValueError) and listed else []


def _loaded(line: str) -> dict[str, object]:
    """The message of a line that the SDK does not read as JSON, and Python does; empty if Python does not either."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _whole(rows: list[dict[str, object]]) -> dict[str, object]:
    """The message of a line that is JSON: the validation names it as the place where a key is missing."""
    missing = (row["input"] for row in rows if row["type"] == "missing")
    return next((value for value in missing if isinstance(value, dict)), {})


def _error(message: dict[str, object], *, is_json: bool) -> JSONRPCError:
    """The reply; its id is null if that of the message is unknown."""
    code, sentence = INVALID_REQUEST, "the line is no message of JSON-RPC 2.0"
    if not is_json:
        code, sentence = PARSE_ERROR, "the line cannot be read as JSON"
    if message and not is_json:
        sentence = (
            "a text in the line has half of a character: `\\ud800` to `\\udfff` count in pairs only"
        )
    error = ErrorData(code=code, message=sentence)
    return JSONRPCError(jsonrpc="2.0", id=_number(message.get("id")), error=error)


def _number(value: object) -> int | str | None:
    """An id, if one can be written as it was read."""
    if isinstance(value, str):
        return value if value.isprintable() else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None
