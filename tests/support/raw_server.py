"""A server on loopback that speaks bytes as a test wants them."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress


@contextmanager
def raw_server(answer: Callable[[socket.socket], None]) -> Iterator[str]:
    """The address of a server where `answer` speaks to each request that has a body; others get 404."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            while True:
                try:
                    there, _ = listening.accept()
                except OSError:
                    return
                with there, there.makefile("rb") as came:
                    head = [*iter(came.readline, b"\r\n")]
                    sizes = [row for row in head if row.lower().startswith(b"content-length")]
                    came.read(sum(int(row.split()[1]) for row in sizes))
                    if not sizes:
                        there.sendall(b"HTTP/1.0 404 no\r\n\r\n")
                        continue
                    with suppress(OSError):
                        answer(there)

        threading.Thread(target=serve, daemon=True).start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
