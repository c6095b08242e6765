"""The search port over real HTTP: each provider's own dialect, the order, and one outcome for each that was asked (issue 5)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from urllib.parse import parse_qsl, urlsplit

import pytest
from fdc_toolchain.effects.failure import ToolFailure
from fdc_toolchain.effects.web_search import PROVIDERS, SET_UP, Gaps, answer, ready, search

from tests.support.web import Handler, Reply, Site, site

ROW = {"url": "https://example.org/tea", "title": "Green <b>tea</b> &amp; water"}
SAID = {
    "searxng": {"results": [{**ROW, "content": "eighty degrees"}]},
    "brave": {"web": {"results": [{**ROW, "description": "eighty <strong>degrees</strong>"}]}},
    "tavily": {"results": [{**ROW, "content": "eighty degrees", "score": 0.9}]},
    "exa": {"results": [{**ROW, "highlights": ["eighty", "degrees"]}]},
}
PATHS = {"searxng": "/search", "brave": "/res/v1/web/search", "tavily": "/search", "exa": "/search"}
VARIABLES = {"brave": "BRAVE_API_KEY", "tavily": "TAVILY_API_KEY", "exa": "EXA_API_KEY"}
KEYS = {"searxng": {}, **{name: {variable: f"{name}-key"} for name, variable in VARIABLES.items()}}
NAMES = list(SAID)


@contextmanager
def engines(**answers: Reply) -> Iterator[tuple[dict[str, Site], dict[str, str]]]:
    """One server for each provider named, and the environment in which these are set up in that order."""
    with ExitStack() as stack:
        sites = {name: stack.enter_context(site({PATHS[name]: reply})) for name, reply in answers.items()}
        environment = {"FDC_SEARCH": " ".join(sites)}
        for name, server in sites.items():
            environment |= {f"FDC_{name.upper()}_URL": server.url, **KEYS[name]}
        yield sites, environment


def said(value: object, status: int = 200) -> Reply:
    return Reply(json.dumps(value).encode(), "application/json", status)


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The distance between two questions is tested by itself."""
    monkeypatch.setattr("fdc_toolchain.effects.web_search._GAPS", Gaps(pause=lambda _: None, clock=iter(range(10**6)).__next__))


@pytest.mark.parametrize("name", NAMES)
def test_each_provider_is_asked_in_its_own_way_and_understood(name: str) -> None:
    with engines(**{name: said(SAID[name])}) as (sites, environment):
        [tried] = search("how hot is green tea?", ready(environment))
        asked = sites[name].asked[0]
    [hit] = tried.hits
    assert ("ok", "https://example.org/tea", "Green tea & water") == (tried.status, hit.url, hit.title)
    assert "eighty" in hit.snippet and "degrees" in hit.snippet and "<" not in hit.snippet
    sent = asked.body.decode() or asked.path
    assert "how" in sent and "green" in sent
    key = next(iter(KEYS[name].values()), "")
    assert not key or any(key in value for value in asked.headers.values())
    assert not key or key not in asked.path


DOCUMENTED: dict[str, tuple[str, tuple[str, str], dict[str, object]]] = {
    # provider: how its documentation wants to be asked: what, with which header, and with these parameters
    "searxng": ("GET", ("accept", "application/json"), {"q": "tea", "format": "json"}),
    "brave": ("GET", ("x-subscription-token", "brave-key"), {"q": "tea", "count": "10", "text_decorations": "false"}),
    "tavily": ("POST", ("authorization", "Bearer tavily-key"), {"query": "tea", "max_results": 10}),
    "exa": ("POST", ("x-api-key", "exa-key"), {"query": "tea", "numResults": 10, "contents": {"highlights": True}}),
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
        assert parameters == json.loads(asked.body) and asked.headers["content-type"] == "application/json"


@pytest.mark.parametrize("name", ["brave", "tavily"])
def test_a_long_question_is_cut_to_what_a_provider_takes(name: str) -> None:
    """400 characters and 50 words: more is refused by the provider, and the question would be lost."""
    for question in ("tea " * 90, "watertemperature " * 40):
        with engines(**{name: said(SAID[name])}) as (sites, environment):
            search(question, ready(environment))
            asked = sites[name].asked[0]
        sent = json.loads(asked.body)["query"] if asked.body else dict(parse_qsl(urlsplit(asked.path).query))["q"]
        assert 190 < len(sent) <= 400 and len(sent.split()) <= 50


def test_the_first_that_finds_something_answers_and_the_rest_is_not_asked() -> None:
    with engines(searxng=said({}, 500), brave=said(SAID["brave"]), tavily=said(SAID["tavily"])) as (sites, environment):
        tried = search("tea", ready(environment))
        assert [] == sites["tavily"].paths()
    assert [("searxng", "unavailable"), ("brave", "ok")] == [(one.provider, one.status) for one in tried]
    assert ["https://example.org/tea"] == [hit.url for hit in answer(tried)]


@pytest.mark.parametrize(
    ("reply", "status", "why"),
    [
        (said({}, 429), "limited", "status 429"),
        (said({}, 402), "limited", "status 402"),
        (said({}, 432), "limited", "status 432"),
        (said({}, 403), "unavailable", "`json` among its `search.formats`"),
        (said({}, 502), "unavailable", "status 502"),
        (Reply(b"<html>a captcha</html>"), "unavailable", "is no JSON"),
        (Reply(b"[" * 100_000, "application/json"), "unavailable", "is no JSON"),
        (said({"results": "none"}), "unavailable", "another form"),
        (said({"results": [1, None, {"url": 7}, {"title": "no address"}]}), "empty", "no results"),
        (said({"results": [{"url": "javascript:alert(1)"}, {"url": "file:///etc/passwd"}]}), "empty", "no results"),
        (said({"results": [], "unresponsive_engines": [["google", "CAPTCHA"]]}), "limited", "CAPTCHA"),
        (said({"results": []}), "empty", "no results"),
        (said([]), "empty", "no results"),
        (Reply(b"x" * 5_000_000, "application/json"), "unavailable", "bytes"),
        (Reply(status=302, headers={"location": "http://169.254.169.254/"}), "unavailable", "status 302"),
    ],
)
def test_an_answer_that_is_none_has_an_outcome_and_the_next_is_asked(reply: Reply, status: str, why: str) -> None:
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


def test_none_that_answers_is_a_failure_that_names_each_and_none_with_results_is_an_answer() -> None:
    with engines(searxng=said({}, 429), brave=said({}, 401)) as (_, environment), pytest.raises(ToolFailure) as caught:
        answer(search("tea", ready(environment)))
    assert "busy" == caught.value.kind and "searxng: " in str(caught.value) and "brave: " in str(caught.value)
    assert "brave-key" not in str(caught.value)
    with engines(tavily=said({"results": []}), exa=said({}, 500)) as (_, environment):
        assert [] == answer(search("tea", ready(environment)))


def test_without_a_provider_one_sentence_says_what_to_set() -> None:
    assert [] == ready({})
    with pytest.raises(ToolFailure) as caught:
        answer(search("tea", ready({})))
    assert ("unavailable", f"no search provider is set up: {SET_UP}") == (caught.value.kind, str(caught.value))


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
    assert ["https://api.search.brave.com"] == [one.address for one in ready({"BRAVE_API_KEY": "b"})]


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


def test_a_provider_that_asks_for_patience_is_left_alone_and_the_next_is_asked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1000.0]
    monkeypatch.setattr("fdc_toolchain.effects.web_search._GAPS", Gaps(lambda: now[0], lambda seconds: None))
    patience = said({}, 429)._replace(headers={"retry-after": "30"})
    with engines(searxng=patience, brave=said(SAID["brave"])) as (sites, environment):
        for left in (30.0, 10.0):
            tried = search("tea", ready(environment))
            assert ["limited", "ok"] == [one.status for one in tried]
            now[0] += left - 10
        assert "left alone for 10 s more" in tried[0].why and 1 == len(sites["searxng"].paths())
        now[0] += 11
        search("tea", ready(environment))
        assert 2 == len(sites["searxng"].paths())


def test_the_package_that_needs_no_key_is_asked_through_a_line_that_leads_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """The real `ddgs`; its proxy is a server of ours that lets nothing through, so it leaves the machine no more than we do."""

    with site({}) as proxy:
        monkeypatch.setenv("DDGS_PROXY", proxy.url)
        [tried] = search("tea", ready({"FDC_SEARCH": "ddgs"}))
        assert proxy.paths()
    assert ("ddgs", "unavailable") == (tried.provider, tried.status), tried
