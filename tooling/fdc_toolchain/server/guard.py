"""Who may ask the server for what. Pure: a request's line and headers in, a refusal or None out.

The server listens on loopback, where any page in any browser of this machine can send requests. So a request must name
us by our own address (`Host`: no rebinding of names), must not come from another page (`Origin`, `Sec-Fetch-Site`),
must carry the cookie that only whoever had the printed token was given, and, where it changes anything, the token of a
form of ours.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping
from hashlib import blake2b
from hmac import compare_digest
from typing import NamedTuple

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
    """The secrets of one server: the token that is printed, the session that it is exchanged for."""

    def __init__(self, port: int) -> None:
        self.token = secrets.token_urlsafe(24)
        self._session = secrets.token_urlsafe(32)
        self.csrf = blake2b(b"csrf", key=self._session.encode(), digest_size=24).hexdigest()
        self.cookie = f"fdc_{port}"  # cookies know no ports
        self.hosts = frozenset((f"127.0.0.1:{port}", f"localhost:{port}"))

    def address(self, headers: Mapping[str, list[str]]) -> Refusal | None:
        """Whether a request is meant for us and comes from nobody else's page."""
        host = headers.get("host", [])
        if len(host) != 1 or host[0].lower() not in self.hosts:
            return Refusal(421, "this server answers to its own address on this machine only")
        for origin in headers.get("origin", []):
            if origin != f"http://{host[0].lower()}":
                return Refusal(403, "the request comes from another page")
        if any(site not in ("same-origin", "none") for site in headers.get("sec-fetch-site", [])):
            return Refusal(403, "the request comes from another page")
        return None

    def is_token(self, given: str) -> bool:
        """Whether somebody has the printed token."""
        return compare_digest(given.encode("utf-8", "replace"), self.token.encode())

    def set_cookie(self) -> str:
        """The header that lets the browser in from now on."""
        return f"{self.cookie}={self._session}; Path=/; HttpOnly; SameSite=Strict"

    def known(self, headers: Mapping[str, list[str]]) -> bool:
        """Whether the request carries our cookie, exactly once."""
        pairs = [part.strip().partition("=") for line in headers.get("cookie", []) for part in line.split(";")]
        found = [value for name, _, value in pairs if name == self.cookie]
        return len(found) == 1 and compare_digest(found[0].encode("utf-8", "replace"), self._session.encode())

    def change(self, headers: Mapping[str, list[str]]) -> Refusal | int:
        """Whether a POST may be read; returns how many bytes its form has."""
        if not headers.get("origin"):
            return Refusal(403, "the request does not say from which page it comes")
        if not _FORM.fullmatch("".join(headers.get("content-type", []))):
            return Refusal(415, "expected a form")
        length = headers.get("content-length", [])
        if "transfer-encoding" in headers or len(length) != 1 or not re.fullmatch(r"[0-9]{1,9}", length[0]):
            return Refusal(411, "the request does not say how long it is")
        if int(length[0]) > MOST_BODY:
            return Refusal(413, f"more than {MOST_BODY} bytes")
        return int(length[0])

    def form(self, fields: Mapping[str, str]) -> Refusal | None:
        """Whether a form is one of ours."""
        if not compare_digest(fields.get("csrf", "").encode("utf-8", "replace"), self.csrf.encode()):
            return Refusal(403, "the form is not of this session; load the page again")
        return None
