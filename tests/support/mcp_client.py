"""A real client of the MCP server, in this process: the SDK's, in both ages of the protocol."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Literal, TypeVar

from fdc_toolchain.mcp_server.run_drives import Drives
from fdc_toolchain.mcp_server.server import made
from mcp import Client
from mcp.types import CallToolResult, ElicitResult, TextContent

Mode = Literal["legacy", "auto"]
MODES: tuple[Mode, ...] = ("legacy", "auto")
"""Before 2026-07-28, with requests of the server; and since, with forms in results."""

Value = TypeVar("Value")
Person = Callable[[str, dict[str, Any]], ElicitResult]


def talk(
    workspace: Path,
    work: Callable[[Client], Awaitable[Value]],
    *,
    mode: Mode = "auto",
    person: Person | None = None,
    patience: float = 30.0,
) -> Value:
    """What `work` brings, with a client of a new server. `person` answers forms; without one there are none."""

    async def answer(context: Any, params: Any) -> ElicitResult:
        assert person is not None
        return person(params.message, params.requested_schema)

    async def talking() -> Value:
        server = made(Drives(str(workspace)), patience=patience)
        async with Client(
            server, mode=mode, elicitation_callback=None if person is None else answer, cache=None
        ) as client:
            return await work(client)

    return asyncio.run(talking())


def call(
    workspace: Path,
    name: str,
    arguments: dict[str, Any],
    *,
    mode: Mode = "auto",
    person: Person | None = None,
) -> CallToolResult:
    """One call of a tool."""

    async def work(client: Client) -> CallToolResult:
        return await client.call_tool(name, arguments)

    return talk(workspace, work, mode=mode, person=person)


def text_of(result: CallToolResult) -> str:
    """What a tool answered."""
    assert [type(item) for item in result.content] == [TextContent]
    item = result.content[0]
    assert isinstance(item, TextContent)
    return item.text


def accepted(**content: Any) -> ElicitResult:
    """A form that was sent off with this in it."""
    return ElicitResult(action="accept", content=content)
