"""Access control of the server. Pure: takes a request's line and headers, returns a refusal or None.

The server listens on loopback, where any page in any browser of this machine can send requests. So a request must name
us by our own address (`Host`: no rebinding of names), must not come from another page (`Origin`, `Sec-Fetch-Site`),
must carry the cookie that the client that had a one-time code was given for it, and, where it changes anything, the token of a
form of ours. A code is exchanged once and within its time. So one that somebody reads later, in a log or in the history of a
browser, opens nothing.
"""

from __future__ import annotations

import re
import secrets
import threading
import time
from collections.abc import Callable, Mapping
from hashlib import blake2b
from hmac import compare_digest

from ..named_tuples import NamedTuple

MOST_BODY = 2 * 1024 * 1024

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",  # with `no-referrer`, browsers send forms with `Origin: null`
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}

_FORM = re.compile(r"application/x-www-form-urlencoded(\s*;\s*charset=utf-8)?", re.IGNORECASE)


class Refusal(NamedTuple):
    """Why a request is not answered."""

    status: int
    sentence: str


class Guard:
    """The secrets of one server: codes that let in once, and the session that they are exchanged for."""

    def __init__(self, port: int, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._codes: dict[str, float] = {}
        self._lock = threading.Lock()
        self._session = secrets.token_urlsafe(32)
        self.csrf = blake2b(b"csrf", key=self._session.encode(), digest_size=24).hexdigest()
        self.cookie = f"fdc_{port}"  # cookies know no ports
        self.hosts = frozenset((f"127.0.0.1:{port}", f"localhost:{port}"))

    def address(
        self, headers: Mapping[str, list[str]], *, entering: bool = False
    ) -> Refusal | None:
        """Whether a request is meant for us and comes from no other one's page.

        `entering`: it brings a code. The page that a browser is opened with is a file, so its link to us is one from elsewhere.
        """
        host = headers.get("host", [])
        if len(host) != 1 or host[0].lower() not in self.hosts:
            return Refusal(421, "this server accepts only its own address on this machine")
        for origin in headers.get("origin", []):
            if origin != f"http://{host[0].lower()}":
                return Refusal(403, "the request comes from another page")
        sites = headers.get("sec-fetch-site", [])
        if not entering and any(site not in ("same-origin", "none") for site in sites):
            return Refusal(403, "the request comes from another page")
        return None

    def code(self, seconds: float) -> str:
        """A new code, which is exchanged for the session once, within so many seconds."""
        made = secrets.token_urlsafe(24)
        with self._lock:
            self._codes[_named(made)] = self._now() + seconds
        return made

    def waits(self, code: str) -> bool:
        """Whether a code can still be exchanged."""
        with self._lock:
            return self._codes.get(_named(code), 0.0) > self._now()

    def refusal(self, given: str) -> Refusal | None:
        """Why a code cannot be exchanged; None where it can."""
        return self.exchange(given, spend=False)

    def exchange(self, given: str, *, spend: bool = True) -> Refusal | None:
        """Spends a code; None where it lets in. It is known by its hash, so that comparing tells nothing of it."""
        name = _named(given)
        with self._lock:
            end = self._codes.get(name)
            if end is not None and end > self._now():
                if spend:
                    self._codes[name] = 0.0
                return None
        if end is None:
            return Refusal(403, "`fdc ui` did not print this address")
        return (
            Refusal(410, "this address was already used")
            if end == 0.0
            else Refusal(403, "this address has expired")
        )

    def set_cookie(self) -> str:
        """The header that lets the browser in from now on."""
        return f"{self.cookie}={self._session}; Path=/; HttpOnly; SameSite=Strict"

    def known(self, headers: Mapping[str, list[str]]) -> bool:
        """Whether the request carries our cookie, exactly once."""
        pairs = [
            part.strip().partition("=")
            for line in headers.get("cookie", [])
            for part in line.split(";")
        ]
        found = [value for name, _, value in pairs if name == self.cookie]
        return len(found) == 1 and compare_digest(
            found[0].encode("utf-8", "replace"), self._session.encode()
        )

    def change(self, headers: Mapping[str, list[str]], most: int) -> Refusal | int:
        """Whether a POST of at most so many bytes may be read; returns how many its form has."""
        if not headers.get("origin"):
            return Refusal(403, "the request has no `Origin` header")
        if not _FORM.fullmatch("".join(headers.get("content-type", []))):
            return Refusal(415, "expected a form")
        length = headers.get("content-length", [])
        if (
            "transfer-encoding" in headers
            or len(length) != 1
            or not re.fullmatch(r"[0-9]{1,9}", length[0])
        ):
            return Refusal(411, "the request has no valid `Content-Length` header")
        if int(length[0]) > most:
            return Refusal(413, f"more than {most} bytes")
        return int(length[0])

    def form(self, fields: Mapping[str, str]) -> Refusal | None:
        """Whether a form is one of ours."""
        if not compare_digest(
            fields.get("csrf", "").encode("utf-8", "replace"), self.csrf.encode()
        ):
            return Refusal(403, "the form belongs to another session; load the page again")
        return None


def _named(code: str) -> str:
    return blake2b(code.encode("utf-8", "replace"), digest_size=24).hexdigest()
