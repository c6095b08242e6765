"""Who may speak to the server over HTTP: a client with the token, and no page in a browser.

The server listens on loopback, where every page in a browser of this machine can send requests, also under a name of its own
that it lets lead here (DNS rebinding). So a request has to name the server by its own address, must not come from a page
elsewhere, and has to carry the token. All three are checked before anything else is read.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from hmac import compare_digest
from typing import Any, TypeAlias

Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
App: TypeAlias = Callable[[Message, Receive, Send], Awaitable[None]]


class Guard:
    """The application, behind the checks."""

    def __init__(self, app: App, port: int, token: str) -> None:
        self._app = app
        self._hosts = (f"127.0.0.1:{port}", f"localhost:{port}")
        self._expected = b"Bearer " + token.encode("ascii")

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """One connection."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        status, sentence = 404, "the page does not exist"
        if scope["type"] == "http":
            status, sentence = self._refusal(scope)
        if status:
            await _answer(send, status, sentence)
        else:
            await self._app(scope, receive, send)

    def _refusal(self, scope: Message) -> tuple[int, str]:
        """Why a request is refused; status 0 where it is not."""
        fields: dict[bytes, list[bytes]] = {}
        for name, value in scope["headers"]:
            fields.setdefault(name.lower(), []).append(value)
        host = [value.decode("latin-1").lower() for value in fields.get(b"host", [])]
        if len(host) != 1 or host[0] not in self._hosts:
            return 421, "this server answers to its own address on this machine only"
        if any(origin != b"http://" + host[0].encode() for origin in fields.get(b"origin", [])):
            return 403, "the request comes from a page elsewhere"
        given = fields.get(b"authorization", [])
        if len(given) != 1 or not compare_digest(given[0], self._expected):
            return 401, "the request does not carry the token that `fdc mcp` printed"
        return 0, ""


async def _answer(send: Send, status: int, sentence: str) -> None:
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"cache-control", b"no-store")]
    if status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": f"{sentence}\n".encode()})
