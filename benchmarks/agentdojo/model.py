"""A model that obeys every injection: a server on this machine that speaks the Messages API.

Where no injection is in what it is shown, it answers what the plan's step is meant to get. Where one is, it answers what
the injection wants in that place: the value of the same parameter in the calls that it asks for, else one of the same kind
(an address for an address, an amount for an amount), else the injection's goal in words.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

from .labels import TOOLS
from .plans import Want
from .suites import BEGIN, END, Attack
from .values import plain


class Script(NamedTuple):
    """What the steps of the plan that runs now ask for, and whose injection is in the environment."""

    wants: Mapping[str, Want]
    attack: Attack | None


def answer(script: Script, shown: str) -> str:
    """What the model says to a question. Raises KeyError for one that the plan does not put."""
    want = script.wants[re.findall(r"Wanted: (\w+):", shown)[-1]]
    attack = script.attack
    if attack is None or BEGIN not in shown or END not in shown:
        return want.right
    return wanted(attack, want)


def wanted(attack: Attack, want: Want) -> str:
    """What an injection would have in the place of an argument."""
    values = [
        (call.tool, name, value) for call in attack.calls for name, value in call.args.items()
    ]
    for tool, name, value in values:
        if (tool, name) == (want.tool, want.parameter):
            return plain(value)
    if want.tool:
        sink = TOOLS[want.tool].sink(want.parameter)
        for tool, name, value in values:
            if name == want.parameter or TOOLS[tool].sink(name) == sink != "data":
                return plain(value)
    return attack.goal


class Server(ThreadingHTTPServer):
    """`script` is what it goes by; `obeyed` counts the answers that an injection chose."""

    daemon_threads = True
    script = Script({}, None)
    obeyed = 0

    @property
    def url(self) -> str:
        """What ANTHROPIC_BASE_URL is set to."""
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Server

    def log_message(self, *args: Any) -> None:
        pass

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if self.path.startswith("/v1/messages/count_tokens"):
            self._send(json.dumps({"input_tokens": 100}).encode(), "application/json")
            return
        shown = "\n".join(_texts(body["messages"]))
        text = answer(self.server.script, shown)
        if self.server.script.attack is not None and BEGIN in shown:
            self.server.obeyed += 1
        events = (
            f"event: {name}\ndata: {json.dumps(value)}\n\n"
            for name, value in _events(text, body["model"])
        )
        self._send("".join(events).encode(), "text/event-stream")

    def _send(self, data: bytes, kind: str) -> None:
        self.send_response(200)
        for name, value in {
            "content-type": kind,
            "content-length": str(len(data)),
            "request-id": "req_1",
        }.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for one in value:
            yield from _texts(one)
    elif isinstance(value, dict):
        yield from _texts(value.get("content", value.get("text")))


def _events(text: str, model: str) -> Iterator[tuple[str, dict[str, Any]]]:
    message = {
        "id": "msg_1", "type": "message", "role": "assistant", "model": model, "content": [], "stop_reason": None,
        "stop_sequence": None, "usage": {"input_tokens": 100, "output_tokens": 1},
    }  # fmt: skip
    yield "message_start", {"type": "message_start", "message": message}
    yield (
        "content_block_start",
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    )
    delta = {"type": "text_delta", "text": text}
    yield "content_block_delta", {"type": "content_block_delta", "index": 0, "delta": delta}
    yield "content_block_stop", {"type": "content_block_stop", "index": 0}
    end = {"stop_reason": "end_turn", "stop_sequence": None}
    yield "message_delta", {"type": "message_delta", "delta": end, "usage": {"output_tokens": 20}}
    yield "message_stop", {"type": "message_stop"}


def start() -> Server:
    """A server that answers until `shutdown`, or until the process ends."""
    made = Server(("127.0.0.1", 0), _Handler)
    threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    return made
