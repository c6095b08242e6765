"""One HTTP request to a server that no one trusts: the address is checked and then connected to, time and size have ends.

A name is resolved once, and the connection goes to the very address that was looked at: a name that
means something else a moment later gains nothing. Redirects are not followed here (`web_fetch` does, and
checks each); proxies of the environment are not used, because they would resolve the name themselves.
"""

from __future__ import annotations

import http.client
import ipaddress
import re
import socket
import ssl
import threading
import time
import zlib
from collections.abc import Callable, Mapping
from contextlib import closing
from typing import Any
from urllib.parse import quote, urlsplit

from ... import resources
from ...named_tuples import NamedTuple
from ...workspace.failure import ToolFailure

LONGEST_URL = 2000
_CHUNK = 65536
_SLICE = 0.1
_NAT64 = ipaddress.ip_network("64:ff9b::/96")
_NOBODY = tuple(
    map(ipaddress.ip_network, ("fec0::/10", "3fff::/20", "192.88.99.0/24", "168.63.129.16/32"))
)
"""Site-local, documentation, relays of 6to4, the host of a machine at Azure: what `ipaddress` takes for public, and no site."""
_HOST = re.compile(r"[a-z0-9_]([a-z0-9_.-]{0,252}[a-z0-9_])?\.?")


def agent() -> str:
    """What servers are told that asks them."""
    return f"fdc/{resources.read('VERSION').decode('ascii').strip()} (plan runner; reads pages that a person asked for)"


class Target(NamedTuple):
    """An http or https address, taken apart. `path` is what the request line says, `url` all of it written plainly."""

    url: str
    scheme: str
    host: str
    port: int
    path: str

    @property
    def origin(self) -> str:
        """Scheme, host and port: whom a robots.txt and a pause are for."""
        return f"{self.scheme}://{_authority(self.scheme, self.host, self.port)}"


class Door(NamedTuple):
    """What a request may do. `private`: `HOST` or `HOST:PORT` that may be reached at addresses of its own network;
    only the operator says so. `stop` ends the request."""

    private: tuple[str, ...] = ()
    seconds: float = 20.0
    most: int = 4_000_000
    stop: Callable[[], bool] = lambda: False

    def opens(self, target: Target) -> bool:
        """Whether the operator named this host."""
        return target.host in self.private or f"{target.host}:{target.port}" in self.private


class Response(NamedTuple):
    """A server's answer; names of headers are in small letters, `body` is unpacked."""

    status: int
    headers: dict[str, str]
    body: bytes


def target(url: str) -> Target:
    """Takes an address apart. Raises ToolFailure (`url`) for what is not an http or https address of a host."""
    if len(url) > LONGEST_URL:
        raise ToolFailure("url", "the address is too long")
    if any(ord(char) < 33 or ord(char) == 127 for char in url):
        raise ToolFailure("url", "the address has a space or a control character in it")
    try:
        parts = urlsplit(url)
        port, host = parts.port, parts.hostname or ""
        if ":" not in host:
            host = host.encode("idna").decode("ascii").lower()
    except (ValueError, UnicodeError):
        raise ToolFailure("url", f"`{url[:120]}` is not an address") from None
    if parts.scheme not in ("http", "https"):
        raise ToolFailure("url", f"`{url[:120]}` is not an http or https address")
    if parts.username is not None or parts.password is not None:
        raise ToolFailure("url", "an address with a user name or a password is not fetched")
    if not host or (":" not in host and not _HOST.fullmatch(host)):
        raise ToolFailure("url", f"`{url[:120]}` has no host")
    port = port or {"http": 80, "https": 443}[parts.scheme]
    safe = "/%:=&?~+!$,;'@()*[]|"
    path = quote(parts.path or "/", safe=safe) + (
        f"?{quote(parts.query, safe=safe)}" if parts.query else ""
    )
    return Target(
        f"{parts.scheme}://{_authority(parts.scheme, host, port)}{path}",
        parts.scheme,
        host,
        port,
        path,
    )


def _authority(scheme: str, host: str, port: int) -> str:
    shown = f"[{host}]" if ":" in host else host
    return shown if port == {"http": 80, "https": 443}[scheme] else f"{shown}:{port}"


def public(address: str) -> bool:
    """Whether an address is one of the public internet, also where it wraps one of the fourth version."""
    ip = ipaddress.ip_address(address.partition("%")[0])
    inner: list[Any] = [ip]
    if isinstance(ip, ipaddress.IPv6Address):
        inner += [one for one in (ip.sixtofour, *(ip.teredo or ())) if one is not None]
        if ip.ipv4_mapped is not None or ip in _NAT64:
            inner = [
                ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)
            ]  # the address that it stands for decides
    return all(
        one.is_global
        and not (
            one.is_multicast
            or one.is_reserved
            or one.is_unspecified
            or one.is_loopback
            or one.is_link_local
        )
        and not any(one in network for network in _NOBODY)
        for one in inner
    )


def request(
    where: Target,
    door: Door,
    *,
    method: str = "GET",
    body: bytes | None = None,
    headers: Mapping[str, str] | None = None,
) -> Response:
    """One request and its whole answer.

    Raises ToolFailure: `address` for a host of a private network, `net`, `timeout`, `size` (unpacked, so a
    limit holds for a compression bomb, too), `encoding` for a packing that no one asked for.
    """
    deadline = time.monotonic() + door.seconds
    written = _written(where.host)
    if written is not None and not public(written) and not door.opens(where):
        raise _private(where, written)
    address = _checked(where, _resolved(where, deadline, door), door)
    watch = _Watch(deadline, door.stop)
    try:
        return _exchange(where, door, watch, address, method, body, dict(headers or {}))
    except (ToolFailure, OSError, http.client.HTTPException, ValueError) as failed:
        late = watch.failure(where)
        if late is not None:
            raise late from None
        if isinstance(failed, ToolFailure):
            raise
        if isinstance(failed, TimeoutError):
            raise ToolFailure(
                "timeout", f"{where.host} did not answer within {door.seconds:g} s"
            ) from None
        why = " ".join(
            (getattr(failed, "strerror", None) or str(failed) or type(failed).__name__).split()
        )[:160]
        raise ToolFailure("net", f"{where.host}: {why.lower()}") from None
    finally:
        watch.done()


def _written(host: str) -> str | None:
    """The address that a host's name is already, in any of the ways in which one can be written; None for a name."""
    try:
        return str(ipaddress.ip_address(host.partition("%")[0]))
    except ValueError:
        pass
    try:
        return socket.inet_ntoa(socket.inet_aton(host))  # `2130706433`, `0x7f.1`
    except OSError:
        return None


def _private(where: Target, address: str) -> ToolFailure:
    return ToolFailure(
        "address", f"{where.host} is {address}, an address of a private network: it is not fetched"
    )


def _resolved(where: Target, deadline: float, door: Door) -> list[Any]:
    """The addresses of a host. The system's look-up has no end of its own, so it is waited for in slices."""
    found: list[Any] = []

    def look() -> None:
        try:
            found.append(socket.getaddrinfo(where.host, where.port, type=socket.SOCK_STREAM))
        except (OSError, UnicodeError) as failed:
            found.append(
                ToolFailure("net", f"{where.host}: {getattr(failed, 'strerror', None) or failed}")
            )
        except BaseException as failed:
            found.append(failed)

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    while thread.is_alive() and time.monotonic() < deadline and not door.stop():
        thread.join(_SLICE)
    if not found:
        raise ToolFailure(
            "timeout", f"{where.host} could not be looked up within {door.seconds:g} s"
        )
    if isinstance(found[0], BaseException):
        raise found[0]
    rows: list[Any] = found[0]
    return rows


def _checked(where: Target, rows: list[Any], door: Door) -> Any:
    """The first address that may be connected to."""
    usable = [row for row in rows if row[0] in (socket.AF_INET, socket.AF_INET6)]
    for row in usable:
        if public(str(row[4][0])) or door.opens(where):
            return row
    if not usable:
        raise ToolFailure("net", f"{where.host} has no address")
    raise _private(where, str(usable[0][4][0]))


def _exchange(
    where: Target,
    door: Door,
    watch: _Watch,
    address: Any,
    method: str,
    body: bytes | None,
    headers: dict[str, str],
) -> Response:
    with closing(
        (http.client.HTTPSConnection if where.scheme == "https" else http.client.HTTPConnection)(
            where.host, where.port
        )
    ) as line:
        _connect(line, where, watch, address)
        sent = {
            "user-agent": agent(),
            "accept-encoding": "gzip",
            "connection": "close",
            "accept": "*/*",
            **headers,
        }
        line.request(method, where.path, body=body, headers=sent)
        with line.getresponse() as answer:
            named: dict[str, str] = {}
            for name, value in answer.getheaders():
                named.setdefault(name.lower(), value)
            data = _read(answer, named, door, where)
        late = watch.failure(where)
        if late is not None:
            raise late
        return Response(answer.status, named, data)


def _connect(line: http.client.HTTPConnection, where: Target, watch: _Watch, address: Any) -> None:
    """Connects to the address that was checked; the caller closes the line, whatever becomes of it."""
    family, kind, protocol, _, place = address
    line.sock = raw = socket.socket(family, kind, protocol)
    watch.over(raw)
    raw.settimeout(watch.left())
    raw.connect(place)
    if where.scheme == "https":
        line.sock = ssl.create_default_context().wrap_socket(raw, server_hostname=where.host)
        watch.over(line.sock)


def _read(
    answer: http.client.HTTPResponse, headers: Mapping[str, str], door: Door, where: Target
) -> bytes:
    stated = headers.get("content-length", "")
    if stated.isdecimal() and int(stated) > door.most:
        raise ToolFailure(
            "size", f"{where.host} announces {int(stated):,} bytes; at most {door.most:,} are read"
        )
    packing = headers.get("content-encoding", "identity").strip().lower()
    if packing not in ("identity", "", "gzip", "x-gzip", "deflate"):
        raise ToolFailure("encoding", f"{where.host} uses a compression that was not requested")
    unpack = (
        None if packing in ("identity", "") else zlib.decompressobj(31 if "gzip" in packing else 15)
    )
    pieces: list[bytes] = []
    taken = got = 0
    while True:
        piece = answer.read(_CHUNK)
        if not piece:
            break
        taken += len(piece)
        if unpack is not None:
            try:
                piece = unpack.decompress(piece, door.most + 1 - got)
            except zlib.error:
                raise ToolFailure(
                    "encoding", f"{where.host} sent data that cannot be decompressed"
                ) from None
        pieces.append(piece)
        got += len(piece)
        if got > door.most or taken > door.most:
            raise ToolFailure("size", f"{where.host} sends more than {door.most:,} bytes")
    if stated.isdecimal() and taken < int(stated):
        raise ToolFailure("net", f"{where.host} ended after {taken:,} of {int(stated):,} bytes")
    return b"".join(pieces)


class _Watch(threading.Thread):
    """Cuts the line when the time is over, whatever the server does to keep it open: each byte in time, and all too late."""

    def __init__(self, deadline: float, stop: Callable[[], bool]) -> None:
        super().__init__(daemon=True, name="fdc web")
        self._deadline = deadline
        self._stop = stop
        self._over = threading.Event()
        self._line: socket.socket | None = None
        self._why = ""

    def left(self) -> float:
        """Seconds until the end, a moment at least."""
        return max(0.01, self._deadline - time.monotonic())

    def over(self, line: socket.socket) -> None:
        """The line to cut; the first one starts the watch."""
        fresh = self._line is None
        self._line = line
        if fresh:
            self.start()

    def run(self) -> None:
        while not self._over.wait(min(_SLICE, self.left())):
            if self._stop():
                self._why = "stopped"
            elif time.monotonic() >= self._deadline:
                self._why = "late"
            else:
                continue
            line = self._line
            try:
                if line is not None:
                    socket.socket.shutdown(
                        line, socket.SHUT_RDWR
                    )  # not TLS's own, which is not for two threads
            except OSError:
                pass  # it has just ended by itself
            return

    def done(self) -> None:
        """The request has ended."""
        self._over.set()

    def failure(self, where: Target) -> BaseException | None:
        """What came of it where the line was cut."""
        if self._why == "stopped":
            from ...engine.ports import Cancelled

            return Cancelled("the controller leaves")
        return (
            ToolFailure("timeout", f"{where.host} took too long and was stopped")
            if self._why
            else None
        )
