"""Web servers on this machine: a site with pages that behave, or do not, and a search engine that knows them.

    with site({"/": page("Tea", "<p>Green tea...</p>")}) as tea, searxng([(tea.url + "/", "Tea", "about tea")]) as found:
        environment = allowing(tea, found)

Real HTTP on loopback. The product refuses such addresses; `allowing` is what an operator sets to let these few through.
"""

from __future__ import annotations

import json
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit


class Reply(NamedTuple):
    """An answer: `body` is sent as it is; `wait` seconds between its pieces where they are several."""

    body: bytes = b""
    kind: str = "text/html; charset=utf-8"
    status: int = 200
    headers: Mapping[str, str] = {}
    pieces: Sequence[bytes] | None = None
    wait: float = 0.0


Route = Reply | Callable[["Handler"], Reply | None]


def page(title: str, body: str, charset: str = "utf-8") -> Reply:
    """A page with an article."""
    inside = f"<nav><a href='/'>Home</a></nav><article><h1>{title}</h1>{body}</article>"
    text = f"<html><head><title>{title}</title></head><body>{inside}</body></html>"
    return Reply(text.encode(charset), f"text/html; charset={charset}")


def redirect(where: str, status: int = 302) -> Reply:
    """A redirect."""
    return Reply(status=status, headers={"location": where})


class Handler(BaseHTTPRequestHandler):
    """Answers by the routes of its server."""

    protocol_version = "HTTP/1.1"
    server: Site

    def log_message(self, *args: Any) -> None:
        pass

    def do_GET(self) -> None:
        """A page."""
        self._answer(b"")

    def do_POST(self) -> None:
        """A question to an interface."""
        self._answer(self.rfile.read(int(self.headers["content-length"])))

    def do_CONNECT(self) -> None:
        """Whoever takes us for a proxy gets nowhere."""
        with self.server.lock:
            self.server.asked.append(Asked(self.path, {}, b""))
        self.send_error(403)

    def _answer(self, body: bytes) -> None:
        with self.server.lock:
            headers = {key.lower(): value for key, value in self.headers.items()}
            self.server.asked.append(Asked(self.path, headers, body))
        route = self.server.routes.get(urlsplit(self.path).path)
        found = route(self) if callable(route) else route
        if route is None:
            found = Reply(b"not here", "text/plain", 404)
        if found is not None:
            self._send(found)
        self.close_connection = True

    def _send(self, reply: Reply) -> None:
        pieces = [reply.body] if reply.pieces is None else reply.pieces
        self.send_response(reply.status)
        self.send_header("content-type", reply.kind)
        headers = {
            **({"content-length": str(len(reply.body))} if reply.pieces is None else {}),
            **reply.headers,
        }
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("connection", "close")
        self.end_headers()
        try:
            for piece in pieces:
                self.wfile.write(piece)
                self.wfile.flush()
                if reply.wait and self.server.closing.wait(reply.wait):
                    break
        except OSError:
            pass  # the caller has had enough


class Asked(NamedTuple):
    """A request that came in."""

    path: str
    headers: dict[str, str]
    body: bytes


class Site(ThreadingHTTPServer):
    """A server; `asked` are the requests that came."""

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, routes: Mapping[str, Route], secure: ssl.SSLContext | None = None) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        if secure is not None:
            self.socket = secure.wrap_socket(self.socket, server_side=True)
        self.routes = dict(routes)
        self.asked: list[Asked] = []
        self.lock = threading.Lock()
        self.closing = threading.Event()

    @property
    def host(self) -> str:
        """`127.0.0.1:PORT`."""
        return f"127.0.0.1:{self.server_address[1]}"

    @property
    def url(self) -> str:
        """The address, without a slash at its end."""
        return f"http://{self.host}"

    def paths(self) -> list[str]:
        """What was asked for, in order."""
        with self.lock:
            return [one.path for one in self.asked]


@contextmanager
def site(routes: Mapping[str, Route], secure: ssl.SSLContext | None = None) -> Iterator[Site]:
    """A site while it lasts, over TLS where a context is given. Its robots.txt is not there unless it is among the routes."""
    server = Site(routes, secure)
    thread = threading.Thread(
        target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
    )
    thread.start()
    try:
        yield server
    finally:
        server.closing.set()
        server.shutdown()
        server.server_close()
        thread.join(5)


def searxng(hits: Sequence[tuple[str, str, str]]) -> Any:
    """A SearXNG that finds these (address, title, snippet), whatever it is asked."""

    def answer(handler: Handler) -> Reply:
        asked = parse_qs(urlsplit(handler.path).query)
        assert ["json"] == asked["format"] and asked["q"][0].strip()
        rows = [
            {"url": url, "title": title, "content": snippet, "engine": "test"}
            for url, title, snippet in hits
        ]
        return Reply(
            json.dumps({"query": asked["q"][0], "results": rows}).encode(), "application/json"
        )

    return site({"/search": answer})


def allowing(*sites: Site, search: Site | None = None) -> dict[str, str]:
    """The environment of an operator who lets fdc reach these sites on this machine, and no other private ones."""
    out = {"FDC_ALLOW_WEB": "1", "FDC_WEB_PRIVATE": " ".join(one.host for one in sites)}
    return {**out, "FDC_SEARXNG_URL": search.url} if search is not None else out
