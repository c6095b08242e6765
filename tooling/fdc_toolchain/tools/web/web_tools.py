"""The tools that reach the web: search it, and read a page of it. What they bring is a stranger's word.

Nothing goes out unless the plan allows it (`allow net`, for the hosts that it names) and the operator does
(`--web`, `--allow-network`, FDC_ALLOW_WEB=1). No query and no address may hold a secret of fdc's environment.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from typing import Any

from ...engine.events import Outcome
from ...text.glob_match import compiled, fits
from ...workspace.failure import ToolFailure
from ...workspace.secrets.scrubber import Scrubber
from ..context import Context, text, word
from ..files.readable import readable
from . import web_pages
from .fetch import decoded, fetch
from .http import Door
from .search import Hit, Tried, answer, ready, search

LONGEST_QUERY = 1000
SHOWN = 100_000
"""Characters of a page's text that a step hands on; the rest is in the run's folder."""


def google_search(args: Mapping[str, object], context: Context) -> Outcome:
    """`google_search`: a list of results, `{url, title, snippet}`, of whichever provider answers first."""
    hits, tried = _search(args, context)
    return Outcome([hit._asdict() for hit in hits], notes=_notes(tried))


def search_web(args: Mapping[str, object], context: Context) -> object:
    """`search_web`: the same as a record, for plans that go on without an answer."""
    hits, tried = _search(args, context)
    row = {
        "query": text(args, "query").strip(),
        "hits": [hit._asdict() for hit in hits],
        "provider": tried[-1].provider,
    }
    return Outcome(row, notes=_notes(tried))


def view_text_website(args: Mapping[str, object], context: Context) -> Outcome:
    """`view_text_website`: the text of a page, which is kept in the run's folder with its address, time and hash."""
    row, lines = _page(args, context)
    return Outcome("\n".join(lines)[:SHOWN], notes=_labelled(row))


def read_web_page(args: Mapping[str, object], context: Context) -> object:
    """`read_web_page`: the same, without the text: who wants it reads it where it is kept. A failure names the address."""
    try:
        row, _ = _page(args, context)
    except ToolFailure as failed:
        raise ToolFailure(failed.kind, f"{word(args, 'url').strip()[:200]}: {failed}") from None
    return Outcome(row, notes=_labelled(row))


def page_of(url: str, context: Context) -> tuple[dict[str, object], tuple[str, ...]]:
    """Fetches, reads and keeps a page: what is known of it, and its lines. Raises ToolFailure."""
    _may_go_out(context, url)
    door = Door(context.operator.private, stop=context.cancelled.is_set)
    page = fetch(url, door, _hosts(context))
    charset = ""
    if page.kind == "pdf":
        title, said = readable("pdf", page.body)
    else:
        said, charset = decoded(page)
        title = ""
        if page.kind == "html":
            title, said = readable("html", said.encode("utf-8", "replace"))
        else:
            said = _visible(said)
    said = (context.secrets or Scrubber()).text(said.strip("\n"))
    if not said.strip():
        raise ToolFailure("unreadable", f"the page {page.url[:200]} contains no text")
    row = {"url": page.url, "asked": page.asked, "title": title or page.url, "kind": page.kind, "charset": charset,
           "content_type": page.content_type, "bytes": len(page.body)}  # fmt: skip
    kept = web_pages.keep(context.run_folder, row, said, time.time())
    return kept, tuple(said.split("\n"))


def _page(args: Mapping[str, object], context: Context) -> tuple[dict[str, Any], tuple[str, ...]]:
    return page_of(word(args, "url").strip(), context)


def _visible(said: str) -> str:
    from ..files.text_reader import plain

    return plain(said)


def _search(args: Mapping[str, object], context: Context) -> tuple[list[Hit], list[Tried]]:
    query = " ".join(text(args, "query").split())[:LONGEST_QUERY]
    if not query:
        raise ToolFailure("argument", "the query is empty")
    _may_go_out(context, query)
    tried = search(query, ready(os.environ), context.cancelled.is_set)
    return answer(tried), tried


def _may_go_out(context: Context, said: str) -> None:
    """Raises ToolFailure where the operator lets nothing out, or where it would be a secret."""
    if not (context.operator.web or context.operator.network):
        allow = "`fdc research --web`, `--allow-network`, FDC_ALLOW_WEB=1"
        raise ToolFailure(
            "unavailable", f"the web is not allowed: the operator must allow it ({allow})"
        )
    if (context.secrets or Scrubber()).text(said) != said:
        raise ToolFailure(
            "secret",
            "the request would contain a secret (from the environment, a file of secrets, or recognised by its form)",
        )


def _hosts(context: Context) -> Any:
    """Whether a host is one that every plan on the stack allows."""
    grants = [
        tuple(compiled(glob) for glob in grant["net"]) for grant in context.grants if "net" in grant
    ]

    def allowed(host: str) -> bool:
        return all(any(fits(host, glob) for glob in globs) for globs in grants)

    return allowed


def _notes(tried: list[Tried]) -> dict[str, Any]:
    return {"search": [one.note() for one in tried]}


def _labelled(row: dict[str, Any]) -> dict[str, Any]:
    return {"from": [row["url"]], "sha256": row["sha256"], "fetched": row["fetched"]}
