"""The web page over all runs: HTTP on loopback, threads of the standard library.

One person looks at one workspace: a thread for each request is enough, and nothing has to be installed. A connection
that does not hurry is dropped after `SLOW` seconds, more than `MOST` at once are turned away.
"""

from __future__ import annotations

import json
import re
import secrets
import socket
import socketserver
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from ..packs.index import index
from ..packs.model import Page
from ..upgraded import START_AGAIN, is_upgraded
from . import pages
from .guard import HEADERS, MOST_BODY, Guard, Refusal
from .port import Runs, Trouble

SLOW = 10.0
MOST = 48
STREAMS = 12
_LOOK = 0.5
_BEAT = 15.0
_RUN = re.compile(r"/runs/([0-9a-z-]{1,64})(?:/(report|answer|resume))?")
_LIST = re.compile(r"/api/([a-z][0-9a-z_-]{0,63})")
_RECORD = re.compile(r"(/api)?/([a-z][0-9a-z_-]{0,63})/([0-9a-z-]{1,64})")
_AGAIN = re.compile(r"/api/([a-z][0-9a-z_-]{0,63})/([0-9a-z-]{1,64})/rerun")
_NO_RECORD = "this page has no run of that name"
_NO_SESSION = "open an address that `fdc ui` printed; each works once, for one browser"
_SCRIPT = "text/javascript; charset=utf-8"
_FILES = {"/style.css": "text/css; charset=utf-8", "/live.js": _SCRIPT}
_MOST_CODE = 256
MOST_SAID = 20
"""Messages for pages that nobody has asked for yet."""


class Server(socketserver.ThreadingMixIn, HTTPServer):
    """Serves until `shutdown`. Raises OSError where the port is taken."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 64

    def __init__(
        self, runs: Runs, port: int = 0, tell: Callable[[str], None] = lambda sentence: None
    ) -> None:
        """`tell` is told what the person who started the server should know: once each time that a code is refused."""
        self.runs = runs
        self.tell = tell
        self.said: dict[str, list[str]] = {}
        self.over = threading.Event()
        self.streams = threading.BoundedSemaphore(STREAMS)
        self._room = threading.BoundedSemaphore(MOST)
        self.asking: dict[Any, float] = {}
        super().__init__(("127.0.0.1", port), _Handler)
        self.guard = Guard(self.server_port)

    def address(self, seconds: float) -> str:
        """An address with a one-time code that is valid for the given number of seconds."""
        return f"http://127.0.0.1:{self.server_port}/?code={self.guard.code(seconds)}"

    def server_bind(self) -> None:
        """As of HTTPServer, without asking anybody for our name."""
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = "127.0.0.1", self.server_address[1]

    def process_request(
        self, request: socket.socket | tuple[bytes, socket.socket], client_address: object
    ) -> None:
        """A thread for each, up to a number."""
        if not self._room.acquire(blocking=False):
            self.shutdown_request(request)
            return
        self.asking[request] = time.monotonic()
        super().process_request(request, client_address)

    def process_request_thread(
        self, request: socket.socket | tuple[bytes, socket.socket], client_address: object
    ) -> None:
        """Gives the place back, whatever happens."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self.asking.pop(request, None)
            self._room.release()

    def service_actions(self) -> None:
        """Closes connections that have not sent a complete request within the time limit (slowloris)."""
        late = time.monotonic() - 2 * SLOW
        for request, began in list(self.asking.items()):
            if began < late:
                self.asking.pop(request, None)
                try:
                    request.shutdown(socket.SHUT_RDWR)
                except OSError:
                    continue  # it has just disconnected

    def handle_error(
        self, request: socket.socket | tuple[bytes, socket.socket], client_address: object
    ) -> None:
        """Ignores clients that disconnect in the middle."""

    def server_close(self) -> None:
        """Ends the streams too."""
        self.over.set()
        super().server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "fdc"
    sys_version = ""
    timeout = SLOW
    server: Server

    def do_GET(self) -> None:
        self._answer(self._get)

    def do_HEAD(self) -> None:
        self._answer(self._get)

    def do_POST(self) -> None:
        self._answer(self._post)

    def log_message(self, format: str, *args: Any) -> None:
        """Does not log, because the terminal belongs to the person who started the server."""

    def _answer(self, handle: Any) -> None:
        self.close_connection = True
        self.server.asking.pop(self.connection, None)
        self.fields: dict[str, list[str]] = {}
        for name, value in self.headers.items():
            self.fields.setdefault(name.lower(), []).append(value)
        try:
            refused = self.server.guard.address(self.fields, entering=self._code() is not None)
            if refused is None:
                refused = handle()
            if refused is not None:
                self._refuse(refused)
        except Trouble as trouble:
            self._refuse(Refusal(409, str(trouble)))
        except (ConnectionError, TimeoutError):
            return
        except Exception as bug:
            said = f"internal error: {type(bug).__name__}; this is a bug of fdc, please report it"
            if is_upgraded():
                said = f"{START_AGAIN} ({type(bug).__name__})"
            self._refuse(Refusal(500, said))

    def _get(self) -> Refusal | None:
        guard, runs = self.server.guard, self.server.runs
        path = urlsplit(self.path).path
        code = self._code()
        if code is not None:
            return self._offer(code)
        if path == "/enter.js":
            return self._send(200, pages.file(path[1:]), _SCRIPT)
        if not guard.known(self.fields):
            return Refusal(401, _NO_SESSION)
        if path in _FILES:
            return self._send(200, pages.file(path[1:]), _FILES[path])
        if path == "/events":
            return self._stream()
        stamp = runs.stamp()
        if path == "/":
            return self._page(pages.overview(runs, stamp, self._said(), guard.csrf))
        listed = _LIST.fullmatch(path)
        if listed is not None and listed[1] in index().pages:
            return self._json(200, runs.records(index().pages[listed[1]]))
        record = _RECORD.fullmatch(path)
        if record is not None and record[2] in index().pages:
            return self._record(index().pages[record[2]], record[3], record[1] is not None)
        found = _RUN.fullmatch(path)
        if found is None or found[2] not in (None, "report"):
            return Refusal(404, "the page does not exist")
        run = runs.page(found[1])
        if run is None:
            return Refusal(404, "the run does not exist")
        if found[2] == "report":
            page, policy = pages.report(run)
            return self._page(page, {"Content-Security-Policy": policy})
        return self._page(pages.run(run, runs, stamp, self._said(), guard.csrf))

    def _code(self) -> str | None:
        """The code of a request that wants to be let in."""
        if self.command != "GET" or not self.path.startswith("/?"):
            return None
        return self._asked().get("code")

    def _asked(self) -> dict[str, str]:
        """What stands behind the `?`; nothing where it is more than our pages write there."""
        try:
            query = urlsplit(self.path).query
            return dict(parse_qsl(query, keep_blank_values=True, max_num_fields=5))
        except ValueError:
            return {}

    def _offer(self, code: str) -> Refusal | None:
        """Answers a printed address with a page that exchanges its code by a form. The address alone lets nobody in, because
        browsers and previews load addresses before a person opens them."""
        guard = self.server.guard
        if guard.known(self.fields):
            return self._elsewhere("/")  # a page that is loaded again, in a browser that is in
        return self._told(guard.refusal(code)) or self._page(pages.enter(code))

    def _told(self, refused: Refusal | None) -> Refusal | None:
        """A refused code; the person at the terminal is told of one that was already used."""
        if refused is not None and refused.status == 410:
            self.server.tell(f"{refused.sentence}, and was refused to the client that opened it")
        return refused and refused._replace(sentence=f"{refused.sentence}; {_NO_SESSION}")

    def _post(self) -> Refusal | None:
        guard, runs = self.server.guard, self.server.runs
        entering = self.path == "/enter"
        if not entering and not guard.known(self.fields):
            return Refusal(401, _NO_SESSION)
        length = guard.change(self.fields, _MOST_CODE if entering else MOST_BODY)
        if isinstance(length, Refusal):
            return length
        body = self._read(length)
        try:
            pairs = parse_qsl(
                body.decode("ascii"),
                keep_blank_values=True,
                strict_parsing=True,
                errors="strict",
                max_num_fields=20,
            )
        except ValueError:
            return Refusal(400, "the form cannot be read")
        fields = dict(pairs)
        if entering:
            refused = self._told(guard.exchange(fields.get("code", "")))
            return refused or self._elsewhere("/", {"Set-Cookie": guard.set_cookie()})
        refused = guard.form(fields)
        if refused is not None:
            return refused
        again = _AGAIN.fullmatch(self.path)
        if again is not None and again[1] in index().pages:
            page, run = index().pages[again[1]], again[2]
            if runs.record(page, run) is None:
                return Refusal(404, _NO_RECORD)
            return self._json(202, {"id": run, "said": runs.again(page, run)})
        if self.path == "/api/dataset/refresh":
            counts = {path: len(runs.records(page)) for path, page in index().pages.items()}
            return self._json(200, counts)
        found = _RUN.fullmatch(self.path)
        if found is None or found[2] not in ("answer", "resume"):
            return Refusal(404, "the page does not exist")
        name = found[1]
        # A browser ends lines in a form by CR LF; a person who typed an answer means line ends.
        text = fields.get("text", "").replace("\r\n", "\n")
        kept, said = found[2] != "answer", []
        try:
            if not kept:
                said = [runs.answer(name, fields.get("address", ""), fields.get("seen", ""), text)]
                kept = True
            if found[2] == "resume" or (fields.get("go") == "on" and not runs.goes_on):
                said.append(runs.resume(name))
        except Trouble as trouble:
            yours = "" if kept else f" Your answer was: {text}"
            said.append(f"{str(trouble).removesuffix('.')}.{yours}"[:8000])
        return self._saying(f"/runs/{name}", said)

    def _record(self, page: Page, run: str, as_json: bool) -> Refusal | None:
        """A pack's data about a run: as JSON, or as its page (HYP-47)."""
        found = self.server.runs.record(page, run)
        if found is None:
            return Refusal(404, _NO_RECORD)
        if as_json:
            return self._json(200, found)
        text, policy = pages.record(page, found)
        return self._page(text, {"Content-Security-Policy": policy})

    def _json(self, status: int, value: Any) -> Refusal | None:
        if status == 202 and "text/html" in ",".join(
            self.fields.get("accept", [])
        ):  # a form of ours, in a browser
            return self._saying("/", [value["said"]])
        return self._send(
            status,
            (json.dumps(value, ensure_ascii=True) + "\n").encode("ascii"),
            "application/json",
        )

    def _read(self, length: int) -> bytes:
        """The body, if it comes in time: each piece has `SLOW` seconds, the whole not much more."""
        deadline = time.monotonic() + SLOW
        data = bytearray()
        while len(data) < length:
            if time.monotonic() > deadline:
                raise TimeoutError
            piece = self.rfile.read1(min(65536, length - len(data)))
            if not piece:
                raise ConnectionError
            data += piece
        return bytes(data)

    def _saying(self, path: str, said: list[str]) -> Refusal | None:
        """Sends the browser that asked to a page, which says something to it and to no other one."""
        kept, name = self.server.said, secrets.token_urlsafe(9)
        kept[name] = said
        for old in [*kept][:-MOST_SAID]:
            kept.pop(old, None)
        return self._elsewhere(f"{path}?said={name}")

    def _said(self) -> list[str]:
        """What the page says that was asked for, once."""
        if "live" in self.fields.get("x-fdc", []) or self.command == "HEAD":
            return []  # the script refreshes: what was said stays for the person
        return self.server.said.pop(self._asked().get("said", ""), [])

    def _stream(self) -> Refusal | None:
        """Streams an event for each change."""
        server = self.server
        if self.command == "HEAD":
            return self._send(200, b"", "text/event-stream; charset=utf-8")
        if not server.streams.acquire(blocking=False):
            return Refusal(503, "too many pages are open")
        try:
            self.send_response(200)
            self._headers({"Content-Type": "text/event-stream; charset=utf-8"})
            before, beat = "", time.monotonic()
            while not server.over.is_set():
                now = server.runs.stamp()
                if now != before:
                    self.wfile.write(f"data: {now}\n\n".encode("ascii"))
                    before, beat = now, time.monotonic()
                elif time.monotonic() - beat > _BEAT:
                    self.wfile.write(b": here\n\n")
                    beat = time.monotonic()
                server.over.wait(_LOOK)
        except OSError:
            pass  # the client disconnected
        finally:
            server.streams.release()
        return None

    def _page(self, text: str, headers: dict[str, str] | None = None) -> Refusal | None:
        return self._send(200, text.encode("utf-8", "replace"), "text/html; charset=utf-8", headers)

    def _refuse(self, refused: Refusal) -> None:
        try:
            if getattr(self, "path", "").startswith("/api/"):
                self._json(refused.status, {"error": refused.sentence})
                return
            self._send(
                refused.status,
                pages.trouble(refused.status, refused.sentence).encode("utf-8"),
                "text/html; charset=utf-8",
            )
        except OSError:
            pass  # the client disconnected

    def _elsewhere(self, path: str, headers: dict[str, str] | None = None) -> Refusal | None:
        return self._send(
            303, b"", "text/plain; charset=utf-8", {"Location": path, **(headers or {})}
        )

    def _send(
        self, status: int, data: bytes, kind: str, headers: dict[str, str] | None = None
    ) -> Refusal | None:
        self.send_response(status)
        self._headers({"Content-Type": kind, "Content-Length": str(len(data)), **(headers or {})})
        if self.command != "HEAD":
            self.wfile.write(data)
        return None

    def _headers(self, headers: dict[str, str]) -> None:
        for name, value in {**HEADERS, "Connection": "close", **headers}.items():
            self.send_header(name, value)
        self.end_headers()

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """What the standard library refuses by itself (a method, a line that is not a request) gets our page too."""
        self.close_connection = True
        self.command = self.command or "GET"
        self._refuse(Refusal(405 if code == 501 else code, message or "the request cannot be read"))
