"""What is looked for, and which pages are read. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from .retrieval.stop_words import STOP

PAGES = 6
PER_HOST = 2
QUERIES = 4
_WORD = re.compile(r"[^\W_]{3,}")


def propose(question: str) -> dict[str, object]:
    """What is searched for where no model is configured: the question as it stands, and no other words for it."""
    return {"queries": [" ".join(question.split())[:300]], "terms": []}


def allowed(
    keywords: Mapping[str, object], web: str = "no", question: str = ""
) -> dict[str, object]:
    """The queries that go out: none where the web is not to be searched; each once, a few at most. Where a model was to
    propose them and failed, the question itself."""
    rows = (
        (propose(question) if "failed" in keywords else keywords).get("queries")
        if web == "yes"
        else None
    )
    asked = (
        [" ".join(one.split())[:300] for one in rows if isinstance(one, str)]
        if isinstance(rows, list)
        else []
    )
    kept = list(dict.fromkeys(one for one in asked if one))[:QUERIES]
    return {"list": kept, "count": len(kept)}


def choose(question: str, hits: Sequence[object] | None = None) -> dict[str, object]:
    """The results whose pages are read: those that speak of most of the question first, and two of a host before
    the others of it.

    Addresses of results may be fetched without a person's word: the search was asked in the question's own or a
    model's words, made of nothing that the workspace holds, so an address cannot carry any of it away. Only http and
    https addresses come through, and the fetcher refuses private networks.
    """
    asked = {word.lower() for word in _WORD.findall(question)} - STOP
    rows: dict[str, tuple[float, int, dict[str, Any]]] = {}
    for found in hits or ():
        results = found.get("hits") if isinstance(found, dict) else None
        for rank, hit in enumerate(results if isinstance(results, list) else ()):
            url = hit.get("url") if isinstance(hit, dict) else None
            if not isinstance(url, str) or not url.startswith(("http://", "https://")):
                continue
            said = {
                word.lower()
                for word in _WORD.findall(f"{hit.get('title', '')} {hit.get('snippet', '')}")
            }
            score = len(asked & said) / (len(asked) or 1) + 1 / (rank + 2)
            row = {"url": url, "title": str(hit.get("title", ""))[:300]}
            if url not in rows or rows[url][0] < score:
                rows[url] = (score, len(rows), row)
    ranked = [row for _, _, row in sorted(rows.values(), key=lambda one: (-one[0], one[1]))]
    hosts: dict[str, int] = {}
    first: list[dict[str, Any]] = []
    more: list[dict[str, Any]] = []
    for row in ranked:
        host = _host(row["url"])
        hosts[host] = hosts.get(host, 0) + 1
        (first if hosts[host] <= PER_HOST else more).append(row)
    kept = [*first, *more][:PAGES]  # other hosts come before the third page of one
    return {"pages": kept, "count": len(kept), "of": len(rows)}


def _host(url: str) -> str:
    try:
        return urlsplit(url).netloc.lower()
    except ValueError:
        return ""
