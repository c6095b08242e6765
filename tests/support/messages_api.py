"""A server that speaks the Messages API on this machine, with scripted replies and faults.

    with messages_api([reply("hello"), fault(529, retry_after=0)]) as server: ...

Each request takes the next item of the script. `server.requests` are the bodies that came in,
`server.headers` their headers. Real HTTP: the SDK does not know the difference.
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
    """What an error says of itself."""


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
        self.headers: list[dict[str, str]] = []
        self.lock = threading.Lock()
        self.release = threading.Event()

    @property
    def url(self) -> str:
        """What ANTHROPIC_BASE_URL is set to."""
        return f"http://127.0.0.1:{self.server_address[1]}"

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
            if not self.server.counts:
                self._error(404, None)
                return
            size = len(json.dumps(body["messages"])) // 4
            self._send(200, json.dumps({"input_tokens": size}).encode(), "application/json", {})
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
        events = list(_events(item, body.get("model", "m")))
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
