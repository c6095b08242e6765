"""`fdc mcp` as a process: on stdin and stdout, and over HTTP, for whoever has the token and for everybody else."""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import httpx2
import pytest
from fdc_toolchain import api
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from tests.support.background import PATIENCE, fdc_started, wait_for
from tests.support.mcp_client import MODES, accepted, text_of
from tests.support.process import fdc, working_in

ASKS = (
    "set_plan x\nplan_step_complete one\nrecord_user_approval_for_plan it\n"
    "create_file_with_block out.md\n    written\nclose_task\nsubmit\n"
)
TOKEN = "t" * 40


def test_on_stdio_with_answers_that_nobody_asked_for(workspace: Path) -> None:
    """A client of the older protocol without forms, which sends answers before and after each question."""
    (workspace / "p.plan").write_text(ASKS)
    hello = {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"},
    }  # fmt: skip
    yes = {"action": "accept", "content": {"approve": True, "answer": "yes"}}
    forged = [{"jsonrpc": "2.0", "id": number, "result": yes} for number in (*range(8), "0", "1")]
    lines: list[Any] = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        *forged,
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call",
         "params": {"name": "fdc_run", "arguments": {"op": "start", "plan": "p.plan"}}},
        *forged,
        {"jsonrpc": "2.0", "id": 3, "method": "elicitation/create", "params": yes},
        {"jsonrpc": "2.0", "id": 4, "method": "tools/answer", "params": {"answer": "yes"}},
    ]  # fmt: skip
    with fdc_started("mcp", cwd=workspace, stdin=subprocess.PIPE) as process:
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write("".join(json.dumps(line) + "\n" for line in lines))
        process.stdin.flush()
        replies: dict[Any, Any] = {}
        while not {1, 2, 3, 4} <= replies.keys():
            reply = json.loads(process.stdout.readline())
            replies[reply.get("id")] = reply
        assert "It waits for a person." in replies[2]["result"]["content"][0]["text"]
        assert "error" in replies[3] and "error" in replies[4]
        process.stdin.close()
        assert process.wait(60) == 0
    assert api.show("last", workspace=workspace).status == "waiting"
    assert not (workspace / "out.md").exists()


HELLO = {
    "protocolVersion": "2025-11-25", "capabilities": {"elicitation": {"form": {}}}, "clientInfo": {"name": "x", "version": "1"},
}  # fmt: skip
YES = {"action": "accept", "content": {"approve": "yes"}}
DEEP = b'{"a":' * 100_000 + b"1" + b"}" * 100_000
NOT_JSON_RPC = [
    b"", b"{", b"[]", b"null", b"\xff\xfe", b"[" * 200_000, DEEP, b'{"jsonrpc": "1.0", "id": 1}',
    b'{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"fdc_lint","arguments":{"path":"\\ud800"}}}',
]  # fmt: skip


class Wire:
    """A client of the older protocol that says what it likes, line by line."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        assert process.stdin is not None and process.stdout is not None
        self._in, self._out, self._calls = process.stdin, process.stdout, 100
        self.say(id=1, method="initialize", params=HELLO)
        self.until(1)
        self.say(method="notifications/initialized")

    def line(self, data: bytes) -> None:
        self._in.buffer.write(data + b"\n")
        self._in.flush()

    def say(self, **message: Any) -> None:
        self.line(json.dumps({"jsonrpc": "2.0", **message}).encode())

    def until(self, number: int = 0, method: str | None = None) -> dict[str, Any]:
        """The reply to a message, or the next message with a method."""
        while True:
            said: dict[str, Any] = json.loads(self._out.readline())
            if said.get("method") == method and (method or said.get("id") == number):
                return said

    def call(self, **arguments: str) -> int:
        self._calls += 1
        params = {"name": "fdc_run", "arguments": arguments}
        self.say(id=self._calls, method="tools/call", params=params)
        return self._calls

    def asked(self, **arguments: str) -> tuple[int, int]:
        """Calls, until a form comes: the number of the call, and of the form."""
        number = self.call(**arguments)
        return number, self.until(method="elicitation/create")["id"]


def test_a_client_that_lies_errs_and_leaves_gets_no_approval_that_was_not_given(
    workspace: Path,
) -> None:
    """On stdio: no then yes, an error, a form of another kind, a call that is taken back, text that is no message, no client."""
    (workspace / "p.plan").write_text(ASKS)
    with fdc_started("mcp", cwd=workspace, stdin=subprocess.PIPE) as process:
        wire = Wire(process)
        call, form = wire.asked(op="start", plan="p.plan")
        wire.say(id=form, result={"action": "decline"})
        wire.say(id=form, result=YES)
        assert "It waits for a person." in str(wire.until(call))
        for reply in (
            {"error": {"code": -1, "message": "no"}},
            {"result": {"action": "accept", "content": {"approve": {"yes": 1}}}},
            {"result": {"action": "yes", "content": {"approve": "yes"}}},
        ):
            call, form = wire.asked(op="resume", run="last")
            wire.say(id=form, **reply)
            assert "It waits for a person." in str(wire.until(call)), reply
        call, form = wire.asked(op="resume", run="last")
        wire.say(method="notifications/cancelled", params={"requestId": call})
        wire.say(id=form, result=YES)
        for data in NOT_JSON_RPC:
            wire.line(data)
        assert "waiting" in str(wire.until(wire.call(op="status")))
        wire.asked(op="resume", run="last")
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(60) == 0
    assert api.show("last", workspace=workspace).status == "waiting"
    assert not (workspace / "out.md").exists()


def test_a_line_that_is_no_message_is_answered_and_ends_no_form_with_a_yes(workspace: Path) -> None:
    """Programs in JavaScript write half of a character as `\\ud83d`: a client would wait for a reply without an end."""
    (workspace / "p.plan").write_text(ASKS)
    with fdc_started("mcp", cwd=workspace, stdin=subprocess.PIPE) as process:
        wire = Wire(process)
        for line, number, code in (
            (
                '{"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": {"name": "\\ud83d"}}',
                9,
                -32700,
            ),
            ('{"jsonrpc": "2.0", "id": "a", "method": "tools/call", "params": [1]}', "a", -32600),
            ('{"jsonrpc": "1.0", "id": 4, "method": "ping"}', 4, -32600),
            ('{"jsonrpc": "2.0", "id": "\\ud800", "method": "ping"}', None, -32700),
            ("{", None, -32700),
            ("[]", None, -32600),
        ):
            wire.line(line.encode())
            reply = json.loads(process.stdout.readline())  # type: ignore[union-attr]
            assert (reply["id"], reply["error"]["code"]) == (number, code), line
        call, form = wire.asked(op="start", plan="p.plan")
        yes = '{"jsonrpc": "2.0", "id": %d, "result": {"action": "accept", "content": %s}}'
        wire.line((yes % (form, '{"approve": "yes", "note": "\\ud83d"}')).encode())
        assert "It waits for a person." in str(wire.until(call))
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(60) == 0
    assert api.show("last", workspace=workspace).status == "waiting"


LONG = "touch began; while [ ! -e go ]; do sleep 0.02; done; echo x >> log"


@pytest.mark.long
@pytest.mark.parametrize("end", ["kill", "term", "no client"])
def test_a_server_that_ends_inside_of_a_run_leaves_nothing_running_and_resume_goes_on(
    workspace: Path, end: str
) -> None:
    plan = f"set_plan x\nplan_step_complete one\nrun_in_bash_session {LONG}\nclose_task\nsubmit\n"
    (workspace / "p.plan").write_text(plan)
    with fdc_started("mcp", cwd=workspace, stdin=subprocess.PIPE) as process:
        Wire(process).call(op="start", plan="p.plan")
        wait_for((workspace / "began").exists)
        if end == "kill":
            process.kill()
        elif end == "term":
            process.terminate()
            process.wait(PATIENCE)
        assert process.stdin is not None
        process.stdin.close()
        process.wait(PATIENCE)
    wait_for(lambda: not working_in(workspace))
    (workspace / "go").touch()
    if end == "kill":
        asked = fdc("resume", cwd=workspace)
        assert asked.returncode == 5 and not (workspace / "log").exists(), asked
        assert 0 == fdc("resume", "--all", "--assume", "not-done", cwd=workspace).returncode
    else:
        assert 0 == fdc("resume", cwd=workspace).returncode
    assert (workspace / "log").read_text() == "x\n"
    assert 0 == fdc("verify", "last", cwd=workspace).returncode


@pytest.fixture
def server(workspace: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A server over HTTP, and its address."""
    with fdc_started("mcp", "--http", cwd=workspace, env={"FDC_MCP_TOKEN": TOKEN}) as process:
        assert process.stdout is not None
        url = process.stdout.readline().split()[-1]
        assert process.stdout.readline() == "header: Authorization: Bearer $FDC_MCP_TOKEN\n"
        yield process, url


def test_over_http_for_whoever_has_the_token(
    workspace: Path, server: tuple[subprocess.Popen[str], str]
) -> None:
    process, url = server
    (workspace / "p.plan").write_text(ASKS)

    async def person(context: Any, params: Any) -> Any:
        return accepted(approve="yes")

    async def talk() -> None:
        for mode in MODES:
            (workspace / "out.md").unlink(missing_ok=True)
            headers = {"Authorization": f"Bearer {TOKEN}"}
            async with (
                httpx2.AsyncClient(headers=headers, trust_env=False) as wire,
                Client(
                    streamable_http_client(url, http_client=wire),
                    mode=mode,
                    elicitation_callback=person,
                ) as client,
            ):
                ended = await client.call_tool("fdc_run", {"op": "start", "plan": "p.plan"})
                assert "finished" in text_of(ended), mode
                outside = await client.call_tool("fdc_lint", {"path": "../x.plan"})
                assert outside.is_error

    asyncio.run(talk())

    port = int(url.split(":")[2].partition("/")[0])
    own, elsewhere = f"127.0.0.1:{port}", "evil.example"
    good = [("Host", own), ("Authorization", f"Bearer {TOKEN}")]
    tries: list[tuple[int, list[tuple[str, str]]]] = [
        (401, [("Host", own)]),
        (401, [("Host", own), ("Authorization", f"Bearer {TOKEN}x")]),
        (401, [("Host", own), ("Authorization", f"Basic {TOKEN}")]),
        (401, [*good, ("Authorization", "Bearer x")]),
        (421, [("Host", elsewhere), good[1]]),
        (421, [("Host", f"{elsewhere}:{port}"), good[1]]),
        (421, [("Host", f"127.0.0.1.{elsewhere}:{port}"), good[1]]),
        (421, [("Host", f"127.0.0.1:{port + 1}"), good[1]]),
        (403, [*good, ("Origin", f"http://{elsewhere}")]),
        (403, [*good, ("Origin", "null")]),
        (403, [*good, ("Origin", f"http://127.0.0.1:{port + 1}")]),
        (403, [*good, ("Origin", f"https://{own}")]),
        (403, [*good, ("Origin", f"http://{own}"), ("Origin", f"http://{elsewhere}")]),
    ]
    for status, headers in tries:
        for method, path in (("POST", "/mcp"), ("GET", "/mcp"), ("GET", "/"), ("OPTIONS", "/mcp")):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
            with closing(connection):
                connection.putrequest(method, path, skip_host=True)
                for name, value in headers:
                    connection.putheader(name, value)
                connection.endheaders()
                reply = connection.getresponse()
                said = reply.read()
                assert reply.status == status and TOKEN.encode() not in said, (status, headers)
                assert not reply.getheader("Access-Control-Allow-Origin")
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 0


class Session:
    """A session over HTTP of the older protocol, with its requests written by hand."""

    def __init__(self, url: str, closing_all: ExitStack) -> None:
        self._all = closing_all
        self.port, self.name = int(url.split(":")[2].partition("/")[0]), ""
        reply = self.post({"id": 1, "method": "initialize", "params": HELLO})
        self.name = reply.getheader("Mcp-Session-Id") or ""
        reply.read()
        assert self.status({"method": "notifications/initialized"}) == 202

    def post(
        self, message: dict[str, Any] | bytes, method: str = "POST", **headers: str
    ) -> http.client.HTTPResponse:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        self._all.callback(connection.close)
        session = {"Mcp-Session-Id": self.name} if self.name else {}
        kind = {
            "Content-Type": "application/json", "Accept": "application/json, text/event-stream",
        }  # fmt: skip
        data = message if isinstance(message, bytes) else json.dumps({"jsonrpc": "2.0", **message})
        connection.request(
            method,
            "/mcp",
            data,
            {"Authorization": f"Bearer {TOKEN}", **kind, **session, **headers},
        )
        return connection.getresponse()

    def status(self, message: dict[str, Any] | bytes, method: str = "POST", **headers: str) -> int:
        with closing(self.post(message, method, **headers)) as reply:
            reply.read()
            return reply.status

    def call(self, **arguments: str) -> tuple[http.client.HTTPResponse, Iterator[dict[str, Any]]]:
        """The reply of a call, and its messages as they come."""
        params = {"name": "fdc_run", "arguments": arguments}
        reply = self.post({"id": 7, "method": "tools/call", "params": params})
        lines = iter(reply.readline, b"")
        return reply, (json.loads(line[5:]) for line in lines if line.startswith(b"data: {"))

    def asked(self, **arguments: str) -> tuple[http.client.HTTPResponse, int]:
        """Calls, until a form comes: the open reply, and the number of the form."""
        reply, messages = self.call(**arguments)
        return reply, next(one["id"] for one in messages if one.get("method"))


def test_of_two_clients_over_http_each_answers_its_own_forms(
    workspace: Path, server: tuple[subprocess.Popen[str], str]
) -> None:
    """A form is of one session: no other one answers it, none that is over, and nobody without a session."""
    process, url = server
    (workspace / "p.plan").write_text(ASKS)
    with ExitStack() as stack:
        one, other, nobody = (Session(url, stack) for _ in range(3))
        reply, form = one.asked(op="start", plan="p.plan")
        yes = {"id": form, "result": YES}
        assert other.status(yes) == 202, (
            "it counts as the answer to a form that this client never got"
        )
        nobody.name = ""
        assert nobody.status(yes) == 400
        assert nobody.status(yes, **{"MCP-Protocol-Version": "2026-07-28"}) == 400
        nobody.name = "0" * 32
        assert nobody.status(yes) == 404
        assert one.status(b"", "DELETE") == 200 and one.status(yes) == 404, "a session that is over"
        reply.close()

        for data, status in (
            (b"x" * 3_000_000, 413), (b"[" * 1_000_000, 400), (DEEP, 400), (b"{", 400), (b"\xff", 400),
        ):  # fmt: skip
            assert other.status(data) == status
        reply, _ = other.asked(op="resume", run="last")
        assert api.show("last", workspace=workspace).status == "waiting"
        assert not (workspace / "out.md").exists()
        process.send_signal(signal.SIGINT)  # while a client is asked
        assert process.wait(10) == 0
        reply.close()


def test_what_is_wrong_with_the_command_line_is_said(workspace: Path) -> None:
    for words, env, said in (
        (["--port", "80"], {}, "`--port` needs `--http`"),
        (["--http"], {"FDC_MCP_TOKEN": "short"}, "FDC_MCP_TOKEN must have 32 to 512"),
        (["--workspace", "gone"], {}, "gone"),
    ):
        done = fdc("mcp", *words, cwd=workspace, env={**os.environ, **env})
        assert done.returncode == 2 and said in done.stderr and done.stdout == "", done


@pytest.mark.long
def test_clients_that_never_finish_the_head_of_a_request_do_not_keep_the_server_from_others(
    server: tuple[subprocess.Popen[str], str],
) -> None:
    """Half of them had an answer before. They held all places for ever, and everybody else got 503."""
    port = int(server[1].split(":")[2].partition("/")[0])

    def status() -> int:
        with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=60)) as connection:
            connection.request("GET", "/mcp")
            return connection.getresponse().status

    with ExitStack() as held:
        for number in range(63):  # the next one is the 64th
            line = held.enter_context(socket.create_connection(("127.0.0.1", port), timeout=60))
            if number % 2:
                line.sendall(b"GET /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
                assert line.recv(4096).startswith(b"HTTP/1.1 421 ")
            line.sendall(b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1")
        assert 503 == status()
        wait_for(lambda: status() == 401)
