"""A server that speaks the Messages API, and the API of OpenAI, on this machine, with scripted replies and faults.

    with messages_api([reply("hello"), fault(529, retry_after=0)]) as server: ...

Each request takes the next item of the script. `server.requests` are the bodies that came in,
`server.headers` their headers. Real HTTP: the SDK does not know the difference.

With `bills` it counts tokens itself, four characters each, and keeps the beginnings of requests as Anthropic documents it: up to
four marks, each looks back over twenty blocks, and nothing below 1,024 tokens is kept.
"""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

from .background import PATIENCE


class Item(NamedTuple):
    """One answer: an event stream, an error status, or a fault on the wire."""

    text: str = ""
    status: int = 200
    stop: str = "end_turn"
    fault: str = ""
    retry_after: float | None = None
    tokens: tuple[int, int] = (10, 5)
    says: str = ""
    """What an error says of itself; where a redirect leads."""


def reply(text: str, stop: str = "end_turn", tokens: tuple[int, int] = (10, 5)) -> Item:
    """A message with that text."""
    return Item(text, stop=stop, tokens=tokens)


def fault(status: int, retry_after: float | None = 0.0) -> Item:
    """An error with that status."""
    return Item(status=status, retry_after=retry_after)


def broken(how: str) -> Item:
    """`cut` in the middle of the stream, `garbage` instead of events, `hang-up` before any byte, `error-event`."""
    return Item("half of it", fault=how)


def held(text: str) -> Item:
    """A message that is sent when `server.release` is set, and at the latest when a test has lost its patience."""
    return Item(text, fault="held")


class Server(ThreadingHTTPServer):
    """Answers by the script; a request beyond it gets status 500 and is remembered all the same."""

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, script: Sequence[Item], counts: bool) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.script = list(script)
        self.counts = counts
        self.requests: list[dict[str, Any]] = []
        self.counted = 0
        self.refuses = ""
        """A word: a request that has it gets status 400."""
        self.bills = False
        self.billed = {"input": 0, "cache_read": 0, "cache_write": 0}
        self.known: set[str] = set()
        self.headers: list[dict[str, str]] = []
        self.lock = threading.Lock()
        self.release = threading.Event()

    @property
    def url(self) -> str:
        """What ANTHROPIC_BASE_URL is set to."""
        return f"http://127.0.0.1:{self.server_address[1]}"

    def bill(self, body: dict[str, Any]) -> dict[str, int]:
        """The usage of a request's input."""
        contents = [body.get("system") or [], *(one["content"] for one in body["messages"])]
        blocks = [
            block
            for content in contents
            for block in ([{"text": content}] if isinstance(content, str) else content)
        ]
        ends, prefix, tokens = [], "", [0]
        for block in blocks:
            prefix += "\0" + block["text"]
            ends.append(prefix)
            tokens.append(tokens[-1] + len(block["text"]) // 4)
        marks = [at for at, block in enumerate(blocks, 1) if "cache_control" in block]
        assert len(marks) <= 4 and all(block["text"].strip() for block in blocks)
        marks = [at for at in marks if tokens[at] >= 1024]
        reach = {at for mark in marks for at in range(max(1, mark - 20), mark + 1)}
        read = max((at for at in reach if ends[at - 1] in self.known), default=0)
        wrote = max((at for at in marks if at > read), default=read)
        self.known.update(ends[at - 1] for at in marks)
        found = {"input": tokens[-1] - tokens[wrote], "cache_read": tokens[read]}
        found["cache_write"] = tokens[wrote] - tokens[read]
        for kind, number in found.items():
            self.billed[kind] += number
        return found

    def take(self, body: dict[str, Any], headers: dict[str, str]) -> Item:
        with self.lock:
            self.requests.append(body)
            self.headers.append(headers)
            return self.script.pop(0) if self.script else Item(status=500, retry_after=0.0)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # head and body are two writes: without this the second waits 40 ms for the client's acknowledgement
    disable_nagle_algorithm = True
    server: Server

    def log_message(self, *args: Any) -> None:
        pass

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if self.path.startswith("/v1/messages/count_tokens"):
            self.server.counted += 1
            if not self.server.counts:
                self._error(404, None)
                return
            size = len(json.dumps(body["messages"])) // 4
            self._send(200, json.dumps({"input_tokens": size}).encode(), "application/json", {})
            return
        if self.server.refuses and self.server.refuses in json.dumps(body):
            self._error(400, None, f"no such parameter: {self.server.refuses}")
            return
        item = self.server.take(body, {key.lower(): value for key, value in self.headers.items()})
        if item.fault == "held":
            self.server.release.wait(PATIENCE)
        if item.fault == "hang-up":
            self.connection.shutdown(socket.SHUT_RDWR)
            self.close_connection = True
        elif item.fault == "garbage":
            self._send(200, b"<html>\x00\xff not events", "text/event-stream", {})
        elif item.status != 200:
            self._error(item.status, item.retry_after, item.says)
        else:
            self._stream(item, body)

    def _error(self, status: int, retry_after: float | None, says: str = "") -> None:
        kinds = {
            429: "rate_limit_error",
            529: "overloaded_error",
            401: "authentication_error",
            400: "invalid_request_error",
        }
        said = {
            "type": "error",
            "error": {
                "type": kinds.get(status, "api_error"),
                "message": says or f"scripted {status}",
            },
        }
        more = {} if retry_after is None else {"retry-after": str(retry_after)}
        more |= {"location": says} if status // 100 == 3 else {}
        self._send(status, json.dumps(said).encode(), "application/json", more)

    def _send(self, status: int, data: bytes, kind: str, more: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {
            "content-type": kind,
            "content-length": str(len(data)),
            "request-id": "req_1",
            **more,
        }.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def _stream(self, item: Item, body: dict[str, Any]) -> None:
        if self.path.endswith("/chat/completions"):
            self._chat(item, body)
            return
        events = list(_events(item, body.get("model", "m")))
        if self.server.bills:
            used = self.server.bill(body)
            events[0][1]["message"]["usage"] |= {
                "input_tokens": used["input"],
                "cache_read_input_tokens": used["cache_read"],
                "cache_creation_input_tokens": used["cache_write"],
            }
        if item.fault == "cut":
            events = events[:3]
        if item.fault == "error-event":
            error = {"type": "error", "error": {"type": "overloaded_error", "message": "scripted"}}
            events = [*events[:2], ("error", error)]
        data = b"".join(
            f"event: {name}\ndata: {json.dumps(value)}\n\n".encode() for name, value in events
        )
        if item.fault != "cut":
            self._send(200, data, "text/event-stream", {})
            return
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("content-length", str(len(data) + 1000))
        self.end_headers()
        self.wfile.write(data)
        self.wfile.flush()
        self.connection.shutdown(socket.SHUT_RDWR)
        self.close_connection = True

    def _chat(self, item: Item, body: dict[str, Any]) -> None:
        """The same over the API of OpenAI: chunks of a completion. `cut` leaves the end out, `silent` the usage."""
        ends = {"max_tokens": "length", "refusal": "content_filter"}
        head = {
            "id": "chat_1",
            "object": "chat.completion.chunk",
            "created": 1,
            "model": body["model"],
        }
        deltas: list[tuple[dict[str, Any], str | None]] = [
            ({"role": "assistant", "content": ""}, None)
        ]
        deltas += [
            ({"content": item.text[at : at + 65536]}, None)
            for at in range(0, len(item.text), 65536)
        ]
        if item.fault != "cut":
            deltas.append(({}, ends.get(item.stop, "stop")))
        chunks: list[Any] = [
            {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": end}]}
            for delta, end in deltas
        ]
        if item.fault == "":
            into, out = item.tokens
            used = {"prompt_tokens": into, "completion_tokens": out, "total_tokens": into + out}
            details = {"prompt_tokens_details": {"cached_tokens": into // 2}}
            chunks.append({**head, "choices": [], "usage": {**used, **details}})
        lines = [f"data: {json.dumps(chunk)}\n\n" for chunk in chunks]
        if item.fault != "cut":
            lines.append("data: [DONE]\n\n")
        self._send(200, "".join(lines).encode(), "text/event-stream", {})


def _events(item: Item, model: str) -> Iterator[tuple[str, dict[str, Any]]]:
    into, out = item.tokens
    message = {
        "id": "msg_1", "type": "message", "role": "assistant", "model": model, "content": [], "stop_reason": None,
        "stop_sequence": None, "usage": {"input_tokens": into, "output_tokens": 1},
    }  # fmt: skip
    yield "message_start", {"type": "message_start", "message": message}
    yield (
        "content_block_start",
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    )
    for at in range(0, len(item.text), 65536):
        delta = {"type": "text_delta", "text": item.text[at : at + 65536]}
        yield "content_block_delta", {"type": "content_block_delta", "index": 0, "delta": delta}
    yield "content_block_stop", {"type": "content_block_stop", "index": 0}
    delta = {"stop_reason": item.stop, "stop_sequence": None}
    yield (
        "message_delta",
        {"type": "message_delta", "delta": delta, "usage": {"output_tokens": out}},
    )
    yield "message_stop", {"type": "message_stop"}


@contextmanager
def messages_api(script: Sequence[Item], *, counts: bool = True) -> Iterator[Server]:
    """The server, while it lasts. `counts`: whether it can count tokens."""
    server = Server(script, counts)
    thread = threading.Thread(
        target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
    )
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)
