"""The page of an alphabet in a real browser: narrow and wide, light and dark."""

from __future__ import annotations

from pathlib import Path

import pytest
from fdc_packs.alphabet.calculus import metrics
from fdc_packs.alphabet.drawing import charts_page

from tests.support import browser as browsers
from tests.support.alphabets import alphabet

HISTORY = [
    {"iteration": n, "proposed": 3, "accepted": 2, "rejected": 1, "refined": n % 2, "deferred": 0, "total": 2 * n,
     "coverage": n / 40, "consistency": 1.0}
    for n in range(1, 31)
]  # fmt: skip
LONG = (
    "a definition that goes on, and on, " * 6
    + "withawordthatisfartoolongtofitintoanarrowcolumn" * 3
)
SMALLEST = 9.0
"""Points of a letter's height on the screen below which a drawing's figures cannot be read."""


@pytest.mark.long
@pytest.mark.skipif(
    browsers.DRIVER is None or browsers.BROWSER is None, reason="chromium-driver is not installed"
)
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_the_page_is_readable_at_every_width(tmp_path: Path, dark: bool) -> None:
    """Issue 6: 360 to 1100 px; nothing runs out of the page, figures are legible, the scheme is the reader's."""
    names = {
        "time": {"presupposes": ("PRM_0001",), "definition": LONG},
        "space": {"contrasts": ("PRM_0002",), "domain": "space"},
    }
    some = alphabet("existence", "time", "space", "an extraordinarily long label", **names)
    report = metrics.report(some, [{"concept": "x", "features": ["time", "gap " * 8]}])
    said = {
        "words": [{"word": "x", "result": "partial", "share": 0.5}],
        "frequent": 1,
        "source": "a dictionary",
    }
    report["public_list"] = {"list": "Swadesh's 200 basic meanings (1952)", **metrics.public(said)}
    path = tmp_path / "index.html"
    path.write_text(charts_page.page(some, HISTORY, report, "An alphabet"), encoding="utf-8")
    with browsers.browser(tmp_path, dark=dark) as window:
        for width in (360, 700, 1100):
            window.resize(width, 900)
            window.go(path.as_uri())
            assert "of Swadesh's 200 meanings" in window.until("Primitives")
            assert width >= window.script("return document.documentElement.scrollWidth"), width
            sizes = window.script(
                "return [...document.querySelectorAll('svg.chart')]"
                ".map(s => 11 * s.getBoundingClientRect().width / s.viewBox.baseVal.width)"
            )
            narrow = window.script(
                "return [...document.querySelectorAll('td')].map(c => [c.offsetWidth, c.scrollWidth])"
            )
            assert all(wide <= own + 1 for own, wide in narrow if own)
            lines = window.script(
                "return document.querySelector('.prims td b').getClientRects().length"
            )
            assert 1 == lines, "a short label is not broken"
            assert 4 == len(sizes) and min(sizes) >= SMALLEST, (width, sizes)
        ground, ink = window.script(
            "const s = getComputedStyle(document.body); return [s.backgroundColor, s.color]"
        )
        light = [sum(map(int, colour[4:-1].split(","))) for colour in (ground, ink)]
        assert (light[0] < light[1]) == dark and abs(light[0] - light[1]) > 500
        drawn = window.script(
            "return getComputedStyle(document.querySelector('svg.chart text')).fill"
        )
        assert drawn == ink
        assert [] == window.complaints()
