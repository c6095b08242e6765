"""A page of the web, fetched as a guest does: robots.txt is kept to, a host is left in peace between two requests,
and every redirect is looked at as if it had been asked for (issue 5, "with the web").
"""

from __future__ import annotations

import codecs
import re
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Protocol
from urllib.parse import urljoin

from ...named_tuples import NamedTuple
from ...workspace.failure import ToolFailure
from .http import Door, Response, Target, request, target
from .turns import Turns

REDIRECTS = 5
PAUSE = 1.0
"""Seconds between two requests to a host that asks for nothing else."""
LONGEST_PAUSE = 15.0
ROBOTS_BYTES = 512_000
ROBOTS_LAST = 3600.0
PRODUCT = "fdc"
"""The name by which a robots.txt speaks of us."""
INSTALL = "`pip install fdc-toolchain[web]`"

_HTML = frozenset(("text/html", "application/xhtml+xml"))
_TEXTS = frozenset(
    (
        "application/json",
        "application/xml",
        "application/ld+json",
        "application/yaml",
        "application/toml",
    )
)
_META = re.compile(
    rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([A-Za-z0-9_.:-]{2,40})", re.IGNORECASE
)
_CHARSET = re.compile(r"charset\s*=\s*\"?([A-Za-z0-9_.:-]{2,40})", re.IGNORECASE)
_NO_CHARSETS = frozenset(
    ("punycode", "idna", "unicode-escape", "raw-unicode-escape", "utf-7", "undefined")
)
"""Codecs that no page is written in; one takes minutes for what another takes milliseconds."""
_LATIN = frozenset(("iso-8859-1", "iso8859-1", "latin-1", "latin1", "us-ascii", "ascii"))


class Fetched(NamedTuple):
    """A page as it came. `kind`: `html`, `text` or `pdf`; `url` is where it was found after `hops` redirects."""

    asked: str
    url: str
    hops: int
    kind: str
    content_type: str
    body: bytes


class Robots(Protocol):
    """The rules of a robots.txt (`protego`)."""

    def can_fetch(self, url: str, user_agent: str) -> bool: ...

    def crawl_delay(self, user_agent: str) -> float | None: ...


class Manners(Turns):
    """When a host was last asked, and what its robots.txt says; shared by all runs of a process."""

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        super().__init__(clock, pause)
        self._rules: OrderedDict[str, tuple[float, Robots | None]] = OrderedDict()
        self._reading: dict[str, threading.Lock] = {}

    def rules(
        self, where: Target, door: Door, get: Callable[[Target, Door], Response]
    ) -> Robots | None:
        """The robots.txt of a host, read once an hour. Raises ToolFailure where it cannot be had."""
        with self._lock:
            one_at_a_time = self._reading.setdefault(where.origin, threading.Lock())
        with one_at_a_time:
            kept = self._rules.get(where.origin)
            if kept is not None and kept[0] > self._clock():
                return kept[1]
            rules = _robots(where, door, get)
            with self._lock:
                self._rules[where.origin] = (self._clock() + ROBOTS_LAST, rules)
                while len(self._rules) > 500:
                    self._reading.pop(self._rules.popitem(last=False)[0], None)
            return rules


MANNERS = Manners()


def fetch(
    url: str,
    door: Door,
    hosts: Callable[[str], bool] = lambda host: True,
    manners: Manners = MANNERS,
) -> Fetched:
    """The page at an address. `hosts` says of each host on the way whether the plans allow it.

    Raises ToolFailure: what `web_http` does, `robots`, `redirect`, `http` (the server's status), `busy` (it asks
    for patience), `type` (nothing that can be read as text), `address`, `unavailable` without the extra.
    """
    asked = where = target(url)
    seen = [where.url]
    while True:
        _allowed(where, hosts, led=len(seen) > 1)
        rules = manners.rules(where, door, lambda there, through: _followed(there, through, hosts))
        if rules is not None and not rules.can_fetch(where.url, PRODUCT):
            raise ToolFailure(
                "robots",
                f"the robots.txt of {where.host} does not allow fetching {where.path[:120]}",
            )
        manners.wait(where.origin, _pause(rules, door, where), door.stop)
        answer = request(
            where,
            door,
            headers={
                "accept": "text/html,application/xhtml+xml,text/*;q=0.9,application/pdf;q=0.8"
            },
        )
        after = _next(where, answer)
        if after is None:
            return _page(asked, where, len(seen) - 1, answer)
        if after.url in seen:
            raise ToolFailure(
                "redirect", f"{asked.host} has a redirect loop, through {after.url[:200]}"
            )
        seen.append(after.url)
        if len(seen) > REDIRECTS + 1:
            raise ToolFailure("redirect", f"{asked.host} redirects more than {REDIRECTS} times")
        where = after


def _allowed(where: Target, hosts: Callable[[str], bool], *, led: bool) -> None:
    """`led`: a server named the host. Of an address in the plan's text lint has looked, so else a value did."""
    if not hosts(where.host):
        kind = "redirect" if led else "address"
        raise ToolFailure(kind, f"the plan's `allow net` does not name `{where.host}`")


def _next(where: Target, answer: Response) -> Target | None:
    """Where a redirect leads, or None for an answer that is none. Raises ToolFailure for one that leads nowhere."""
    if answer.status not in (301, 302, 303, 307, 308):
        return None
    location = answer.headers.get("location", "").strip()
    if not location:
        raise ToolFailure("redirect", f"{where.host} redirects without a target")
    joined = urljoin(where.url, location.replace(" ", "%20"))
    return target(joined.partition("#")[0])


def _followed(where: Target, door: Door, hosts: Callable[[str], bool]) -> Response:
    """A robots.txt, wherever it has moved to, within the same bounds."""
    for _ in range(REDIRECTS + 1):
        _allowed(where, hosts, led=True)
        answer = request(where, door)
        after = _next(where, answer)
        if after is None:
            return answer
        where = after
    raise ToolFailure(
        "redirect", f"the robots.txt of {where.host} redirects more than {REDIRECTS} times"
    )


def _robots(where: Target, door: Door, get: Callable[[Target, Door], Response]) -> Robots | None:
    """The parsed rules; None where there are none (RFC 9309: a file that is not there forbids nothing, one that cannot
    be had for now forbids everything)."""
    try:
        from protego import Protego
    except ImportError:
        raise ToolFailure(
            "unavailable", f"pages cannot be fetched, because packages are missing: {INSTALL}"
        ) from None
    robots = target(f"{where.origin}/robots.txt")
    try:
        answer = get(robots, door._replace(most=ROBOTS_BYTES))
    except ToolFailure as failed:
        if failed.kind not in ("size", "redirect", "encoding"):
            raise
        raise ToolFailure(
            "robots", f"the robots.txt of {where.host} cannot be read: {failed}"
        ) from None
    if answer.status == 429 or answer.status >= 500:
        raise ToolFailure(
            "robots",
            f"the robots.txt of {where.host} is not available now (status {answer.status})",
        )
    if answer.status != 200:
        return None
    return Protego.parse(answer.body.decode("utf-8", "replace"))


def _pause(rules: Robots | None, door: Door, where: Target) -> float:
    """Seconds to leave a host alone: what it asks for, else a second; none for a host of the operator's own."""
    stated = None if rules is None else rules.crawl_delay(PRODUCT)
    if stated is not None:
        return min(max(0.0, float(stated)), LONGEST_PAUSE)
    return 0.0 if door.opens(where) else PAUSE


def _page(asked: Target, where: Target, hops: int, answer: Response) -> Fetched:
    if answer.status in (429, 503):
        raise ToolFailure(
            "busy", f"{where.host} limits the rate of requests (status {answer.status})"
        )
    if answer.status != 200:
        raise ToolFailure("http", f"{where.host} answers with status {answer.status}")
    stated = answer.headers.get("content-type", "")
    plain = stated.partition(";")[0].strip().lower()
    if answer.body.startswith(b"%PDF-"):
        kind = "pdf"
    elif plain in _HTML or (not plain and answer.body.lstrip()[:1] == b"<"):
        kind = "html"
    elif (
        not plain
        or plain.startswith("text/")
        or plain in _TEXTS
        or plain.endswith(("+json", "+xml"))
    ):
        kind = "text"
    else:
        raise ToolFailure("unreadable", f"{where.host} sends `{plain[:60]}`, which is not text")
    if (
        kind != "pdf"
        and b"\0" in answer.body[:4096]
        and not answer.body.startswith((b"\xff\xfe", b"\xfe\xff"))
    ):
        raise ToolFailure(
            "unreadable", f"{where.host} sends bytes that are not text and says `{plain[:60]}`"
        )
    return Fetched(asked.url, where.url, hops, kind, stated[:200], answer.body)


def decoded(page: Fetched) -> tuple[str, str]:
    """The text of a page that is not a PDF, and the charset that it was read in, whatever the server claims."""
    body = page.body
    for mark, name in (
        (b"\xef\xbb\xbf", "utf-8-sig"),
        (b"\xff\xfe", "utf-16"),
        (b"\xfe\xff", "utf-16"),
    ):
        if body.startswith(mark):
            return body.decode(name, "replace"), name.removesuffix("-sig")
    try:
        return body.decode("utf-8"), "utf-8"  # text in another charset is hardly ever valid UTF-8
    except UnicodeDecodeError:
        pass
    for name in _stated(page):
        name = "windows-1252" if name in _LATIN else name
        try:
            if codecs.lookup(name).name not in _NO_CHARSETS:
                return body.decode(name), name
        except (LookupError, UnicodeDecodeError, ValueError):
            continue
    return _guessed(body)


def _stated(page: Fetched) -> Sequence[str]:
    header = _CHARSET.search(page.content_type)
    meta = _META.search(page.body[:4096]) if page.kind == "html" else None
    found = [header[1] if header else "", meta[1].decode("ascii") if meta else ""]
    return [
        name.lower()
        for name in found
        if name and name.lower().replace("_", "-") not in ("utf-8", "utf8")
    ]


def _guessed(body: bytes) -> tuple[str, str]:
    try:
        from charset_normalizer import from_bytes
    except ImportError:
        return body.decode("utf-8", "replace"), "utf-8, with gaps"
    best = from_bytes(body[:200_000]).best()
    if best is None:
        return body.decode("utf-8", "replace"), "utf-8, with gaps"
    return body.decode(best.encoding, "replace"), best.encoding
