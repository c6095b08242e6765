"""How the server is reached: on stdin and stdout, or over HTTP on loopback."""

from __future__ import annotations

import asyncio
import signal
import socket
import threading
import time
from collections.abc import Callable
from types import FrameType

from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server

from .http_guard import Guard
from .unread_lines import Answering

PATH = "/mcp"
MOST_BODY = 2 * 1024 * 1024
MOST_CONNECTIONS = 64
MOST_ENDING = (
    1.0  # seconds from a signal to the end of the process; longer only for commands that do not end
)


def on_stdio(server: Server[object], leave: Callable[[], None]) -> None:
    """Serves until stdin is closed; `leave` interrupts the runs.

    A signal ends the process by itself: a thread that waits for stdin hears nothing else.
    """

    def end(which: int, frame: FrameType | None) -> None:
        signal.signal(which, signal.SIG_DFL)  # a second one ends the process at once
        leave()
        signal.raise_signal(which)

    for which in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(which) != signal.SIG_IGN:
            signal.signal(which, end)

    async def serve() -> None:
        async with stdio_server() as (reads, writes):
            answering = Answering(reads, writes.send)
            await server.run(answering, writes, server.create_initialization_options())

    try:
        asyncio.run(serve())
    finally:
        leave()


def listening(port: int) -> socket.socket:
    """A socket on loopback; port 0 is any that is free. Raises OSError."""
    return socket.create_server(("127.0.0.1", port), backlog=MOST_CONNECTIONS)


def on_http(
    server: Server[object],
    opened: socket.socket,
    token: str,
    end: Callable[[int], object],
    leave: Callable[[], None],
) -> None:
    """Serves until SIGINT or SIGTERM; `leave` interrupts the runs, `end` ends the process with a code where clients keep it."""
    import uvicorn

    from .slow_clients import Hurried

    class Stopping(uvicorn.Server):
        def handle_exit(self, sig: int, frame: FrameType | None) -> None:
            """Ends the process soon, also while clients are asked: what runs did is on record."""
            super().handle_exit(sig, frame)
            code = 0 if sig == signal.SIGINT else 128 + sig
            threading.Thread(target=late, args=(code,), daemon=True).start()

    def late(code: int) -> None:
        began = time.monotonic()
        leave()
        time.sleep(max(0.0, began + MOST_ENDING - time.monotonic()))
        end(code)

    port = opened.getsockname()[1]
    app = server.streamable_http_app(streamable_http_path=PATH, max_request_body_size=MOST_BODY)
    config = uvicorn.Config(
        Guard(app, port, token), log_level="error", access_log=False, server_header=False, date_header=False,
        limit_concurrency=MOST_CONNECTIONS, timeout_graceful_shutdown=3, http=Hurried,
    )  # fmt: skip
    try:
        Stopping(config).run(sockets=[opened])
    finally:
        leave()
