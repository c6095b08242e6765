"""The search port over real HTTP: each provider's own dialect, the order, and one outcome for each that was asked (issue 5)."""

from __future__ import annotations

import json
import sys
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from fdc_toolchain.tools.web.provider_gaps import Gaps
from fdc_toolchain.tools.web.search import PROVIDERS, SET_UP, answer, ready, search
from fdc_toolchain.workspace.failure import ToolFailure

from tests.support.repository import ROOT
from tests.support.web import Handler, Reply, Site, site

ROW = {"url": "https://example.org/tea", "title": "Green <b>tea</b> &amp; water"}
SAID: dict[str, dict[str, Any]] = {
    # What each provider's reference says that it answers with, by its own names of fields: docs.searxng.org/dev/search_api,
    # api-dashboard.search.brave.com/api-reference/web/search/get, docs.tavily.com/documentation/api-reference/endpoint/search,
    # exa.ai/docs/reference/search (read in November 2026).
    "searxng": {
        "query": "tea", "number_of_results": 0, "answers": [], "corrections": [], "infoboxes": [], "suggestions": [],
        "unresponsive_engines": [["google", "CAPTCHA"]],
        "results": [{
            **ROW, "content": "eighty degrees", "engine": "brave", "engines": ["brave"], "category": "general", "score": 1.0,
            "parsed_url": ["https", "example.org", "/tea", "", "", ""], "template": "default.html", "positions": [1],
            "publishedDate": None, "thumbnail": None,
        }],
    },
    "brave": {
        "type": "search",
        "query": {"original": "tea", "more_results_available": True, "spellcheck_off": False},
        "mixed": {"type": "mixed", "main": [{"type": "web", "index": 0, "all": False}], "top": [], "side": []},
        "web": {"type": "search", "family_friendly": True, "results": [{
            **ROW, "type": "search_result", "description": "eighty <strong>degrees</strong>", "subtype": "generic",
            "is_source_local": False, "is_source_both": False, "family_friendly": True, "page_age": "2026-01-15T00:00:00",
            "profile": {"name": "Tea", "url": "https://example.org", "long_name": "example.org", "img": ""},
            "meta_url": {"scheme": "https", "netloc": "example.org", "hostname": "example.org", "favicon": "", "path": "› tea"},
            "extra_snippets": ["more of it"],
        }]},
    },
    "tavily": {
        "query": "tea", "answer": None, "follow_up_questions": None, "images": [], "response_time": 1.09,
        "auto_parameters": {}, "request_id": "123e4567-e89b-12d3-a456-426614174111", "usage": {"credits": 1},
        "results": [{**ROW, "content": "eighty degrees", "score": 0.99, "raw_content": None, "favicon": "https://example.org/f"}],
    },
    "exa": {
        "requestId": "b5947044c4b78efa9552a7c89b306d95", "resolvedSearchType": "neural", "searchTime": 12.5,
        "costDollars": {"total": 0.005, "search": {"neural": 0.005}},
        "results": [{
            **ROW, "id": "https://example.org/tea", "publishedDate": "2026-01-15T00:00:00.000Z", "author": None, "score": 0.2,
            "image": "https://example.org/i.png", "favicon": "https://example.org/f", "highlights": ["eighty", "degrees"],
            "highlightScores": [0.46, 0.2],
        }],
    },
}  # fmt: skip
REFUSED = {
    # Their errors. SearXNG's is a page; Brave's, Tavily's and Exa's are records of three forms.
    "searxng": Reply(b"<!doctype html><title>403 Forbidden</title>"),
    "brave": Reply(
        b'{"type": "ErrorResponse", "error": {"status": 401, "code": "SUBSCRIPTION_TOKEN_INVALID", "id": "x"}}'
    ),
    "tavily": Reply(b'{"detail": {"error": "Unauthorized: missing or invalid API key."}}'),
    "exa": Reply(
        b'{"requestId": "67207943fab9832d162b5317f4cef830", "error": "Invalid API key", "tag": "INVALID_API_KEY"}'
    ),
}
EMPTY: dict[str, dict[str, Any]] = {
    **{name: {**SAID[name], "results": []} for name in ("tavily", "exa")},
    "searxng": {**SAID["searxng"], "results": [], "unresponsive_engines": []},
    "brave": {"type": "search", "query": {"original": "tea"}},
}
PATHS = {"searxng": "/search", "brave": "/res/v1/web/search", "tavily": "/search", "exa": "/search"}
VARIABLES = {"brave": "BRAVE_API_KEY", "tavily": "TAVILY_API_KEY", "exa": "EXA_API_KEY"}
KEYS = {"searxng": {}, **{name: {variable: f"{name}-key"} for name, variable in VARIABLES.items()}}
NAMES = list(SAID)


@contextmanager
def engines(**answers: Reply) -> Iterator[tuple[dict[str, Site], dict[str, str]]]:
    """One server for each provider named, and the environment in which these are set up in that order."""
    with ExitStack() as stack:
        sites = {
            name: stack.enter_context(site({PATHS[name]: reply})) for name, reply in answers.items()
        }
        environment = {"FDC_SEARCH": " ".join(sites)}
        for name, server in sites.items():
            environment |= {f"FDC_{name.upper()}_URL": server.url, **KEYS[name]}
        yield sites, environment


def said(value: object, status: int = 200) -> Reply:
    return Reply(json.dumps(value).encode(), "application/json", status)


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The distance between two questions is tested by itself."""
    monkeypatch.setattr(
        "fdc_toolchain.tools.web.search._GAPS",
        Gaps(pause=lambda _: None, clock=iter(range(10**6)).__next__),
    )


@pytest.mark.parametrize("name", NAMES)
def test_each_provider_is_asked_in_its_own_way_and_understood(name: str) -> None:
    with engines(**{name: said(SAID[name])}) as (sites, environment):
        [tried] = search("how hot is green tea?", ready(environment))
        asked = sites[name].asked[0]
    [hit] = tried.hits
    assert ("ok", "https://example.org/tea", "Green tea & water") == (
        tried.status,
        hit.url,
        hit.title,
    )
    assert "eighty" in hit.snippet and "degrees" in hit.snippet and "<" not in hit.snippet
    sent = asked.body.decode() or asked.path
    assert "how" in sent and "green" in sent
    key = next(iter(KEYS[name].values()), "")
    assert not key or any(key in value for value in asked.headers.values())
    assert not key or key not in asked.path


DOCUMENTED: dict[str, tuple[str, tuple[str, str], dict[str, object]]] = {
    # provider: how its documentation wants to be asked: what, with which header, and with these parameters
    "searxng": ("GET", ("accept", "application/json"), {"q": "tea", "format": "json"}),
    "brave": (
        "GET",
        ("x-subscription-token", "brave-key"),
        {"q": "tea", "count": "10", "text_decorations": "false"},
    ),
    "tavily": ("POST", ("authorization", "Bearer tavily-key"), {"query": "tea", "max_results": 10}),
    "exa": (
        "POST",
        ("x-api-key", "exa-key"),
        {"query": "tea", "numResults": 10, "contents": {"highlights": True}},
    ),
}


@pytest.mark.parametrize("name", NAMES)
def test_a_request_is_what_the_provider_documents(name: str) -> None:
    method, (header, value), parameters = DOCUMENTED[name]
    with engines(**{name: said(SAID[name])}) as (sites, environment):
        search("tea", ready(environment))
        asked = sites[name].asked[0]
    assert value == asked.headers[header]
    if method == "GET":
        assert parameters == dict(parse_qsl(urlsplit(asked.path).query)) and not asked.body
    else:
        assert (
            parameters == json.loads(asked.body)
            and asked.headers["content-type"] == "application/json"
        )


@pytest.mark.parametrize("name", ["brave", "tavily"])
def test_a_long_question_is_cut_to_what_a_provider_takes(name: str) -> None:
    """400 characters and 50 words: more is refused by the provider, and the question would be lost."""
    for question in ("tea " * 90, "watertemperature " * 40):
        with engines(**{name: said(SAID[name])}) as (sites, environment):
            search(question, ready(environment))
            asked = sites[name].asked[0]
        sent = (
            json.loads(asked.body)["query"]
            if asked.body
            else dict(parse_qsl(urlsplit(asked.path).query))["q"]
        )
        assert 190 < len(sent) <= 400 and len(sent.split()) <= 50


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("status", "outcome", "why"),
    [
        (401, "unavailable", "it refused the request (status 401)"), (403, "unavailable", "it refused the request (status 403)"),
        (429, "limited", "its rate limit is reached (status 429)"), (402, "limited", "its rate limit is reached (status 402)"),
        (500, "unavailable", "it answers with status 500"), (503, "unavailable", "it answers with status 503"),
    ],
)  # fmt: skip
def test_errors_as_they_are_documented_are_one_sentence_and_the_next_is_asked(
    name: str, status: int, outcome: str, why: str
) -> None:
    """Issue 5, "ordered failover": each provider, by REST or by its package, fails in the same few ways and is followed."""
    after = "brave" if name == "searxng" else "searxng"
    refused = REFUSED[name]._replace(status=status, kind="application/json")
    with engines(**{name: refused, after: said(SAID[after])}) as (sites, environment):
        first, second = search("tea", ready(environment))
        assert 1 == len(sites[name].paths()) == len(sites[after].paths())
    assert (name, outcome, after, "ok") == (
        first.provider,
        first.status,
        second.provider,
        second.status,
    )
    assert first.why.startswith(why) and "\n" not in first.why and "-key" not in first.why


@pytest.mark.parametrize("name", NAMES)
def test_answers_that_are_none_are_told_apart_by_every_provider(name: str) -> None:
    """A page instead of JSON, JSON of documented form, too much of it, nothing found, a redirect: each its own sentence."""
    wrong = {"results": "none", "web": {"results": "none"}}
    other = {"results": [1, {"id": "x"}], "web": {"results": [None]}}
    for reply, outcome, why in (
        (Reply(b"<html>a captcha</html>"), "unavailable", "is not a JSON"),
        (Reply(b""), "unavailable", "is not a JSON"),
        (said(wrong), "unavailable", "documented form"),
        (said(EMPTY[name]), "empty", "no results"),
        (Reply(b" " * 5_000_000, "application/json"), "unavailable", "bytes"),
        (
            Reply(status=302, headers={"location": "http://127.0.0.1:1/"}),
            "unavailable",
            "status 302",
        ),
    ):
        with engines(**{name: reply}) as (_, environment):
            [tried] = search("tea", ready(environment))
        assert outcome == tried.status and why in tried.why, tried
    with engines(**{name: said(other)}) as (_, environment):
        [tried] = search("tea", ready(environment))
    assert tried.status in ("empty", "unavailable") and not tried.hits


@pytest.mark.parametrize(
    ("module", "name"), [("tavily", "tavily"), ("exa_py", "exa"), ("ddgs", "search")]
)
def test_a_package_that_is_not_there_is_one_sentence_with_its_install_and_the_next_is_asked(
    module: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Issue 5, "Tavily, Exa and ddgs as extras"."""
    monkeypatch.setitem(sys.modules, module, None)
    with engines(searxng=said(SAID["searxng"])) as (_, environment):
        keys = {
            "TAVILY_API_KEY": "t",
            "EXA_API_KEY": "e",
            "FDC_SEARCH": f"{'ddgs' if name == 'search' else name} searxng",
        }
        first, second = search("tea", ready({**environment, **keys}))
    assert ("unavailable", "ok") == (first.status, second.status)
    assert f"its package is not installed: `pip install 'fdc-toolchain[{name}]'`" == first.why
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    assert any(
        one.startswith({"exa_py": "exa-py", "tavily": "tavily-python"}.get(module, module))
        for one in extras[name]
    )


def test_a_package_sends_nothing_of_the_machine_but_the_question_and_the_key(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Proxies of the environment, which a package would use by itself, see nothing; nor do servers see who asks beside fdc."""
    with (
        site({}) as proxy,
        engines(tavily=said(SAID["tavily"]), exa=said(SAID["exa"])) as (sites, environment),
    ):
        for name in ("HTTP_PROXY", "http_proxy", "TAVILY_HTTP_PROXY", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy.url)
        for name in ("tavily", "exa"):
            search("tea", ready({**environment, "FDC_SEARCH": name}))
            [asked] = sites[name].asked
            assert (
                asked.headers["user-agent"].startswith("fdc/")
                and "gzip" == asked.headers["accept-encoding"]
            )
        assert [] == proxy.paths()


def test_the_first_that_finds_something_answers_and_the_rest_is_not_asked() -> None:
    with engines(searxng=said({}, 500), brave=said(SAID["brave"]), tavily=said(SAID["tavily"])) as (
        sites,
        environment,
    ):
        tried = search("tea", ready(environment))
        assert [] == sites["tavily"].paths()
    assert [("searxng", "unavailable"), ("brave", "ok")] == [
        (one.provider, one.status) for one in tried
    ]
    assert ["https://example.org/tea"] == [hit.url for hit in answer(tried)]


@pytest.mark.parametrize(
    ("reply", "status", "why"),
    [
        (said({}, 429), "limited", "status 429"),
        (said({}, 402), "limited", "status 402"),
        (said({}, 432), "limited", "status 432"),
        (said({}, 403), "unavailable", "`json` among its `search.formats`"),
        (said({}, 502), "unavailable", "status 502"),
        (Reply(b"<html>a captcha</html>"), "unavailable", "is not a JSON"),
        (Reply(b"[" * 100_000, "application/json"), "unavailable", "is not a JSON"),
        (said({"results": "none"}), "unavailable", "documented form"),
        (said({"results": [1, None, {"url": 7}, {"title": "no address"}]}), "empty", "no results"),
        (
            said({"results": [{"url": "javascript:alert(1)"}, {"url": "file:///etc/passwd"}]}),
            "empty",
            "no results",
        ),
        (said({}, 500), "unavailable", "it answers with status 500"),
        (
            said({"results": [], "unresponsive_engines": [["google", "CAPTCHA"]]}),
            "limited",
            "CAPTCHA",
        ),
        (said({"results": []}), "empty", "no results"),
        (said([]), "empty", "no results"),
        (Reply(b"x" * 5_000_000, "application/json"), "unavailable", "bytes"),
        (
            Reply(status=302, headers={"location": "http://169.254.169.254/"}),
            "unavailable",
            "status 302",
        ),
    ],
)
def test_an_answer_that_is_none_has_an_outcome_and_the_next_is_asked(
    reply: Reply, status: str, why: str
) -> None:
    with engines(searxng=reply, brave=said(SAID["brave"])) as (_, environment):
        first, second = search("tea", ready(environment))
    assert (status, "ok") == (first.status, second.status)
    assert why in first.why, first.why


def test_a_provider_that_does_not_answer_at_all_is_unavailable() -> None:
    def hang_up(handler: Handler) -> None:
        handler.connection.close()

    with site({"/search": hang_up}) as server:
        [tried] = search("tea", ready({"FDC_SEARXNG_URL": server.url}))
    assert "unavailable" == tried.status
    [gone] = search("tea", ready({"FDC_SEARXNG_URL": server.url}))
    assert "unavailable" == gone.status and "refused" in gone.why


def test_none_that_answers_is_a_failure_that_names_each_and_none_with_results_is_an_answer() -> (
    None
):
    with (
        engines(searxng=said({}, 429), brave=said({}, 401)) as (_, environment),
        pytest.raises(ToolFailure) as caught,
    ):
        answer(search("tea", ready(environment)))
    assert (
        "busy" == caught.value.kind
        and "searxng: " in str(caught.value)
        and "brave: " in str(caught.value)
    )
    assert "brave-key" not in str(caught.value)
    with engines(tavily=said({"results": []}), exa=said({}, 500)) as (_, environment):
        assert [] == answer(search("tea", ready(environment)))


def test_without_a_provider_one_sentence_says_what_to_set() -> None:
    assert [] == ready({})
    with pytest.raises(ToolFailure) as caught:
        answer(search("tea", ready({})))
    assert ("unavailable", f"no search provider is set up: {SET_UP}") == (
        caught.value.kind,
        str(caught.value),
    )


@pytest.mark.parametrize(
    ("environment", "why"),
    [
        ({"FDC_SEARCH": "altavista"}, "names `altavista`"),
        ({"FDC_SEARCH": "brave"}, "BRAVE_API_KEY is not set"),
        ({"FDC_SEARCH": "searxng"}, "FDC_SEARXNG_URL is not set"),
    ],
)
def test_an_order_that_cannot_be_followed_is_said(environment: Mapping[str, str], why: str) -> None:
    with pytest.raises(ToolFailure, match=why):
        ready(environment)


def test_what_is_set_is_used_in_the_order_of_the_table_or_the_one_that_is_stated() -> None:
    keys = {"EXA_API_KEY": "e", "BRAVE_API_KEY": "b", "FDC_SEARXNG_URL": "http://127.0.0.1:8888/"}
    assert ["searxng", "brave", "exa"] == [one.name for one in ready(keys)]
    assert ["exa", "brave"] == [one.name for one in ready({**keys, "FDC_SEARCH": "exa,brave"})]
    assert "ddgs" not in [one.name for one in ready(keys)] and "ddgs" in PROVIDERS
    assert ["https://api.search.brave.com"] == [
        one.address for one in ready({"BRAVE_API_KEY": "b"})
    ]


def test_a_provider_is_not_asked_faster_than_it_likes() -> None:
    now = [0.0]
    paused: list[float] = []

    def pause(seconds: float) -> None:
        paused.append(seconds)
        now[0] += seconds

    gaps = Gaps(lambda: now[0], pause)
    for _ in range(3):
        gaps.wait("brave", 1.1, lambda: False)
    gaps.wait("searxng", 0.0, lambda: False)
    assert pytest.approx(2.2) == sum(paused)


def test_a_provider_that_asks_for_patience_is_left_alone_and_the_next_is_asked_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = [1000.0]
    monkeypatch.setattr(
        "fdc_toolchain.tools.web.search._GAPS", Gaps(lambda: now[0], lambda seconds: None)
    )
    patience = said({}, 429)._replace(headers={"retry-after": "30"})
    with engines(searxng=patience, brave=said(SAID["brave"])) as (sites, environment):
        for left in (30.0, 10.0):
            tried = search("tea", ready(environment))
            assert ["limited", "ok"] == [one.status for one in tried]
            now[0] += left - 10
        assert "try again in 10 s" in tried[0].why and 1 == len(sites["searxng"].paths())
        now[0] += 11
        search("tea", ready(environment))
        assert 2 == len(sites["searxng"].paths())


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "30"}, 30.0), ({"retry-after": "86400"}, 600.0), ({"retry-after": "soon"}, 20.0), ({}, 20.0),
        ({"retry-after": "0"}, 20.0), ({"retry-after": "-5"}, 20.0), ({"retry-after": "Sun, 01 Jan 2090 00:00:00 GMT"}, 600.0),
        ({"retry-after": "Thu, 01 Jan 2015 00:00:00 GMT"}, 20.0), ({"retry-after": "Thu, 99 Foo 99999 00:00:00 GMT"}, 20.0),
        ({"x-ratelimit-remaining": "0, 1000", "x-ratelimit-reset": "7, 1419704"}, 7.0),
        ({"x-ratelimit-remaining": "0, 0", "x-ratelimit-reset": "1, 1419704"}, 600.0),
        ({"x-ratelimit-remaining": "none", "x-ratelimit-reset": ""}, 20.0),
    ],
)  # fmt: skip
def test_how_long_a_provider_wants_to_be_left_alone(
    headers: dict[str, str], seconds: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Retry-After in both of its forms, and Brave's own headers; ten minutes at most."""
    gaps = Gaps(lambda: 0.0, lambda _: None)
    monkeypatch.setattr("fdc_toolchain.tools.web.search._GAPS", gaps)
    with engines(brave=said({}, 429)._replace(headers=headers)) as (_, environment):
        search("tea", ready(environment))
    assert seconds == gaps.resting("brave")


def test_the_package_that_needs_no_key_is_asked_through_a_line_that_leads_nowhere(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The real `ddgs`; its proxy is a server of ours that lets nothing through, so it leaves the machine no more than we do."""

    with site({}) as proxy:
        monkeypatch.setenv("DDGS_PROXY", proxy.url)
        [tried] = search("tea", ready({"FDC_SEARCH": "ddgs"}))
        assert proxy.paths()
    assert ("ddgs", "unavailable") == (tried.provider, tried.status), tried
