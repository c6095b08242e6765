"""How an agent without a model searches, and which finds are kept (LGTM-33, 34)."""

from __future__ import annotations

from fdc_packs.lgtm import search


def test_a_rule_looks_for_the_rarest_word_that_nothing_found_speaks_of() -> None:
    """And of several turns the best finds come first: not all of them are kept."""
    asked = "Add support for how options of the shop are hidden by timeouts"
    rows = [{"quote": "options of the shop", "source": f"a:{at}"} for at in range(9)]
    first = {"rows": rows, "words": ["hidden", "shop", "options"]}
    again = search.recommend(asked, {"queries": [asked]}, "FileSearch", [first])
    assert ["hidden shop timeouts"] == again["args"]["queries"]
    second = {"rows": [{"quote": "hidden: bool", "source": "b:1"}], "words": ["hidden"]}
    ended = search.recommend(asked, {"queries": [asked]}, "FileSearch", [first, second])
    assert "" == ended["tool"]
    kept = search.looked([{}, {}], [first, second])["rows"]
    assert ["a:0", "a:1", "b:1", "a:2"] == [row["source"] for row in kept[:4]]
