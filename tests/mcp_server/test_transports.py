"""`fdc mcp` as a process: on stdin and stdout, and over HTTP, for whoever has the token and for everybody else."""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx2
import pytest
from fdc_toolchain import api
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from tests.support.background import fdc_started
from tests.support.mcp_client import MODES, accepted, text_of
from tests.support.process import fdc

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


def test_what_is_wrong_with_the_command_line_is_said(workspace: Path) -> None:
    for words, env, said in (
        (["--port", "80"], {}, "`--port` needs `--http`"),
        (["--http"], {"FDC_MCP_TOKEN": "short"}, "FDC_MCP_TOKEN must have 32 to 512"),
        (["--workspace", "gone"], {}, "gone"),
    ):
        done = fdc("mcp", *words, cwd=workspace, env={**os.environ, **env})
        assert done.returncode == 2 and said in done.stderr and done.stdout == "", done
