"""The drawings of an alphabet and its page: well-formed, self-contained, and true to their figures."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from html.parser import HTMLParser
from typing import Any

import pytest
from fdc_packs.alphabet.calculus import metrics
from fdc_packs.alphabet.drawing import charts, charts_page, raster
from fdc_packs.alphabet.drawing.charts import nice, printed
from fdc_packs.alphabet.model import EMPTY, Alphabet, Primitive, alphabet_of
from hypothesis import given
from hypothesis import strategies as st

from tests.support.alphabets import first_primes

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = '<script>alert("1")</script> & "quotes" ]]>'


def alphabet(count: int = 9) -> Alphabet:
    numbers = range(1, count + 1)
    return alphabet_of(
        Primitive(
            f"PRM_{n:04d}", f"w{n}", prime, ("time", "space", "mind")[n % 3], definition=HOSTILE,
            presupposes=(f"PRM_{n - 1:04d}",) if n > 2 else (), contrasts=(f"PRM_{3 - n:04d}",) if n < 3 else (),
        )
        for n, prime in zip(numbers, first_primes(count))
    )  # fmt: skip


def history(count: int) -> list[dict[str, Any]]:
    return [
        {"iteration": n, "proposed": 3, "accepted": 2, "rejected": 1, "refined": 0, "deferred": 0, "total": 2 * n,
         "coverage": min(1.0, n / 50), "consistency": 1.0}
        for n in range(1, count + 1)
    ]  # fmt: skip


def everything(rows: list[dict[str, Any]], of: Alphabet) -> list[str]:
    return [charts.growth(rows), charts.acceptance(rows), charts.coverage(rows), charts.graph(of)]


@pytest.mark.parametrize("count", [0, 1, 7, 500])
def test_every_drawing_is_a_file_by_itself(count: int) -> None:
    """Issue 6: growth, acceptance, coverage and the graph as SVG; no script, no address but the format's own."""
    for drawn in everything(history(count), alphabet()):
        root = ET.fromstring(drawn)
        assert f"{SVG}svg" == root.tag and root.find(f"{SVG}title") is not None
        assert ["http://www.w3.org/2000/svg"] == re.findall(r"https?://[^\s\"'<]+", drawn)
        assert not root.findall(f".//{SVG}script") and "alert(" not in re.sub(
            r"<title>.*?</title>", "", drawn
        )


ANYTHING = st.one_of(st.none(), st.integers(0, 10**6), st.floats(0, 1), st.text(max_size=3))
ROW = st.fixed_dictionaries(
    {}, optional=dict.fromkeys(("total", "accepted", "rejected", "coverage", "iteration"), ANYTHING)
)


@given(st.lists(ROW, max_size=20))
def test_a_history_with_holes_is_drawn(rows: list[dict[str, Any]]) -> None:
    for drawn in everything(rows, EMPTY):
        assert "nan" not in drawn and "inf" not in drawn
        ET.fromstring(drawn)


def test_bars_are_as_high_as_their_figures() -> None:
    """Two accepted are twice as high as one rejected, and upon each other they reach three."""
    root = ET.fromstring(charts.acceptance(history(1)))
    bars = [one for one in root.iter(f"{SVG}rect") if one.find(f"{SVG}title") is not None]
    said = {one.findtext(f"{SVG}title"): float(one.get("height", 0)) + 1 for one in bars}
    assert {"1: 2 accepted", "1: 1 rejected"} == set(said)
    assert abs(said["1: 2 accepted"] - 2 * said["1: 1 rejected"]) < 0.3


def test_long_histories_are_drawn_in_groups() -> None:
    """500 iterations (the seed's limit) in at most 40 bars for each kind, no candidate lost."""
    root = ET.fromstring(charts.acceptance(history(500)))
    said = [one.text or "" for one in root.iter(f"{SVG}title")]
    accepted = [int(one.split()[1]) for one in said if one.endswith(" accepted")]
    assert len(accepted) <= 40 and 1000 == sum(accepted)


def test_every_relationship_is_one_line_of_the_graph() -> None:
    """ALPH-23, 42: a contrast once though both sides name it, presupposing with its direction."""
    said = [one.text for one in ET.fromstring(charts.graph(alphabet(4))).iter(f"{SVG}title")]
    lines = [one for one in said if one and re.fullmatch(r"w\d (contrasts|presupposes).*", one)]
    assert ["w1 contrasts with w2", "w3 presupposes w2", "w4 presupposes w3"] == sorted(lines)


def test_of_large_alphabets_the_best_connected_are_drawn_and_it_says_so() -> None:
    drawn = charts.graph(alphabet(1000))
    assert "the 220 best connected of 1000 primitives" in drawn
    assert drawn.count("<circle") == 220


@given(st.floats(0, 1e9))
def test_the_axis_ends_at_or_above_the_highest_value_and_not_far(highest: float) -> None:
    ticks = nice(highest)
    assert ticks[0] == 0 and ticks[-1] >= highest * (1 - 1e-9) and 2 <= len(ticks) <= 6
    assert ticks == sorted(set(ticks))


class Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))


@pytest.mark.parametrize("of", [EMPTY, alphabet()], ids=["empty", "nine"])
def test_the_page_needs_nothing_from_elsewhere(of: Alphabet) -> None:
    """Issue 6: one HTML page, all of it inline; what primitives say is text and no markup."""
    report = metrics.report(of, [{"concept": "x", "features": ["w1", HOSTILE]}])
    text = charts_page.page(of, history(3), {**report, "note": HOSTILE}, HOSTILE)
    page = Page()
    page.feed(text)
    tags = [tag for tag, _ in page.tags]
    assert not {"script", "link", "img", "iframe", "base"} & set(tags)
    assert 4 == tags.count("svg") and 1 == tags.count("style")
    assert not [attrs for _, attrs in page.tags if {"src", "href", "onload"} & set(attrs)]
    assert {"http://www.w3.org/2000/svg"} == set(re.findall(r"https?://[^\s\"'<]+", text))
    for one in of:
        assert f"<b>{one.label}</b>" in text


def test_a_drawing_becomes_a_picture() -> None:
    """Issue 6: PNG by the extra `charts`; the picture has ink on it."""
    pytest.importorskip("resvg_py", reason="the extra `charts` is not installed")
    full = raster.png(printed(charts.growth(history(5))), 1.0)
    empty = raster.png(printed(charts.growth([])), 1.0)
    assert b"\x89PNG\r\n\x1a\n" == full[:8] and (360, 220) == (
        int.from_bytes(full[16:20]),
        int.from_bytes(full[20:24]),
    )
    assert len(full) > len(empty) > 200
