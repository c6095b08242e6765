"""Search providers that are asked with their own packages, each an extra: `fdc-toolchain[tavily]`, `[exa]` and `[search]` (ddgs).

A package says how a question is put and what the answer means. The request itself goes through `post`, which is ours
(`web_http`), where the package lets us: so its time and size have ends, it follows no redirect with a key and uses
no proxy. `ddgs` does not let us; it has a time limit only. Each function raises ImportError without its package.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

Post = Callable[[str, bytes, Mapping[str, str]], object]
"""Posts a body to an address, with headers; returns the JSON that is answered, and raises for what is not an answer."""
_KEPT = ("authorization", "content-type")


def headers_of(given: Mapping[str, object]) -> dict[str, str]:
    """The headers of a package's request that are its provider's business; those of the transport are ours."""
    rows = {str(name).lower(): str(value) for name, value in given.items()}
    return {name: value for name, value in rows.items() if name in _KEPT or name.startswith("x-")}


def tavily(query: str, address: str, key: str, results: int, post: Post) -> object:
    """What Tavily answers, by `tavily-python`."""
    from tavily import TavilyClient

    class Line:
        """As much of a session of `requests` as the package makes use of."""

        def __init__(self) -> None:
            self.headers: dict[str, str] = {}
            self.proxies: dict[str, str] = {}

        def post(self, url: str, data: str, **_: Any) -> Any:
            said = post(url, data.encode("utf-8"), headers_of(self.headers))
            return SimpleNamespace(status_code=200, json=lambda: said)

    return TavilyClient(api_key=key, api_base_url=address, session=Line()).search(
        query, max_results=results
    )


def exa(query: str, address: str, key: str, results: int, post: Post) -> object:
    """What Exa answers, by `exa-py`."""
    from exa_py import Exa

    class Line(Exa):
        """The client, with our request instead of its own."""

        def request(self, endpoint: str, data: Any = None, *_: Any, **__: Any) -> Any:
            return post(
                self.base_url + endpoint, json.dumps(data).encode("ascii"), headers_of(self.headers)
            )

    found = Line(key, address).search(query, num_results=results, contents={"highlights": True})
    return {
        "results": [
            {"url": result.url, "title": result.title, "highlights": result.highlights}
            for result in found.results
        ]
    }


def ddgs(query: str, seconds: float, results: int) -> object:
    """What ddgs finds. Raises `Limited`, and ValueError with what it says of itself where it found no one to ask."""
    from ddgs import DDGS
    from ddgs.exceptions import DDGSException, RatelimitException

    try:
        found = DDGS(timeout=int(seconds)).text(query, max_results=results)
    except RatelimitException:
        raise Limited from None
    except DDGSException as failed:
        said = " ".join(str(failed).split())[:160]
        if said.startswith("No results"):
            return {"results": []}
        raise ValueError(said) from None
    return {
        "results": [
            {"url": row.get("href"), "title": row.get("title"), "content": row.get("body")}
            for row in found
        ]
    }


class Limited(Exception):
    """The provider answers no more for now."""
