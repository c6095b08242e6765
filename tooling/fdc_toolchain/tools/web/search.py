"""Searches the web: several providers in order, each with an outcome of its own; the first that finds something answers.

What there is to ask is the operator's, from the environment alone, because a workspace must not choose
where a question or a key goes:

    FDC_SEARXNG_URL=http://127.0.0.1:8888     a SearXNG of one's own, with `json` among its formats
    BRAVE_API_KEY, TAVILY_API_KEY, EXA_API_KEY
    FDC_SEARCH="searxng brave ddgs"           which of them, in which order; else all that are set, in this order

SearXNG and Brave are asked over plain REST; Tavily, Exa and ddgs with their packages, each an extra (`web_packages`).
To add a provider: a row in `PROVIDERS`, and the functions that it names.
"""

from __future__ import annotations

import html
import json
import re
import time
from collections.abc import Callable, Mapping, Sequence
from email.utils import parsedate_to_datetime
from typing import Any, Literal
from urllib.parse import urlencode

from ...named_tuples import NamedTuple
from ...workspace.failure import ToolFailure
from . import packages
from .http import Door, Response, request, target
from .packages import Post
from .provider_gaps import Gaps

ORDER = "FDC_SEARCH"
RESULTS = 10
SECONDS = 15.0
MOST_BYTES = 4_000_000
SPENT = (402, 429, 432, 433)
"""What says that no more is answered for now: the usual two, and Tavily's for a plan and for pay-as-you-go."""
PATIENCE = 20.0
"""Seconds for which a provider is not asked that answers no more and does not say for how long."""
MOST_PATIENCE = 600.0
SET_UP = "set FDC_SEARXNG_URL or BRAVE_API_KEY (or TAVILY_API_KEY, EXA_API_KEY, FDC_SEARCH=ddgs)"

Status = Literal["ok", "empty", "limited", "unavailable"]
_TAG = re.compile(r"<[^>]{0,200}>")
_HIDDEN = re.compile("[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")


class Hit(NamedTuple):
    """One result: where, what it is called, what the provider quotes of it."""

    url: str
    title: str
    snippet: str


class Asked(NamedTuple):
    """A request for a provider."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes | None = None


class Provider(NamedTuple):
    """How a provider is asked. `address`: the variable of its base address, and what that is otherwise; `key`: that of its
    key, or None; `gap`: seconds between two questions; `ask` makes the request, `call` puts the question with a package;
    `read` takes the answer of either apart. `package`: the package's name for `import`, and the extra that it is."""

    address: tuple[str, str]
    key: str | None
    gap: float
    read: Callable[[Any], list[Hit]]
    ask: Callable[[str, str], Asked] | None = None
    call: Callable[[str, Ready, Post], Any] | None = None
    package: tuple[str, str] = ("", "")


class Ready(NamedTuple):
    """A provider that is set up: its name, base address and key."""

    name: str
    address: str
    key: str


class Tried(NamedTuple):
    """What came of asking one provider."""

    provider: str
    status: Status
    why: str
    hits: tuple[Hit, ...] = ()

    def note(self) -> dict[str, object]:
        """For the journal."""
        return {
            "provider": self.provider,
            "status": self.status,
            "why": self.why,
            "results": len(self.hits),
        }


class _Refused(Exception):
    """A provider's answer that is none: how, and why; the seconds for which it wants to be left alone."""

    def __init__(self, status: Status, why: str, patience: float = PATIENCE) -> None:
        super().__init__(why)
        self.status = status
        self.patience = patience


def ready(environment: Mapping[str, str]) -> list[Ready]:
    """The providers that are set up, in order. Raises ToolFailure (`unavailable`) for a name in FDC_SEARCH that is none,
    or one that lacks its address or key."""
    stated = environment.get(ORDER, "").replace(",", " ").split()
    out = []
    for name in stated or PROVIDERS:
        if name not in PROVIDERS:
            raise ToolFailure(
                "unavailable", f"{ORDER} names `{name[:40]}`; there are {', '.join(PROVIDERS)}"
            )
        row = PROVIDERS[name]
        variable, default = row.address
        address = (environment.get(variable, "") if variable else "").rstrip("/") or default
        key = environment.get(row.key, "") if row.key else ""
        lacks = variable if variable and not address else row.key if row.key and not key else None
        if lacks is None and (
            stated or variable or row.key
        ):  # what needs neither is asked where it is named
            out.append(Ready(name, address, key))
        elif lacks is not None and stated:
            raise ToolFailure("unavailable", f"{ORDER} names `{name}`, and {lacks} is not set")
    return out


def search(
    query: str, providers: Sequence[Ready], stop: Callable[[], bool] = lambda: False
) -> list[Tried]:
    """Asks one after the other until one has results; what came of each, the last being the answer where it is `ok`."""
    out: list[Tried] = []
    for provider in providers:
        out.append(_tried(provider, query, stop))
        if out[-1].status == "ok":
            break
    return out


def answer(tried: Sequence[Tried]) -> list[Hit]:
    """The results. Raises ToolFailure where no provider could say whether there are any."""
    if not tried:
        raise ToolFailure("unavailable", f"no search provider is set up: {SET_UP}")
    if tried[-1].status == "ok":
        return list(tried[-1].hits)
    if any(attempt.status == "empty" for attempt in tried):
        return []
    kind = "busy" if any(attempt.status == "limited" for attempt in tried) else "net"
    said = "; ".join(f"{attempt.provider}: {attempt.why}" for attempt in tried)
    raise ToolFailure(
        kind,
        f"no search provider answered ({said})",
        notes={"search": [attempt.note() for attempt in tried]},
    )


def _tried(ready: Ready, query: str, stop: Callable[[], bool]) -> Tried:
    row = PROVIDERS[ready.name]
    resting = _GAPS.resting(ready.name)
    if resting > 0:
        return Tried(
            ready.name, "limited", f"it limits the rate of requests; try again in {resting:.0f} s"
        )
    _GAPS.wait(ready.name, row.gap, stop)
    try:
        if row.call is not None:
            hits = row.read(_called(ready, row, query, stop))
        else:
            assert row.ask is not None
            hits = row.read(_json(_sent(ready, row.ask(query, ready.key), stop), ready.name))
    except _Refused as refused:
        if refused.status == "limited":
            _GAPS.rest(ready.name, refused.patience)
        return Tried(ready.name, refused.status, str(refused))
    except ToolFailure as failed:
        return Tried(ready.name, "unavailable", str(failed))
    hits = _clean(hits)
    return Tried(
        ready.name,
        "ok" if hits else "empty",
        f"{len(hits)} results" if hits else "no results",
        tuple(hits),
    )


def _sent(ready: Ready, asked: Asked, stop: Callable[[], bool]) -> Response:
    return _through(ready.address + asked.path, asked, stop)


def _through(address: str, asked: Asked, stop: Callable[[], bool]) -> Response:
    where = target(address)
    door = Door(
        (where.host,), SECONDS, MOST_BYTES, stop
    )  # the operator named the address, so it may be anywhere
    return request(
        where,
        door,
        method=asked.method,
        body=asked.body,
        headers={"accept": "application/json", **asked.headers},
    )


def _called(ready: Ready, row: Provider, query: str, stop: Callable[[], bool]) -> Any:
    """What a provider's package makes of its answer, whatever that is."""
    assert row.call is not None

    def post(url: str, body: bytes, headers: Mapping[str, str]) -> Any:
        return _json(_through(url, Asked("POST", "", dict(headers), body), stop), ready.name)

    try:
        return row.call(query, ready, post)
    except ImportError:
        install = f"`pip install 'fdc-toolchain[{row.package[1]}]'`"
        raise _Refused("unavailable", f"its package is not installed: {install}") from None
    except packages.Limited:
        raise _Refused("limited", "its rate limit is reached") from None
    except (AttributeError, KeyError, TypeError, ValueError) as wrong:
        said = (
            " ".join(str(wrong).split())[:160]
            if row.key is None
            else "its answer does not have the documented form"
        )
        raise _Refused("unavailable", said) from None


def _json(response: Response, name: str) -> Any:
    status = response.status
    if status in SPENT:
        raise _Refused(
            "limited", f"its rate limit is reached (status {status})", _patience(response.headers)
        )
    if status in (401, 403):
        hint = (
            "; a SearXNG must have `json` among its `search.formats`" if name == "searxng" else ""
        )
        raise _Refused("unavailable", f"it refused the request (status {status}){hint}")
    if status != 200:
        raise _Refused("unavailable", f"it answers with status {status}")
    try:
        return json.loads(response.body)
    except (ValueError, RecursionError):
        raise _Refused("unavailable", "its answer is not a JSON") from None


def _patience(headers: Mapping[str, str]) -> float:
    """For how long a provider wants to be left alone: Retry-After in seconds or as a date, or Brave's own headers, which
    give the seconds until each of its quotas is filled again beside what is left of it."""
    stated = headers.get("retry-after", "").strip()
    patience = float(stated) if stated.isdecimal() and stated.isascii() else 0.0
    if not patience and stated:
        try:
            patience = parsedate_to_datetime(stated).timestamp() - time.time()
        except (ValueError, OverflowError, OSError):
            pass
    if not stated:
        left, reset = (
            re.findall(r"\d{1,9}", headers.get(f"x-ratelimit-{name}", ""))
            for name in ("remaining", "reset")
        )
        patience = max(
            (float(seconds) for rest, seconds in zip(left, reset, strict=False) if int(rest) == 0),
            default=0.0,
        )
    return min(patience, MOST_PATIENCE) if patience > 0 else PATIENCE


def _clean(hits: Sequence[Hit]) -> list[Hit]:
    """Results whose addresses can be fetched, each once, their texts without markup; what they say is a stranger's."""
    out: dict[str, Hit] = {}
    for hit in hits:
        try:
            where = target(hit.url.strip())
        except ToolFailure:
            continue
        out.setdefault(
            where.url, Hit(where.url, _plain(hit.title)[:300], _plain(hit.snippet)[:1000])
        )
    return list(out.values())[:RESULTS]


def _plain(text: str) -> str:
    return " ".join(_HIDDEN.sub(" ", html.unescape(_TAG.sub("", text))).split())


# The providers


def _rows(value: Any, *keys: str) -> list[dict[str, Any]]:
    """The list of objects at these keys. Raises _Refused where the answer has another form."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    if value is None:
        return []
    if not isinstance(value, list):
        raise _Refused("unavailable", "its answer does not have the documented form")
    return [row for row in value if isinstance(row, dict)]


def _plainly(*texts: str) -> Callable[[Any], list[Hit]]:
    """Reads an answer whose results are at `results`."""
    return lambda said: _hits(_rows(said, "results"), *texts)


def _hits(rows: Sequence[Mapping[str, Any]], *texts: str) -> list[Hit]:
    """Results from objects with `url` and `title`; the snippet is the first of `texts` that is there."""
    out = []
    for row in rows:
        said = next((row[key] for key in texts if row.get(key)), "")
        said = " … ".join(map(str, said)) if isinstance(said, list) else str(said)
        if isinstance(row.get("url"), str):
            out.append(Hit(row["url"], str(row.get("title") or ""), said))
    return out


def _searxng(query: str, key: str) -> Asked:
    return Asked("GET", "/search?" + urlencode({"q": query, "format": "json"}), {})


def _searxng_read(said: Any) -> list[Hit]:
    found = _hits(_rows(said, "results"), "content")
    silent = said.get("unresponsive_engines") if isinstance(said, dict) else None
    if not found and silent:
        raise _Refused("limited", f"its sources did not answer ({str(silent)[:120]})")
    return found


def _short(query: str) -> str:
    """As long as a query may be: 400 characters and 50 words."""
    return " ".join(query.split()[:50])[:400].rstrip()


def _brave(query: str, key: str) -> Asked:
    asked = urlencode({"q": _short(query), "count": RESULTS, "text_decorations": "false"})
    return Asked("GET", f"/res/v1/web/search?{asked}", {"x-subscription-token": key})


def _tavily(query: str, ready: Ready, post: Post) -> Any:
    return packages.tavily(_short(query), ready.address, ready.key, RESULTS, post)


def _exa(query: str, ready: Ready, post: Post) -> Any:
    return packages.exa(query, ready.address, ready.key, RESULTS, post)


PROVIDERS: dict[str, Provider] = {
    "searxng": Provider(("FDC_SEARXNG_URL", ""), None, 0.0, _searxng_read, _searxng),
    "brave": Provider(("FDC_BRAVE_URL", "https://api.search.brave.com"), "BRAVE_API_KEY", 1.1,
                      lambda said: _hits(_rows(said, "web", "results"), "description"), _brave),
    "tavily": Provider(("FDC_TAVILY_URL", "https://api.tavily.com"), "TAVILY_API_KEY", 0.1, _plainly("content"),
                       call=_tavily, package=("tavily", "tavily")),
    "exa": Provider(("FDC_EXA_URL", "https://api.exa.ai"), "EXA_API_KEY", 0.2, _plainly("highlights"), call=_exa,
                    package=("exa_py", "exa")),
    "ddgs": Provider(("", ""), None, 2.0, _plainly("content"),
                     call=lambda query, ready, post: packages.ddgs(query, SECONDS, RESULTS), package=("ddgs", "search")),
}  # fmt: skip


_GAPS = Gaps()
