"""Answers of a model's server that have another form than its API: one clear sentence, no thread left, no invented number."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable

import pytest
from fdc_toolchain.engine.ports import WorldFailed
from fdc_toolchain.tools.model.http_model import HttpModel
from fdc_toolchain.tools.model.json_reply import fitting
from fdc_toolchain.tools.model.question import Choice, Question

from tests.support.raw_server import raw_server

pytest.importorskip("openai")
pytest.importorskip("anthropic")

OPENAI, ANTHROPIC = "openai:m", "claude-sonnet-5"
HEAD = b"HTTP/1.0 200 ok\r\nContent-Type: text/event-stream\r\n\r\n"
MESSAGE = {
    "id": "m", "type": "message", "role": "assistant", "model": "x", "content": [], "stop_reason": None,
    "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1},
}  # fmt: skip


def chunk(content: object, **more: object) -> str:
    """The stream of a server with the API of OpenAI: one piece, and its end."""
    piece = {"index": 0, "delta": {"content": content}, "finish_reason": "stop"}
    return f"data: {json.dumps({'choices': [piece], **more})}\n\ndata: [DONE]\n\n"


def event(name: str, **more: object) -> str:
    return f"event: {name}\ndata: {json.dumps({'type': name, **more})}\n\n"


def message(
    text: object = "x", index: object = 0, usage: object = None, begins: object = MESSAGE
) -> str:
    """The stream of a server with the Messages API."""
    used = {"output_tokens": 3} if usage is None else usage
    return "".join(
        (
            event("message_start", message=begins),
            event("content_block_start", index=0, content_block={"type": "text", "text": ""}),
            event("content_block_delta", index=index, delta={"type": "text_delta", "text": text}),
            event("content_block_stop", index=0),
            event("message_delta", delta={"stop_reason": "end_turn"}, usage=used),
            event("message_stop"),
        )
    )


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str, float], HttpModel]:
    for name in ("ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_PROFILE", "ANTHROPIC_CUSTOM_HEADERS"):
        monkeypatch.delenv(name, raising=False)
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.setenv(name, "sk-test")

    def at(address: str, name: str, seconds: float) -> HttpModel:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{address}/v1")
        monkeypatch.setenv("ANTHROPIC_BASE_URL", address)
        return HttpModel(Choice(name, attempts=1, seconds=seconds))

    return at


ASKED = Question("planner", "", "x")
FORM = "did not answer in 1 attempts: its answer does not have the form of the "


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (OPENAI, chunk(5)),
        (OPENAI, chunk(["a"])),
        (OPENAI, chunk("x").replace("[{", "[5, {")),
        (OPENAI, 'data: {"choices": 5}\n\n'),
        (ANTHROPIC, message(5)),
        (ANTHROPIC, message(None)),
        (ANTHROPIC, message(index=9)),
        (ANTHROPIC, message(usage=5)),
        (ANTHROPIC, message(begins=5)),
        (ANTHROPIC, event("message_stop")),
        (ANTHROPIC, "event: message_start\ndata: 5\n\n"),
    ],
)
def test_an_answer_of_another_form_is_one_sentence(
    made: Callable[[str, str, float], HttpModel], name: str, said: str
) -> None:
    api = {OPENAI: "API of OpenAI", ANTHROPIC: "Messages API"}[name]
    with (
        raw_server(lambda there: there.sendall(HEAD + said.encode())) as address,
        pytest.raises(WorldFailed) as failed,
    ):
        made(address, name, 5).ask(ASKED)
    assert str(failed.value).endswith(FORM + api)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (OPENAI, chunk("x", id=5)),
        (OPENAI, chunk("x", id={"a": 1})),
        (ANTHROPIC, message(usage={"output_tokens": -5000})),
        (ANTHROPIC, message(usage={"output_tokens": "many"})),
        (ANTHROPIC, message().replace('"output_tokens": 3', '"output_tokens": 1e999')),
    ],
)
def test_what_is_wrong_beside_the_text_is_left_out(
    made: Callable[[str, str, float], HttpModel], name: str, said: str
) -> None:
    with raw_server(lambda there: there.sendall(HEAD + said.encode())) as address:
        found = made(address, name, 5).ask(ASKED)
    assert found.value == "x" and 0 < found.usage["tokens"] < 100


@pytest.mark.parametrize("name", [OPENAI, ANTHROPIC])
def test_half_of_a_character_is_replaced(
    made: Callable[[str, str, float], HttpModel], name: str
) -> None:
    says = {OPENAI: chunk, ANTHROPIC: message}[name]
    heard: list[str] = []
    with raw_server(lambda there: there.sendall(HEAD + says("a\ud800b").encode())) as address:
        model = made(address, name, 5)
        model.hear = heard.append
        assert model.ask(ASKED).value == "a\ufffdb" and heard == ["a\ufffdb"]
    value, wrong = fitting(r'{"a": ["\ud800", "\ud83d\ude00"], "b": "\\ud800"}', {})
    assert (value, wrong) == ({"a": ["\ufffd", "\U0001f600"], "b": "\\ud800"}, "")


def leaves_no_thread(
    drip: Callable[[socket.socket], None], made: Callable[[str], HttpModel]
) -> None:
    """A model gives up an answer that drips, and nothing goes on reading it."""
    with raw_server(drip) as address:
        before = {*threading.enumerate()}
        model = made(address)
        with pytest.raises(WorldFailed, match="did not complete its answer in"):
            model.ask(ASKED)
        end = time.monotonic() + 5
        while (left := {*threading.enumerate()} - before) and time.monotonic() < end:
            time.sleep(0.02)
        assert not left


@pytest.mark.parametrize(
    ("name", "piece"),
    [
        (OPENAI, 'data: {"choices": []}\n\n'),
        (OPENAI, 'data: {"choices": [{"index": 0, "delta": {"content": ""}}]}\n\n'),
        (OPENAI, ": still there\n\n"),
        (ANTHROPIC, event("ping")),
        (ANTHROPIC, ": still there\n\n"),
    ],
)
def test_pieces_without_text_leave_no_thread(
    made: Callable[[str, str, float], HttpModel], name: str, piece: str
) -> None:
    def drip(there: socket.socket) -> None:
        there.sendall(HEAD + event("message_start", message=MESSAGE).encode() * (name == ANTHROPIC))
        while True:  # until nobody listens
            there.sendall(piece.encode())
            time.sleep(0.02)

    leaves_no_thread(drip, lambda address: made(address, name, 1.0))


@pytest.mark.parametrize("name", [OPENAI, ANTHROPIC])
def test_headers_byte_by_byte_leave_no_thread(
    made: Callable[[str, str, float], HttpModel], name: str
) -> None:
    def drip(there: socket.socket) -> None:
        there.sendall(b"HTTP/1.0 200 ok\r\nX-Slow: ")
        while True:  # until nobody listens
            there.sendall(b"x")
            time.sleep(0.02)

    leaves_no_thread(drip, lambda address: made(address, name, 1.0))
