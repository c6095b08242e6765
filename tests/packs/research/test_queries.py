"""What is searched for and which pages are read: pure functions (FDC-52)."""

from __future__ import annotations

from typing import Any

import pytest
from fdc_packs.research.claims import quoted, unsaid
from fdc_packs.research.queries import PAGES, QUERIES, allowed, choose, propose

QUESTION = "How hot is the water for green tea?"


def hit(url: str, title: str = "") -> dict[str, Any]:
    return {"url": url, "title": title, "snippet": ""}


def chosen(*found: Any) -> list[str]:
    return [row["url"] for row in choose(QUESTION, list(found))["pages"]]


def test_without_a_model_the_question_itself_is_asked() -> None:
    assert {"queries": ["a b"], "terms": []} == propose(" a\n b ")


@pytest.mark.parametrize("web", ["no", "", "maybe", "YES"])
def test_nothing_is_asked_where_the_web_is_not_to_be_searched(web: str) -> None:
    assert [] == allowed({"queries": ["tea"]}, web)["list"]


def test_queries_are_asked_once_and_a_few_at_most() -> None:
    assert ["tea", "milk"] == allowed({"queries": ["tea ", "milk", "tea", "", 7, None]}, "yes")[
        "list"
    ]
    assert QUERIES == len(
        allowed({"queries": [f"q{number}" for number in range(20)]}, "yes")["list"]
    )
    assert ["how hot?"] == allowed({"failed": "model", "why": "x"}, "yes", "how  hot?")["list"]
    assert [] == allowed({"failed": "model", "why": "x"}, "no", "how hot?")["list"]
    assert [] == allowed({"queries": "tea"}, "yes")["list"] == allowed({}, "yes")["list"]


def test_pages_that_speak_of_the_question_come_first_and_each_once() -> None:
    found = {
        "hits": [
            hit("http://a/1", "coffee"),
            hit("http://b/2", "green tea, hot water"),
            hit("http://a/1", "coffee again"),
        ]
    }
    assert ["http://b/2", "http://a/1"] == chosen(found, {"failed": "net", "why": "no line"}, found)


def test_other_hosts_come_before_the_third_page_of_one() -> None:
    many = {"hits": [hit(f"http://a/{number}", "green tea water") for number in range(20)]}
    assert ["http://a/0", "http://a/1", "http://b/", "http://a/2"] == chosen(
        many, {"hits": [hit("http://b/")]}
    )[:4]
    assert PAGES == len(chosen(many))


NO_HITS = {"hits": ["x", {"url": 7}, {"url": "file:///etc/passwd"}, {}]}


@pytest.mark.parametrize("bad", [None, 7, "x", {}, {"hits": None}, NO_HITS])
def test_what_is_no_result_of_the_web_is_left_out(bad: Any) -> None:
    assert ["http://a/"] == chosen(bad, {"hits": [hit("http://a/")]})
    assert [] == chosen(bad)


def test_a_host_that_cannot_be_made_out_is_one_of_its_own() -> None:
    assert ["http://[::1"] == chosen({"hits": [hit("http://[::1")]})


def test_without_a_model_a_source_says_what_was_quoted_from_it_and_the_answer_nothing() -> None:
    source = {"path": "a.md", "evidence": [{"line": 3, "quote": "Tea."}, {"line": 4, "quote": ""}]}
    [claim] = quoted(QUESTION, source)["claims"]
    assert {"claim": "Tea.", "citations": [{"path": "a.md", "line": 3, "quote": "Tea."}]} == claim
    assert [] == unsaid(QUESTION, [])["claims"] and [] == quoted(QUESTION, {"path": "a"})["claims"]
