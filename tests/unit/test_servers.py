"""What servers are asked: native schemas, what they keep of a question, no extra requests; and the API of OpenAI."""

from __future__ import annotations

import http.server
import os
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from fdc_toolchain.engine.ports import WorldFailed
from fdc_toolchain.tools.model.http_model import HttpModel
from fdc_toolchain.tools.model.question import Choice, Question
from fdc_toolchain.workspace.failure import ToolFailure

from tests.support.messages_api import Item, Server, broken, fault, messages_api, reply

pytestmark = pytest.mark.skipif(
    not (find_spec("anthropic") and find_spec("openai")),
    reason="a client of a model is not installed",
)
"""Neither is imported here: every worker reads this file, and one runs it."""

SCHEMA = {
    "type": "object",
    "required": ["n"],
    "properties": {"n": {"type": "integer", "minimum": 1}},
}
GOOD = '{"n": 3}'
NAMES = {"claude-sonnet-5": "ANTHROPIC_BASE_URL", "openai:small": "OPENAI_BASE_URL"}


@pytest.fixture
def api(monkeypatch: Any, tmp_path: Path) -> Iterator[Any]:
    """Makes servers that both SDKs find in the environment, which has nothing else of this machine's."""
    for name in os.environ:
        if name.startswith(("ANTHROPIC_", "OPENAI_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-secret-of-the-test")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-of-the-test")
    opened = []

    def make(*script: Item) -> Server:
        manager = messages_api(script)
        opened.append(manager)
        server = manager.__enter__()
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_BASE_URL", server.url + "/v1")
        return server

    yield make
    for manager in opened:
        manager.__exit__(None, None, None)


def model(name: str, **more: Any) -> HttpModel:
    return HttpModel(Choice(name, **more), pause=lambda seconds: None)


def question(schema: Any = SCHEMA, **more: Any) -> Question:
    return Question("explorer", "You count.", "How many?", schema, **more)


both = pytest.mark.parametrize("name", NAMES)


# Schemas


def test_a_schema_goes_to_the_server(api: Any) -> None:
    server = api(reply(GOOD), reply(GOOD))
    for name in NAMES:
        assert model(name).ask(question()).value == {"n": 3}
    messages, chat = server.requests
    made = messages["output_config"]["format"]
    assert made["type"] == "json_schema" and made["schema"]["required"] == ["n"]
    assert made["schema"]["additionalProperties"] is False, "the Messages API asks for it"
    assert "minimum" not in made["schema"]["properties"]["n"], "the Messages API refuses it"
    assert chat["response_format"]["json_schema"]["schema"] == SCHEMA


@pytest.mark.parametrize(
    ("name", "word"), [("claude-sonnet-5", "output_config"), ("openai:small", "response_format")]
)
def test_a_server_without_schemas_is_asked_in_words_from_then_on(
    api: Any, name: str, word: str
) -> None:
    server = api(reply(GOOD), reply(GOOD))
    server.refuses = word
    asked = model(name)
    assert [asked.ask(question()).value for _ in "12"] == [{"n": 3}] * 2
    assert len(server.requests) == 2 and all(word not in sent for sent in server.requests)


@both
def test_a_reply_that_a_server_let_through_is_checked_all_the_same(api: Any, name: str) -> None:
    server = api(reply('{"n": 0}'), reply(GOOD))
    assert model(name).ask(question()).value == {"n": 3}
    assert len(server.requests) == 2 and "cannot be used" in str(server.requests[1]["messages"][-1])


# Keys


@both
def test_neither_key_nor_question_follows_a_redirect(api: Any, name: str) -> None:
    other = api(reply(GOOD))
    named = api(Item(status=307, says=f"{other.url}/v1/there"))
    with pytest.raises(ToolFailure, match="status 307"):
        model(name).ask(question())
    assert (len(named.requests), other.requests) == (1, [])


@both
@pytest.mark.parametrize("status", [404, 500])
def test_a_key_that_a_server_sends_back_is_in_no_message(api: Any, name: str, status: int) -> None:
    api(*[Item(status=status, retry_after=0.0, says="x" * 240 + " sk-secret-of-the-test")] * 9)
    with pytest.raises((ToolFailure, WorldFailed), match="xxxxx") as failed:
        model(name).ask(question())
    assert "sk-s" not in str(failed.value)


# Requests


def test_nothing_is_asked_twice_where_bytes_leave_room(api: Any) -> None:
    """A token is a byte at least: only a tight ceiling is worth a request that counts."""
    server = api(*[reply(GOOD)] * 12)
    asked = model("claude-sonnet-5")
    for _ in range(12):
        assert asked.ask(question(tokens=20_000)).value == {"n": 3}
    assert (server.counted, len(server.requests)) == (0, 12)
    assert all(sent["max_tokens"] == 8192 for sent in server.requests)


def test_a_tight_ceiling_is_counted_and_held(api: Any) -> None:
    server = api(reply(GOOD, tokens=(1500, 20)))
    long = Question("r", "", "word " * 1200, None, 3000)
    assert model("claude-sonnet-5").ask(long).value == GOOD
    assert server.counted == 1
    assert 64 <= server.requests[0]["max_tokens"] <= 3000 - 1500
    api(reply(GOOD))
    with pytest.raises(ToolFailure, match="leaves none"):
        model("openai:small").ask(long)


def asked_again(server: Server, keeps: bool) -> dict[str, int]:
    """Twelve questions, each of which begins as the last one did. What the server billed."""
    server.bills, server.known, server.billed = True, set(), dict.fromkeys(server.billed, 0)
    asked = model("claude-sonnet-5")
    head, found = "the map of the tree " * 2000, ["what a turn found " * 300 for _ in range(12)]
    for turn in range(12):
        pieces = (head, *(f"{number}: {text}" for number, text in enumerate(found[:turn])))
        if keeps:
            asked.ask(question(None)._replace(kept=pieces))
        else:
            asked.ask(question(None)._replace(text="".join(pieces) + "How many?"))
    return server.billed


def test_what_comes_again_is_paid_once(api: Any) -> None:
    server = api(*[reply("three")] * 24)
    plain = asked_again(server, keeps=False)
    kept = asked_again(server, keeps=True)
    total = 10_000 + 11 * 1350
    assert plain["cache_read"] == 0 and plain["input"] > 190_000
    assert kept["cache_write"] < 1.05 * total and kept["input"] < 12 * 20
    assert abs(sum(kept.values()) - sum(plain.values())) < 0.02 * sum(plain.values())
    paid = kept["input"] + 1.25 * kept["cache_write"] + 0.1 * kept["cache_read"]
    assert paid < 0.25 * plain["input"]


# The API of OpenAI


def test_a_reply_comes_back_with_what_it_cost(api: Any) -> None:
    server = api(reply(GOOD, tokens=(100, 20)))
    pieces: list[str] = []
    found = HttpModel(Choice("openai:small", effort="low"), hear=pieces.append).ask(
        question(temperature=0.5)._replace(kept=("Before. ",))
    )
    assert found.value == {"n": 3} and "".join(pieces) == GOOD
    assert found.usage == {"model_calls": 1, "tokens": 120}
    [sent] = server.requests
    assert (sent["model"], sent["max_tokens"], sent["temperature"]) == ("small", 8192, 0.5)
    assert sent["reasoning_effort"] == "low"
    assert [one["role"] for one in sent["messages"]] == ["system", "user"]
    assert sent["messages"][1]["content"] == "Before. How many?"
    assert "sk-secret" in server.headers[0]["authorization"] and "sk-secret" not in str(found)


@pytest.mark.parametrize("status", [429, 500, 503])
def test_trouble_that_passes_is_tried_again(api: Any, status: int) -> None:
    server = api(fault(status), reply(GOOD))
    found = model("openai:small").ask(question())
    assert found.value == {"n": 3} and found.notes["attempts"] == len(server.requests) == 2


@pytest.mark.parametrize("how", ["cut", "hang-up", "garbage"])
def test_a_broken_line_is_tried_again(api: Any, how: str) -> None:
    api(broken(how), reply(GOOD))
    assert model("openai:small").ask(question()).value == {"n": 3}


@pytest.mark.parametrize(
    ("item", "kind"),
    [
        (reply("", stop="refusal"), "refusal"),
        (reply("x", stop="max_tokens"), "reply"),
        (fault(404), "model"),
    ],
)
def test_what_is_no_answer_is_a_failure(api: Any, item: Item, kind: str) -> None:
    api(item, item)
    with pytest.raises(ToolFailure) as raised:
        model("openai:small").ask(question(None))
    assert raised.value.kind == kind


def test_a_server_that_does_not_say_what_it_used_is_reckoned_dear(api: Any) -> None:
    """The ceiling holds all the same: nothing has more tokens than bytes."""
    api(Item("three", fault="silent"))
    found = model("openai:small").ask(question(None))
    assert found.usage["tokens"] >= len("You count.How many?three") and "usage" in found.notes


def test_no_server_is_said_in_a_sentence(api: Any, monkeypatch: Any) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    with pytest.raises(WorldFailed, match="set OPENAI_API_KEY or OPENAI_BASE_URL"):
        model("openai:small").ask(question())
    server = api(fault(401))
    with pytest.raises(WorldFailed, match="does not accept the key"):
        model("openai:small").ask(question())
    assert len(server.requests) == 1


def test_roles_may_be_answered_by_different_servers(api: Any) -> None:
    server = api(reply("a"), reply("b"))
    made = HttpModel(Choice("claude-sonnet-5"), {"critic": Choice("openai:small")})
    assert [made.ask(Question(role, "", "x")).value for role in ("critic", "other")] == ["a", "b"]
    assert [sent["model"] for sent in server.requests] == ["small", "claude-sonnet-5"]
    made.close()


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("claude-sonnet-5", "not have the form of the Messages API"),
        ("openai:small", "`text/html`, not with a stream"),
    ],
)
def test_a_page_in_place_of_a_stream_is_said(
    api: Any, name: str, said: str, monkeypatch: Any
) -> None:
    """As a login page, or a server that does not know `stream`, answers: with what, and what is wanted."""

    class Page(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            self.send_response(200)
            self.send_header("content-type", "text/html; charset=utf-8")
            self.send_header("content-length", "13")
            self.end_headers()
            self.wfile.write(b"<html></html>")

        def log_message(self, *args: object) -> None: ...

    api(reply(GOOD))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        base = f"http://127.0.0.1:{server.server_address[1]}"
        monkeypatch.setenv(NAMES[name], base + "/v1" * name.startswith("openai:"))
        with pytest.raises(WorldFailed, match=said):
            model(name).ask(question())
        server.shutdown()
