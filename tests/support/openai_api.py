"""A server that speaks the OpenAI API on this machine, with scripted replies: `with openai_api("llama", [...]) as server`.

`kind` is what it can: `llama` (any grammar), `llama-old` (GBNF only), `plain` (a schema), `bare` (nothing), or a row of VLLM
(`vllm-xgrammar`: GBNF only; what it refuses it says in the stream, as vLLM 0.32 does).
`server.bodies` are the questions that came in, refused ones too.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

VLLM = {
    "vllm": ("0.12.1", "structured_outputs", False),
    "vllm-xgrammar": ("0.12.1", "structured_outputs", False),
    "vllm-built": ("0.1.dev1+g8d48d0a", "structured_outputs", False),
    "vllm-0.10": ("0.10.2", "guided_grammar", False),
    "vllm-0.10-built": ("dev", "guided_grammar", False),
    "vllm-0.6": ("0.6.3.post1", "guided_grammar", True),
    "vllm-0.6-built": ("dev", "guided_grammar", True),
}
"""What it says that it is, the parameter that it knows, whether it refuses others. vLLM before 0.6.5 did; since then it passes
over them, answers 200, and the model is free (vllm-project/vllm 10463; docs.vllm.ai, structured_outputs: removed in 0.12)."""
FREE = "Here is the plan:\n\n```\nset_plan x\n```\n"


class Server(ThreadingHTTPServer):
    """Answers by the script: a text, a number (an error of that status), or None (an answer that is cut off)."""

    daemon_threads = True

    def __init__(self, kind: str, script: list[str | int | None]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.kind = kind
        self.script = script
        self.bodies: list[dict[str, Any]] = []
        self.keys: list[str | None] = []

    @property
    def address(self) -> str:
        """Where it answers."""
        return f"http://127.0.0.1:{self.server_port}/v1"


class _Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        """Says what server it is."""
        known = {
            "/props": {"default_generation_settings": {}} if "llama" in self.server.kind else None,
            "/version": {"version": VLLM[self.server.kind][0]}
            if self.server.kind in VLLM
            else None,
        }
        found = known.get(self.path)
        self._say(404 if found is None else 200, found or {})

    def do_POST(self) -> None:
        """Answers a question."""
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.bodies.append(body)
        self.server.keys.append(self.headers["Authorization"])
        kind = self.server.kind
        parametric = str(body.get("grammar", "")).startswith("%llguidance")
        if kind == "llama-old" and parametric or kind == "bare" and "response_format" in body:
            return self._say(400, {"error": {"message": "what is this?"}})
        _, known, strict = VLLM.get(kind, ("", "", False))
        strange = {"guided_grammar", "structured_outputs", "grammar"} & {*body} - {known}
        if strict and strange:
            return self._say(400, {"error": {"message": "extra_forbidden", "code": 400}})
        if kind == "vllm-xgrammar" and "::=" not in body["structured_outputs"]["grammar"]:
            error = {
                "message": "Invalid grammar specification.",
                "type": "BadRequestError",
                "param": None,
                "code": 400,
            }
            return self._send(
                200,
                f"data: {json.dumps({'error': error})}\n\ndata: [DONE]\n\n",
                "text/event-stream",
            )
        said = FREE if known and strange else self.server.script.pop(0)
        if isinstance(said, int):
            return self._say(said, {"error": {"message": "no"}})
        text, end = said or "half", "stop" if said else "length"
        head = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
        choices = [{"index": 0, "delta": {"content": text}, "finish_reason": end}]
        usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
        chunks = ({**head, "choices": choices}, {**head, "choices": [], "usage": usage})
        lines = [f"data: {json.dumps(chunk)}\n\n" for chunk in chunks]
        self._send(200, "".join([*lines, "data: [DONE]\n\n"]), "text/event-stream")

    def _say(self, status: int, value: object) -> None:
        self._send(status, json.dumps(value), "application/json")

    def _send(self, status: int, text: str, kind: str) -> None:
        data = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Says nothing."""


@contextmanager
def openai_api(kind: str, script: list[str | int | None]) -> Iterator[Server]:
    """The server, while it is up."""
    server = Server(kind, script)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
